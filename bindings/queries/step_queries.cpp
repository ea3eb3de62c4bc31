// Single steps in time as public calls.
#include "../runs/recorder.hpp"
#include "../threads.hpp"
#include "arguments.hpp"

namespace sarrus {

using namespace nb::literals;

namespace {
namespace query {

constexpr npy_intp PART = 16;  // states that a thread takes at a time

// Drives and user rows at the states of a step, from the evaluator of Python.
struct AskEvaluator {
  const ModelD& m;
  In evaluator;

  static bool at(void* self, const Instant<double>& at, const Supplied<double>& to) {
    auto& asked = *static_cast<const AskEvaluator*>(self);
    const ModelD& m = asked.m;
    nb::gil_scoped_acquire gil;
    NewArray q({1, m.nq}, at.q), v({1, m.nv}, at.v);
    nb::tuple found(asked.evaluator.attr("outside")(q, v, at.t));
    Dense drive(found[0], "drive", {1, m.nd, 3}), user(found[1], "user", {1, m.n_user_rows, 3 + m.nv});
    std::copy_n(drive.data, 3 * m.nd, to.drive);
    std::copy_n(user.data, m.n_user_rows * (3 + m.nv), to.user);
    return true;
  }
};

// S^T u of plain inputs u (nu,) or (n, nu), or None
nb::object plain_force(const Queries& s, In u, In actuated) {
  npy_intp nu = length_of(actuated), n = axes_of(u) == 2 ? length_of(u) : 1, nv = s.m().nv;
  auto* columns = data_of<int>(actuated, {nu});
  bool batch = axes_of(u) == 2;
  auto* given = !PyArray_CheckExact(u.ptr()) ? nullptr
                : batch                      ? data_of<double>(u, {n, nu})
                                             : data_of<double>(u, {nu});
  if (!columns || !given || !finite(given, n * nu)) return nb::none();
  NewArray force(batch ? Shape{n, nv} : Shape{nv});
  std::fill_n(force.data(), n * nv, 0.0);
  for (npy_intp i = 0; i < n; ++i)
    for (npy_intp k = 0; k < nu; ++k) force.data()[i * nv + columns[k]] += given[i * nu + k];
  return force.object;
}

// The applied force of inputs u and forces tau; `applied` (q, tau, u) of Python takes what is not plain.
nb::object force_of(const Queries& s, In q, In u, In tau, nb::tuple inputs) {
  if (u.is_none()) return nb::borrow(tau);
  nb::object found = tau.is_none() ? plain_force(s, u, inputs[0]) : nb::none();
  return found.is_none() ? nb::object(inputs[1](q, tau, u, nb::none())) : found;
}

// (q, v, status) after a step   state: (q, v, u, tau), inputs: (actuated, applied), time: (t, dt, substeps)
nb::tuple step(const Queries& s, nb::tuple state, nb::tuple inputs, nb::tuple time, const RunOptions& options,
               In evaluator) {
  nb::object force = force_of(s, state[0], state[2], state[3], inputs);
  Call c(s, {{state[0], "q", true}, {state[1], "v"}, {force.is_none() ? In(state[1]) : In(force), "tau"}});
  if (force.is_none()) c.rest(2);
  AskEvaluator owner{c.m, evaluator};
  StepCall call = {c.x[2],
                   s.time(time[0]),
                   nb::cast<double>(time[1]),
                   nb::cast<int>(time[2]),
                   options,
                   c.m.nd || c.m.n_user_rows ? Outside{&owner, AskEvaluator::at} : Outside{}};
  NewArray q = c.out({c.m.nq}), v = c.out({c.m.nv});
  auto status = c.out<int>({});
  auto part = [&](long begin, long end) {
    StepCall mine = call;
    mine.tau += begin * c.m.nv;
    States from = {static_cast<int>(end - begin), c.x[0] + begin * c.m.nq, c.x[1] + begin * c.m.nv, nullptr,
                   nullptr};
    s.k.tables.runs.step(c.m, from, mine,
                         {q.data() + begin * c.m.nq, v.data() + begin * c.m.nv, status.data() + begin});
  };
  if (c.count == 1 || call.outside.inputs) {
    part(0, c.count);
  } else {
    nb::gil_scoped_release free;
    in_parallel(c.count, PART, all_cores(), part);
  }
  if (c.batch.rank) return nb::make_tuple(q, v, status);
  return nb::make_tuple(q, v, status.data()[0]);
}

}  // namespace query
}  // namespace

void bind_steps(nb::class_<Queries>& queries) {
  queries.def("step", &query::step, "state"_a, "inputs"_a, "time"_a, "options"_a, "evaluator"_a.none());
}

}  // namespace sarrus
