// sarrus._kernel: checks shapes, loops over batches with the GIL released, owns results. No formulas.
#include "algebra/front_plan.hpp"
#include "batches/call_batches.hpp"
#include "contacts/call_problem.hpp"
#include "control/call_control.hpp"
#include "control/call_pose_error.hpp"
#include "control/control_step.hpp"
#include "models/call_models.hpp"
#include "models/call_variation.hpp"
#include "models/table_program.hpp"
#include "queries/arguments.hpp"
#include "runs/recorder.hpp"
#include "tracing/call_tracer.hpp"

NB_MODULE(_kernel, m) {
  namespace nb = nanobind;
  using namespace nb::literals;
  using namespace sarrus;
  import_numpy();
  nb::set_leak_warnings(false);  // threads of a viewer outlive the interpreter and hold references
  export_constants(m);
  auto kernel =
      nb::class_<Kernel>(m, "Kernel")
          .def(nb::init<nb::dict, nb::dict>(), "sizes"_a, "fields"_a)
          .def_prop_ro("augmented", [](const Kernel& k) { return k.m.fronts != nullptr; })
          .def_prop_ro("few_rows", [](const Kernel& k) { return k.m.fronts && k.m.fronts->few_rows; })
          .def_prop_ro("fill", [](const Kernel& k) {  // entries of the factor of H over dense ones
            return k.m.fronts ? k.m.fronts->entries / (double(k.m.nv) * k.m.nv) : 1.0;
          });
  bind_batches(kernel);
  bind_models(m, kernel);
  bind_variation(kernel);
  bind_table_program(m);
  bind_queries(m);
  bind_pose_error(m);
  bind_run_options(m);
  bind_run(m);
  bind_copies(m);
  bind_mode_plan(m);
  bind_control(m);
  bind_contact_problem(m);
  bind_control_step(m);
  bind_tracer(m, kernel);
}
