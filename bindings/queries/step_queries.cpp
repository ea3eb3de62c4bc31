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
    Dense drive(asked.evaluator.attr("drive")(at.t, 1), "drive", {1, m.nd, 3});
    std::copy_n(drive.data, 3 * m.nd, to.drive);
    if (!m.n_user_rows) return true;
    NewArray q({1, m.nq}, at.q), v({1, m.nv}, at.v);
    Dense user(asked.evaluator.attr("user")(q, v, at.t), "user", {1, m.n_user_rows, 3 + m.nv});
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

// One call for steps, with its arguments checked.
struct Steps {
  const Queries& s;
  nb::object force;
  CheckedArguments c;
  AskEvaluator owner;
  StepCall call;

  // state: (q, v, u, tau), inputs: (actuated, applied), time: (t, dt, substeps)
  Steps(const Queries& queries, nb::tuple state, nb::tuple inputs, nb::tuple time, const RunOptions& options,
        In evaluator)
      : s(queries),
        force(force_of(s, state[0], state[2], state[3], inputs)),
        c(s, {{state[0], "q", true}, {state[1], "v"}, {force.is_none() ? In(state[1]) : In(force), "tau"}}),
        owner{c.m, evaluator},
        call{nullptr,
             s.time(time[0]),
             nb::cast<double>(time[1]),
             nb::cast<int>(time[2]),
             options,
             c.m.nd || c.m.n_user_rows ? Outside{&owner, AskEvaluator::at} : Outside{}} {
    if (force.is_none()) c.rest(2);
    call.tau = c.x[2];
  }
  // use(first, states, call) for parts of the batch, in several threads where no function of Python is called
  template <class Use>
  void each(Use use) const {
    auto part = [&](long begin, long end) {
      StepCall mine = call;
      mine.tau += begin * c.m.nv;
      use(begin,
          States{static_cast<int>(end - begin), c.x[0] + begin * c.m.nq, c.x[1] + begin * c.m.nv, nullptr,
                 nullptr},
          mine);
    };
    if (c.count == 1 || call.outside.inputs) return part(0, c.count);
    nb::gil_scoped_release free;
    in_parallel(c.count, PART, all_cores(), part);
  }
};

// (q, v, status, error, touched) after a step; touched: whether surfaces do, None where these are ignored
nb::tuple step(const Queries& s, nb::tuple state, nb::tuple inputs, nb::tuple time, const RunOptions& options,
               In evaluator, bool watch) {
  Steps x(s, state, inputs, time, options, evaluator);
  const CheckedArguments& c = x.c;
  NewArray q = c.out({c.m.nq}), v = c.out({c.m.nv}), error = c.out({});
  auto status = c.out<int>({});
  auto touched = c.out<unsigned char>({});
  x.each([&](long i, States from, const StepCall& call) {
    unsigned char* seen = watch ? touched + i : nullptr;
    s.k.tables.runs.step(c.m, from, call, {q + i * c.m.nq, v + i * c.m.nv, status + i, error + i, seen});
  });
  nb::object seen = watch ? nb::cast(touched) : nb::none();
  if (c.batch.rank) return nb::make_tuple(q, v, status, error, seen);
  return nb::make_tuple(q, v, status.data()[0], error.data()[0], seen);
}

// (A, B, q, v, status): derivatives of a step, and the state after it
nb::tuple step_derivatives(const Queries& s, nb::tuple state, nb::tuple inputs, nb::tuple time,
                           const RunOptions& options, In evaluator) {
  Steps x(s, state, inputs, time, options, evaluator);
  const CheckedArguments& c = x.c;
  npy_intp n = 2 * c.m.nv, nu = length_of(inputs[0]);
  Held actuated = {data_of<int>(inputs[0], {nu}), nullptr, static_cast<int>(nu)};
  NewArray A = c.out({n, n}), B = c.out({n, nu}), q = c.out({c.m.nq}), v = c.out({c.m.nv});
  auto status = c.out<int>({});
  x.each([&](long i, States from, const StepCall& call) {
    s.k.tables.runs.step_derivatives(
        c.m, from, call, actuated,
        {A + i * n * n, B + i * n * nu, q + i * c.m.nq, v + i * c.m.nv, status + i});
  });
  return nb::make_tuple(A, B, q, v, status);
}

// (q, v, u, swept): gradients by the entries of q, by v and by inputs of those by the state after a step, `end`
// (q, v) with the batch axes of the states; where swept is 0 they are not there. None where arguments are not
// plain arrays: Python then converts them.
nb::object step_gradient(const Queries& s, nb::tuple state, nb::tuple inputs, nb::tuple time,
                         const RunOptions& options, nb::tuple end) {
  Steps x(s, state, inputs, time, options, nb::none());
  const CheckedArguments& c = x.c;
  npy_intp nq = c.m.nq, nv = c.m.nv, nu = length_of(inputs[0]), n = c.count;
  auto plain = [&](In given, npy_intp width) {
    return PyArray_CheckExact(given.ptr())
               ? data_of<double>(given, c.batch.rank ? Shape{n, width} : Shape{width})
               : nullptr;
  };
  auto *by_q = plain(end[0], nq), *by_v = plain(end[1], nv), *q0 = plain(state[0], nq);
  bool unit = nq == nv || q0 == c.x[0];  // quaternions were not normalized on the way
  if (c.batch.rank > 1 || !by_q || !by_v || !unit || !finite(by_q, n * nq) || !finite(by_v, n * nv))
    return nb::none();
  Held actuated = {data_of<int>(inputs[0], {nu}), nullptr, static_cast<int>(nu)};
  NewArray q = c.out({nq}), v = c.out({nv}), u = c.out({nu});
  auto swept = c.out<unsigned char>({});
  x.each([&](long i, States from, const StepCall& call) {
    s.k.tables.gradients.step_gradient(
        c.m, from, call, actuated,
        {by_q + i * nq, by_v + i * nv, q + i * nq, v + i * nv, u + i * nu, swept + i});
  });
  if (c.batch.rank) return nb::make_tuple(q, v, u, swept);
  return nb::make_tuple(q, v, u, bool(swept.data()[0]));
}

}  // namespace query
}  // namespace

void bind_steps(nb::class_<Queries>& queries) {
  queries
      .def("step", &query::step, "state"_a, "inputs"_a, "time"_a, "options"_a, "evaluator"_a.none(),
           "watch"_a = false)
      .def("step_derivatives", &query::step_derivatives, "state"_a, "inputs"_a, "time"_a, "options"_a,
           "evaluator"_a.none())
      .def("step_gradient", &query::step_gradient, "state"_a, "inputs"_a, "time"_a, "options"_a, "end"_a);
}

}  // namespace sarrus
