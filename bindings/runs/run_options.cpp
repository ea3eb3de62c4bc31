// Methods, options and statuses of runs, as Python sees them.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>

#include "../numpy.hpp"
#include "recorder.hpp"

namespace sarrus {

namespace {

NewArray matrix_of(const Tableau& t) {
  int n = t.stages;
  NewArray y({n, n});
  for (int i = 0; i < n * n; ++i) y[i] = t.A[i / n][i % n];
  return y;
}

Method method_of(const std::string& name) {
  for (const Method& method : METHODS)
    if (name == method.name) return method;
  throw nb::value_error(("no method `" + name + "`").c_str());
}

void bind_methods(nb::module_& m) {
  auto method = nb::class_<Method>(m, "Method");
  method.def_prop_ro("name", [](const Method& x) { return x.name; })
      .def_prop_ro("summary", [](const Method& x) { return x.summary; })
      .def_ro("order", &Method::order)
      .def_ro("adaptive", &Method::adaptive)
      .def_ro("implicit", &Method::implicit)
      .def_ro("switches", &Method::switches);
  auto array = [&](const char* name, auto part) { method.def_prop_ro(name, part, nb::rv_policy::move); };
  array("A", [](const Method& x) { return matrix_of(x.tableau); });
  array("b", [](const Method& x) { return NewArray({x.tableau.stages}, x.tableau.b); });
  array("c", [](const Method& x) { return NewArray({x.tableau.stages}, x.tableau.c); });
  array("e", [](const Method& x) { return NewArray({x.tableau.stages}, x.tableau.e); });
  array("kick", [](const Method& x) { return NewArray({x.splitting.stages}, x.splitting.kick); });
  array("drift", [](const Method& x) { return NewArray({x.splitting.stages}, x.splitting.drift); });
  array("ahead", [](const Method& x) { return NewArray({x.splitting.stages}, x.splitting.ahead); });
  m.def("methods", [] { return std::vector<Method>(std::begin(METHODS), std::end(METHODS)); });
}

void bind_enums(nb::module_& m) {
  nb::enum_<Correction>(m, "Correction")
      .value("NONE", Correction::NONE)
      .value("PROJECT", Correction::PROJECT)
      .value("BAUMGARTE", Correction::BAUMGARTE);
  nb::enum_<ContactWay>(m, "ContactWay")
      .value("IGNORED", ContactWay::IGNORED)
      .value("EVENTS", ContactWay::EVENTS)
      .value("STEPS", ContactWay::STEPS);
  nb::enum_<Jacobian>(m, "Jacobian")
      .value("FINITE_DIFFERENCE", Jacobian::FINITE_DIFFERENCE)
      .value("ANALYTIC", Jacobian::ANALYTIC)
      .value("ANALYTIC_WITH_FEEDBACK", Jacobian::ANALYTIC_WITH_FEEDBACK);
  nb::enum_<StepStatus>(m, "StepStatus")
      .value("FINE", StepStatus::FINE)
      .value("STOPPED", StepStatus::STOPPED)
      .value("SINGULAR_INERTIA", StepStatus::SINGULAR_INERTIA)
      .value("NOT_FINITE", StepStatus::NOT_FINITE)
      .value("NOT_CLOSED", StepStatus::NOT_CLOSED)
      .value("STEP_COLLAPSED", StepStatus::STEP_COLLAPSED)
      .value("UNRESOLVED", StepStatus::UNRESOLVED)
      .value("SINGULAR_WITHIN", StepStatus::SINGULAR_WITHIN)
      .value("UNSETTLED", StepStatus::UNSETTLED)
      .value("OPEN_GAP", StepStatus::OPEN_GAP)
      .value("CHATTER", StepStatus::CHATTER)
      .value("NO_MODE", StepStatus::NO_MODE)
      .value("CONTRADICTION", StepStatus::CONTRADICTION)
      .value("CONTACT_UNSOLVED", StepStatus::CONTACT_UNSOLVED)
      .value("CONTACT_PRESSED", StepStatus::CONTACT_PRESSED)
      .value("CONTACT_PAINLEVE", StepStatus::CONTACT_PAINLEVE)
      .value("CONTACT_TOO_MANY", StepStatus::CONTACT_TOO_MANY);
}

}  // namespace

void bind_run_options(nb::module_& m) {
  bind_methods(m);
  bind_enums(m);
  nb::class_<RunOptions>(m, "RunOptions")
      .def(nb::init<>())
      .def_prop_rw(
          "method", [](const RunOptions& o) { return o.method.name; },
          [](RunOptions& o, const std::string& name) { o.method = method_of(name); })
      .def_rw("correction", &RunOptions::correction)
      .def_rw("euclidean", &RunOptions::euclidean)
      .def_rw("damping", &RunOptions::damping)
      .def_rw("stiffness", &RunOptions::stiffness)
      .def_rw("rtol", &RunOptions::rtol)
      .def_rw("atol", &RunOptions::atol)
      .def_rw("atol_in_units", &RunOptions::atol_in_units)
      .def_rw("least_step", &RunOptions::least_step)
      .def_rw("most_step", &RunOptions::most_step)
      .def_rw("keep_energy", &RunOptions::keep_energy)
      .def_rw("energy", &RunOptions::energy)
      .def_rw("jacobian", &RunOptions::jacobian)
      .def_rw("contacts", &RunOptions::contacts)
      .def_rw("sampled", &RunOptions::sampled)
      .def_rw("sample_dt", &RunOptions::sample_dt);
}

}  // namespace sarrus
