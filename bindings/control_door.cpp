#include "control_door.hpp"

#include "numpy.hpp"

#include <optional>

namespace sarrus {

using namespace nb::literals;

namespace {

// None where rows depend on each other, False where the inertia is not positive definite, else
// (a0, B, lam0, Lam, N)
nb::object respond(nb::handle M, nb::handle h, nb::handle J, nb::handle gamma, nb::handle unit,
                   nb::handle row_unit, nb::handle columns, double tol) {
  npy_intp nv = length_of(h), nc = length_of(J), nu = length_of(columns);
  if (nc > nv) return nb::none();
  Dense M_(M, "M", {nv, nv}), h_(h, "h", {nv}), J_(J, "J", {nc, nv}), gamma_(gamma, "gamma", {nc});
  Dense unit_(unit, "unit", {nv}), row_unit_(row_unit, "row_unit", {nc});
  DenseTerms<double> d{{}, M_, h_, J_, gamma_, indices(columns, "columns", nu, nv), static_cast<int>(nu)};
  d.m.nv = static_cast<int>(nv), d.m.nc = static_cast<int>(nc);
  d.m.unit = unit_, d.m.row_unit = row_unit_, d.m.rank_tol = &tol;
  NewArray a0({nv}), B({nv, nu}), lam0({nc}), Lam({nc, nu}), N({nv, nv - nc});
  int how = best_table()->respond(d, {a0.data, B.data, lam0.data, Lam.data, N.data});
  if (how == 1) return nb::none();
  if (how == 2) return nb::bool_(false);
  return nb::make_tuple(a0.object, B.object, lam0.object, Lam.object, N.object);
}

// (G, g, sharpness, motions, x, Z); x and Z are None where the rows of G are not independent beyond doubt
nb::tuple least_inputs(nb::handle J, nb::handle wanted, nb::handle row_unit, nb::handle N, nb::handle B,
                       nb::handle a0, nb::handle unit, nb::handle v, nb::handle columns, nb::handle metric,
                       double damping) {
  npy_intp k = length_of(J), nv = length_of(a0), n = length_of(columns), dof = length_of(N, 1);
  Dense J_(J, "J", {k, nv}), wanted_(wanted, "wanted", {k}), row_unit_(row_unit, "row_unit", {k});
  Dense N_(N, "N", {nv, dof}), B_(B, "B", {nv, n}), a0_(a0, "a0", {nv}), unit_(unit, "unit", {nv});
  Dense v_(v, "v", {nv});
  Asked<double> asked{static_cast<int>(k),
                      static_cast<int>(nv),
                      static_cast<int>(n),
                      static_cast<int>(dof),
                      J_,
                      wanted_,
                      row_unit_,
                      N_,
                      B_,
                      a0_,
                      unit_,
                      v_,
                      indices(columns, "columns", n, nv),
                      nullptr,
                      length_of(metric, 1) == 0,
                      damping};
  std::optional<Dense> metric_;
  if (!metric.is_none()) {
    metric_.emplace(asked.diagonal ? Dense(metric, "metric", {n}) : Dense(metric, "metric", {n, n}));
    asked.metric = *metric_;
  }
  LeastFound<double> found = best_table()->least(asked);
  NewArray G({found.rows, n}, found.G), g({found.rows}, found.g);
  nb::object x = nb::none(), Z = nb::none();
  if (found.regular) {
    x = NewArray({n}, found.x).object;
    Z = NewArray({n, n - found.rows}, found.Z).object;
  }
  return nb::make_tuple(G.object, g.object, found.sharpness, found.motions, x, Z);
}

// (z, active rows, iterations, how): how is 0 where solved, 1 where infeasible, 2 where it did not come to an
// end
nb::tuple solve_program(nb::handle z0, nb::handle H, nb::handle A, nb::handle lower, nb::handle upper,
                        double tol) {
  npy_intp n = length_of(z0), m = length_of(lower);
  Dense z0_(z0, "z0", {n}), A_(A, "A", {m, n}), lower_(lower, "lower", {m}), upper_(upper, "upper", {m});
  Program<double> p{static_cast<int>(n), static_cast<int>(m), z0_, nullptr, A_, lower_, upper_, tol};
  std::optional<Dense> H_;
  if (!H.is_none()) p.H = H_.emplace(H, "H", Dims{n, n});
  Answer<double> answer = best_table()->program(p);
  nb::list active;
  for (int i = 0; i < answer.count; ++i) active.append(answer.active[i]);
  return nb::make_tuple(NewArray({n}, answer.z).object, active, answer.iterations,
                        static_cast<int>(answer.how));
}

}  // namespace

void open_control_door(nb::module_& m) {
  m.def("respond", &respond, "M"_a, "h"_a, "J"_a, "gamma"_a, "unit"_a, "row_unit"_a, "columns"_a, "tol"_a,
        nb::sig("def respond(M: object, h: object, J: object, gamma: object, unit: object, row_unit: object, "
                "columns: object, tol: float) -> tuple[NDArray[numpy.float64], ...] | bool | None"));
  m.def("least_inputs", &least_inputs, "J"_a, "wanted"_a, "row_unit"_a, "N"_a, "B"_a, "a0"_a, "unit"_a, "v"_a,
        "columns"_a, "metric"_a.none(), "damping"_a);
  m.def("solve_program", &solve_program, "z0"_a, "H"_a.none(), "A"_a, "lower"_a, "upper"_a, "tol"_a);
}

}  // namespace sarrus
