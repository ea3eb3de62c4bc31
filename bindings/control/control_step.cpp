#include "control_step.hpp"

#include "force_feedback.hpp"
#include "law_setup.hpp"
#include "law_tables.hpp"
#include "rank_choices.hpp"
#include "wrench_observer.hpp"

#include <chrono>

namespace sarrus {

using namespace nb::literals;

namespace {

AskLaw& of(void* self) { return *static_cast<AskLaw*>(self); }
nb::object state(const AskLaw& c, const double* q) { return NewArray({c.s.k.m.nq}, q).object; }
nb::object speed(const AskLaw& c, const double* v) { return NewArray({c.s.k.m.nv}, v).object; }

// parts of a tuple, one after the other
void store(nb::handle parts, std::initializer_list<npy_intp> sizes, double* out) {
  int i = 0;
  for (npy_intp size : sizes) {
    Dense one(parts[i++]);
    if (one.size() != size) throw nb::value_error("part of a control step has the wrong size");
    out = std::copy_n(one.data, size, out);
  }
}

void ask_terms(void* self, const double* q, const double* v, double* out) {
  const AskLaw& c = of(self);
  npy_intp nv = c.s.k.m.nv, nc = c.s.k.m.nc;
  store(c.owner.attr("terms")(state(c, q), speed(c, v)), {nv * nv, nv, nc, nc * nv, nc, nc}, out);
}

void ask_rates(void* self, const double* q, const double* v, double* out) {
  const AskLaw& c = of(self);
  npy_intp nv = c.s.k.m.nv, nc = c.s.k.m.nc;
  store(c.owner.attr("rates")(state(c, q), speed(c, v)), {nc * nv, nc}, out);
}

void ask_tasks(void* self, const double* q, const double* v) {
  const AskLaw& c = of(self);
  nb::object found = c.owner.attr("tasks")(state(c, q), speed(c, v));
  c.s.store_tasks(found[0], found[1], found[2]);
  *c.null_force = c.s.pulls ? c.s.null_force.data() : nullptr;
}

void ask_output(void* self, int output, const double* q, const double* v, double* out) {
  const AskLaw& c = of(self);
  npy_intp nv = c.s.k.m.nv, k = c.s.outputs[output].size;
  store(c.owner.attr("given")(output, state(c, q), speed(c, v)), {k, k, k, k, k, k * nv, k * k}, out);
}

bool ask_limits(void* self, const double* q, const double* v) {
  const AskLaw& c = of(self);
  nb::object rows = c.owner.attr("limits")(state(c, q), speed(c, v));
  return c.s.renew_limits(nb::cast<const LimitRows&>(rows));
}

void ask_forces(void* self, const double* q, const double* v, double* out) {
  const AskLaw& c = of(self);
  npy_intp p = c.s.setup.forces.p;
  std::copy_n(Dense(c.owner.attr("measured")(state(c, q), speed(c, v)), "measured forces", {p}).data, p, out);
}

int project_by_owner(void* self, const unsigned char* part, double* q, double* v) {
  const AskLaw& c = of(self);
  New<signed char> parts({c.s.k.m.nc}, reinterpret_cast<const signed char*>(part));
  nb::object found = c.owner.attr("project")(parts, state(c, q), speed(c, v));
  std::copy_n(Dense(found[0], "q", {c.s.k.m.nq}).data, c.s.k.m.nq, q);
  std::copy_n(Dense(found[1], "v", {c.s.k.m.nv}).data, c.s.k.m.nv, v);
  return nb::cast<int>(nb::int_(found[2]));
}

int project(void* self, const unsigned char* part, double* q, double* v) {
  const AskLaw& c = of(self);
  std::vector<double> found(c.s.k.m.nq + c.s.k.m.nv + 1);
  double *q1 = found.data(), *v1 = q1 + c.s.k.m.nq;
  int status = 0;
  c.s.k.tables.batches.project(c.s.k.m, {1, q, v, c.drive, nullptr}, {part, nullptr, nullptr, nullptr},
                               {q1, v1, v1 + c.s.k.m.nv, &status});
  std::copy_n(q1, c.s.k.m.nq, q);
  std::copy_n(v1, c.s.k.m.nv, v);
  return status;
}

// The load on a held object that a step reckons with.
struct Load {
  double wrench[6] = {}, carried[10] = {}, payload[10] = {};
  bool has_wrench = false, has_payload = false;
  ControlStatus status = STEPPED;
  std::unique_ptr<StepResult> observed;
};

// of: None, or (wrench or None, payload of the model or None, whether the wrench is read off the displacement,
// None or (observer, how it is asked, whether its payload is compensated))
void find_load(ControlStep& s, nb::handle of, const ControlInput<double>& in, Load& to) {
  if (of.is_none()) return;
  Dense external = Dense::or_none(of[0], "external", {6}), own = Dense::or_none(of[1], "payload", {10});
  bool displaced = nb::cast<bool>(of[2]), compensates = false;
  if (external) std::copy_n(external.data, 6, to.wrench), to.has_wrench = true;
  if (!of[3].is_none()) {
    Observer& observer = nb::cast<Observer&>(of[3][0]);
    compensates = nb::cast<bool>(of[3][2]);
    to.observed = observer.observe(in.q, in.v, in.t, of[3][1]);
    to.status = to.observed->f.status;
    if (to.status != STEPPED) return;
    const double* estimate = observer.state.estimate;
    std::copy_n(compensates ? estimate + 6 : estimate, 6, to.wrench);
    if (compensates) std::copy_n(estimate + 12, PAYLOAD_NUMBERS, to.carried);
    displaced = !observer.state.ready, to.has_wrench = true;
  }
  if (displaced) {
    to.has_wrench = true;
    if (!s.k.tables.control.displacement(s.setup, in, s.work.get(), to.wrench)) to.status = NOT_FINITE;
  }
  to.has_payload = compensates || own;
  for (int i = 0; i < PAYLOAD_NUMBERS; ++i) to.payload[i] = to.carried[i] + (own ? own[i] : 0.0);
}

// What a step was given of its object
void store_load(const Load& held, ControlFound<double>& to) {
  std::copy_n(held.wrench, 6, to.external);
  std::copy_n(held.carried, PAYLOAD_NUMBERS, to.carried);
  if (held.observed) std::copy_n(held.observed->f.estimate, ESTIMATE_NUMBERS, to.estimate);
  if (held.status != STEPPED) to.status = held.status;
}

// The inputs within the limits, and the time that finding them took
void select_inputs(ControlStep& s, const ControlInput<double>& in, StepResult& to) {
  auto began = std::chrono::steady_clock::now();
  s.k.tables.control.inputs(s.setup, in, to.f, s.work.get());
  to.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

// The step for all choices of ranks in doubt
std::unique_ptr<StepResult> run_ranks(ControlStep& s, ControlInput<double>& in, const Load& held,
                                      bool select) {
  auto step = [&](const std::vector<int>& ranks) {
    in.ranks = ranks.data(), in.ranks_given = static_cast<int>(ranks.size());
    auto found = s.new_result();
    s.k.tables.control.step(s.setup, in, found->f, s.work.get(), found->memory.get());
    store_load(held, found->f);
    if (select && found->f.status == STEPPED) select_inputs(s, in, *found);
    return found;
  };
  ForceFeedback* feedback = s.setup.forces.p ? &nb::cast<ForceFeedback&>(s.feedback) : nullptr;
  return RankChoices(step, feedback).run();
}

StepResult* run_step(ControlStep& s, nb::handle q, nb::handle v, double t, nb::handle targets,
                     nb::handle null_force, nb::handle offset, nb::handle resistance, nb::handle settling,
                     nb::handle load, nb::handle forces, nb::handle drive, nb::handle rows, bool select,
                     nb::handle owner) {
  npy_intp nq = s.k.m.nq, nv = s.k.m.nv, nd = s.k.m.nd;
  Dense q_(q, "q", {nq}), v_(v, "v", {nv}), drive_, desired, applied;
  Dense offset_ = Dense::or_none(offset, "offset", {s.setup.n});
  Dense resistance_ = Dense::or_none(resistance, "resistance", {nv});
  Dense settling_ = Dense::or_none(settling, "settling", {s.k.m.nc});
  if (nd && !drive.is_none()) drive_ = Dense(drive, "drive", {1, nd, 3});
  AskLaw call{s, owner, drive_};
  ControlInput<double> in{};
  in.q = q_, in.v = v_, in.t = t, in.drive = drive_, in.rows = mask(rows, s.k.m.nc, "rows");
  in.owner = call.functions();
  if (!in.owner.tasks) s.store_tasks(targets, nb::none(), null_force);
  in.on = s.on.data(), in.targets = s.targets.data(), in.null_force = s.pulls ? s.null_force.data() : nullptr;
  in.hints = &s.hints, in.along = s.along.data(), in.offset = offset_;
  in.resistance = resistance_, in.settling = settling_;
  call.null_force = &in.null_force;
  if (s.setup.forces.p) {  // (desired, inputs since the last step or None)
    desired = Dense(forces[0], "desired forces", {s.setup.forces.p});
    applied = Dense::or_none(forces[1], "applied", {s.setup.n});
    in.desired = desired, in.applied = applied;
    in.feedback = &nb::cast<ForceFeedback&>(s.feedback).state;
  }
  Load held;
  find_load(s, load, in, held);
  if (held.observed && held.observed->f.status != STEPPED) return held.observed.release();
  in.external = held.has_wrench ? held.wrench : nullptr;
  in.payload = held.has_payload ? held.payload : nullptr;
  return run_ranks(s, in, held, select).release();
}

// The inputs of a step selected again, with another offset (n) or without
void select_again(ControlStep& s, StepResult& r, nb::handle offset) {
  Dense offset_ = Dense::or_none(offset, "offset", {s.setup.n});
  ControlInput<double> in{};
  in.on = s.on.data(), in.hints = &s.hints, in.along = s.along.data(), in.offset = offset_;
  if (s.setup.forces.p) in.feedback = &nb::cast<ForceFeedback&>(s.feedback).state;
  s.k.tables.control.inputs(s.setup, in, r.f, s.work.get());
}

// Wrench (6) that explains the displacement of a held object at rest; None where its error has no map
nb::object displacement(ControlStep& s, nb::handle q, nb::handle v, nb::handle targets) {
  Dense q_(q, "q", {s.k.m.nq}), v_(v, "v", {s.k.m.nv});
  s.store_tasks(targets, nb::none(), nb::none());
  ControlInput<double> in{};
  in.q = q_, in.v = v_, in.targets = s.targets.data();
  NewArray wrench({6});
  bool found = s.k.tables.control.displacement(s.setup, in, s.work.get(), wrench);
  return found ? wrench.object : nb::none();
}

// Error (p) of regulated forces for inputs (n) that were chosen elsewhere
nb::object settle(ControlStep& s, StepResult& r, nb::handle u) {
  ControlInput<double> in{};
  in.feedback = &nb::cast<ForceFeedback&>(s.feedback).state;
  s.k.tables.control.settle_step(s.setup, in, Dense(u, "u", {s.setup.n}), r.f);
  return NewArray({s.setup.forces.p}, r.f.force_error).object;
}

// Inputs of all actuators (nu), and as a generalized force (nv)
nb::object spread(const StepResult& r, const Integers& to, npy_intp size) {
  NewArray x({size});
  std::fill_n(x.data(), size, 0.0);
  for (size_t i = 0; i < to.size(); ++i) x[to[i]] = r.f.u[i];
  return x.object;
}

// (u, tau, a): inputs of all actuators (nu), as a generalized force (nv), and the acceleration (nv)
nb::tuple applied(const ControlStep& s, const StepResult& r) {
  return nb::make_tuple(spread(r, s.law.used, s.law.nu), spread(r, s.law.columns, r.nv),
                        NewArray({r.nv}, r.f.a));
}

}  // namespace

ControlOwner<double> AskLaw::functions() {
  bool terms = s.law.has_terms;
  return {this,
          terms ? ask_terms : nullptr,
          terms ? ask_rates : nullptr,
          terms ? project_by_owner : project,
          s.law.has_tasks ? ask_tasks : nullptr,
          ask_output,
          s.has_limit_functions() ? ask_limits : nullptr,
          s.has_sensor() ? ask_forces : nullptr};
}

void bind_control_step(nb::module_& m) {
  bind_step_result(m);
  bind_force_feedback(m);
  bind_law_setup(m);
  nb::class_<ControlStep>(m, "ControlStep")
      .def(nb::init<nb::object, const LawSetup&>(), "kernel"_a, "setup"_a)
      .def("__call__", run_step, "q"_a, "v"_a, "t"_a, "targets"_a, nb::kw_only(),
           "null_force"_a.none() = nb::none(), "offset"_a.none() = nb::none(),
           "resistance"_a.none() = nb::none(), "settling"_a.none() = nb::none(), "load"_a.none() = nb::none(),
           "forces"_a.none() = nb::none(), "drive"_a.none() = nb::none(), "rows"_a.none() = nb::none(),
           "select"_a = true, "owner"_a.none() = nb::none(), nb::rv_policy::take_ownership)
      .def_prop_ro("asks_owner", &ControlStep::asks_owner)
      .def("select", select_again, "found"_a, "offset"_a.none())
      .def("displacement", displacement, "q"_a, "v"_a, "targets"_a)
      .def("settle", settle, "found"_a, "u"_a)
      .def("applied", applied, "found"_a)
      .def(
          "targets",
          [](ControlStep& s, nb::handle targets, nb::handle null_force) {
            s.store_tasks(targets, nb::none(), null_force);
            return NewArray({static_cast<npy_intp>(s.targets.size())}, s.targets.data()).object;
          },
          "targets"_a, "null_force"_a.none() = nb::none())
      .def("tables", [](const ControlStep& s) { return tables_of(s); });
  bind_wrench_observer(m);
}

}  // namespace sarrus
