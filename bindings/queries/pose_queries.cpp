#include "../user_rows.hpp"
#include "arguments.hpp"

#include <cmath>

#include "solve/search/assembly.hpp"

namespace sarrus {

using namespace nb::literals;

namespace {
namespace query {

// Values of drives, and the user's rows on demand, as searches for poses ask for them; outside: (evaluator,
// time)
struct Outside {
  Dense drive;
  AskUser owner;

  Outside(const CheckedArguments& c, nb::tuple outside) : owner{c.m, nb::none()} {
    nb::object evaluator = outside[0];
    double time = c.s.time(nb::handle(outside[1]));
    if (c.m.nd) drive = Dense(evaluator.attr("drive")(time, c.count), "drive", {c.count, c.m.nd, 3});
    if (c.m.n_user_rows) owner.rows = evaluator.attr("rows_at")(time);
  }
  // an entry of the function table; the GIL is released for batches without rows of the user's
  template <class Function, class... More>
  void run(const CheckedArguments& c, Function function, More&&... more) {
    std::optional<nb::gil_scoped_release> free;
    if (c.count > 1 && !c.m.n_user_rows) free.emplace();
    function(c.m, {static_cast<int>(c.count), c.x[0], nullptr, drive, nullptr}, owner.rows_of_user(),
             more...);
  }
};

const int* int_indices(In x) {
  auto* found = data_of<int>(x, {length_of(x)});
  if (!found) throw nb::value_error("indices must be int32");
  return found;
}

// Rows and columns (int32), and patterns (attempts, columns), as Python hands them over
struct Which {
  Closed closed;
  Dense patterns;

  explicit Which(nb::tuple which) {
    closed = {int_indices(which[0]), int_indices(which[1]), static_cast<int>(length_of(which[0])),
              static_cast<int>(length_of(which[1]))};
    patterns = Dense(which[2], "patterns", {MOST_ATTEMPTS, closed.n_columns});
  }
};

// Largest |r|, infinite where it is not a number
double largest(const double* r, npy_intp n) {
  double worst = 0;
  for (npy_intp k = 0; k < n; ++k) {
    double size = std::isfinite(r[k]) ? std::abs(r[k]) : INFINITY;
    worst = size > worst ? size : worst;
  }
  return worst;
}

// An Assembly; about: what it needs for its words
nb::any assemble(const Queries& s, In type, In q_guess, nb::tuple outside, nb::tuple which, In about) {
  CheckedArguments c(s, {{q_guess, "q_guess", true}});
  Outside rows(c, outside);
  Which w(which);
  npy_intp n = w.closed.n_rows;
  NewArray q = c.out({c.m.nq}), r = c.out({n});
  PerState<double> residual(c);
  PerState<int> iterations(c);
  PerState<unsigned char> success(c);
  rows.run(c, s.k.tables.poses.assemble, w.closed, w.patterns, ClosingArrays{q, r, iterations});
  for (npy_intp i = 0; i < c.count; ++i) {
    double worst = largest(r + i * n, n);
    residual.data()[i] = worst * c.m.length[0];
    success.data()[i] = worst <= CLOSED_TOL;
  }
  static const Fields fields = {"q", "residual", "iterations", "success", "_guess", "_r", "_about"};
  nb::object guess = c.copy(0, c.m.nq).object, worst = residual.object(), n_iterations = iterations.object();
  nb::object fine = success.object();
  return made(type, fields, {q.object, worst, n_iterations, fine, guess, r.object, about});
}

// (q (..., n, nq), singular (..., n), end, reached, what is left of the rows at the start); values (..., n,
// m); path: indices into v and q of the m swept coordinates and indices of held ones (int32)
nb::tuple sweep(const Queries& s, In q0, In values, nb::tuple outside, nb::tuple which, nb::tuple path) {
  CheckedArguments c(s, {{q0, "q0", true}});
  Outside rows(c, outside);
  Which w(which);
  npy_intp n = length_of(values, axes_of(values) - 2), swept = length_of(path[0]);
  Dense wanted(values, "values", c.each({n, swept}));
  SweepPlan plan = {int_indices(path[0]),
                    int_indices(path[1]),
                    static_cast<int>(swept),
                    int_indices(path[2]),
                    static_cast<int>(length_of(path[2])),
                    w.closed,
                    wanted,
                    w.patterns,
                    static_cast<int>(n)};
  NewArray q = c.out({n, c.m.nq}), end = c.out({}), r = c.out({w.closed.n_rows});
  auto singular = c.out<unsigned char>({n});
  auto reached = c.out<int>({});
  std::fill_n(q.data(), c.count * n * c.m.nq, NAN);
  std::fill_n(singular.data(), c.count * n, 0);
  std::fill_n(end.data(), c.count, NAN);
  rows.run(c, s.k.tables.poses.sweep, plan, SweepArrays{q, singular, end, r, reached});
  return nb::make_tuple(q, singular, end, reached, r);
}

// (q, u, a, residual, ends) of searches for equilibria from closed poses, see RestArrays; forces: tau (...,
// nv) and u (..., nu); indices: of inputs and of held coordinates (int32); which: with held ones fixed, and
// all
nb::tuple equilibrium(const Queries& s, In q, nb::tuple outside, nb::tuple forces, nb::tuple indices,
                      nb::tuple which) {
  CheckedArguments c(s, {{q, "q", true}});
  Outside rows(c, outside);
  Which closing(nb::borrow<nb::tuple>(which[0])), moving(nb::borrow<nb::tuple>(which[1]));
  npy_intp nu = length_of(indices[0]);
  Dense tau(forces[0], "tau", c.each({c.m.nv})), u(forces[1], "u", c.each({nu}));
  RestPlan plan = {tau,
                   u,
                   int_indices(indices[0]),
                   int_indices(indices[1]),
                   static_cast<int>(nu),
                   static_cast<int>(length_of(indices[1])),
                   closing.closed,
                   moving.closed,
                   closing.patterns};
  NewArray found = c.out({c.m.nq}), inputs = c.out({nu}), a = c.out({c.m.nv}), residual = c.out({});
  auto ends = c.out<int>({2});
  rows.run(c, s.k.tables.poses.equilibrium, plan, RestArrays{found, inputs, a, residual, ends});
  return nb::make_tuple(found, inputs, a, residual, ends);
}

}  // namespace query
}  // namespace

void bind_pose_queries(nb::class_<Queries>& queries) {
  auto outside = "outside"_a, which = "which"_a;
  queries.def("assemble", &query::assemble, "type"_a, "q_guess"_a.none(), outside, which, "about"_a)
      .def("sweep", &query::sweep, "q0"_a, "values"_a, outside, which, "path"_a)
      .def("equilibrium", &query::equilibrium, "q"_a, outside, "forces"_a, "indices"_a, which);
}

}  // namespace sarrus
