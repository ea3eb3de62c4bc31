#include "call_control.hpp"

#include "../numpy.hpp"
#include "control/payload.hpp"

#include <optional>

namespace sarrus {

using namespace nb::literals;

namespace {

int whole(npy_intp n) { return static_cast<int>(n); }

// An array, or None.
struct Maybe {
  std::optional<Dense> array;
  Maybe(nb::handle x, const char* name, Dims shape) {
    if (!x.is_none()) array.emplace(x, name, shape);
  }
  const double* data() const { return array ? array->data : nullptr; }
};

// C of u = C x: None, (n,) or (n, n)
struct Metric : Maybe {
  bool diagonal;
  Metric(nb::handle x, npy_intp n)
      : Maybe(length_of(x, 1) ? Maybe(x, "metric", {n, n}) : Maybe(x, "metric", {n})),
        diagonal(length_of(x, 1) == 0) {}
};

nb::list numbers(const int* from, int count) {
  nb::list found;
  for (int i = 0; i < count; ++i) found.append(from[i]);
  return found;
}

// None where rows depend on each other, False where the inertia is not positive definite, else
// (a0, B, lam0, Lam, N, P, bound, lam_force)
nb::object respond(nb::handle M, nb::handle h, nb::handle J, nb::handle gamma, nb::handle unit,
                   nb::handle row_unit, nb::handle columns, double tol) {
  npy_intp nv = length_of(h), nc = length_of(J), nu = length_of(columns);
  if (nc > nv) return nb::none();
  Dense M_(M, "M", {nv, nv}), h_(h, "h", {nv}), J_(J, "J", {nc, nv}), gamma_(gamma, "gamma", {nc});
  Dense unit_(unit, "unit", {nv}), row_unit_(row_unit, "row_unit", {nc});
  DenseTerms<double> d{{}, M_, h_, J_, gamma_, indices(columns, "columns", nu, nv), static_cast<int>(nu)};
  d.m.nv = static_cast<int>(nv), d.m.nc = static_cast<int>(nc);
  d.m.unit = unit_, d.m.row_unit = row_unit_, d.m.rank_tol = &tol;
  NewArray a0({nv}), B({nv, nu}), lam0({nc}), Lam({nc, nu}), N({nv, nv - nc}), P({nv, nv}), bound({nv}),
      lam_force({nc, nv});
  int how = best_tables().control.respond(
      d, {a0.data, B.data, lam0.data, Lam.data, N.data, P.data, bound.data, lam_force.data});
  if (how == 1) return nb::none();
  if (how == 2) return nb::bool_(false);
  return nb::make_tuple(a0.object, B.object, lam0.object, Lam.object, N.object, P.object, bound.object,
                        lam_force.object);
}

// (G, g, sharpness, motions, x, Z); x and Z are None where the rows of G are not independent beyond doubt
nb::tuple least_inputs(nb::handle J, nb::handle wanted, nb::handle row_unit, nb::handle N, nb::handle B,
                       nb::handle a0, nb::handle unit, nb::handle v, nb::handle columns, nb::handle metric,
                       nb::handle M, double damping) {
  npy_intp k = length_of(J), nv = length_of(a0), n = length_of(columns), dof = length_of(N, 1);
  Dense J_(J, "J", {k, nv}), wanted_(wanted, "wanted", {k}), row_unit_(row_unit, "row_unit", {k});
  Dense N_(N, "N", {nv, dof}), B_(B, "B", {nv, n}), a0_(a0, "a0", {nv}), unit_(unit, "unit", {nv});
  Dense v_(v, "v", {nv});
  Metric C(metric, n);
  Maybe M_(M, "M", {nv, nv});
  Asked<double> asked{whole(k),
                      whole(nv),
                      whole(n),
                      whole(dof),
                      J_,
                      wanted_,
                      row_unit_,
                      N_,
                      B_,
                      a0_,
                      unit_,
                      v_,
                      indices(columns, "columns", n, nv),
                      C.data(),
                      C.diagonal,
                      M_.data(),
                      damping};
  LeastFound<double> found = best_tables().control.least(asked);
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
  Maybe H_(H, "H", {n, n});
  Program<double> p{whole(n), whole(m), z0_, H_.data(), A_, lower_, upper_, tol};
  Answer<double> answer = best_tables().control.program(p);
  return nb::make_tuple(NewArray({n}, answer.z).object, numbers(answer.active, answer.count),
                        answer.iterations, static_cast<int>(answer.how));
}

// (R, lower, upper, reserve); reserve is None where no disturbances are given
nb::tuple limit_rows(nb::handle on_lam, nb::handle on_u, nb::handle lam0, nb::handle Lam, nb::handle lower,
                     nb::handle upper, nb::handle unknown) {
  npy_intp m = length_of(lower), nc = length_of(Lam), n = length_of(Lam, 1), k = length_of(unknown, 1);
  Dense on_lam_(on_lam, "on_lam", {m, nc}), lam0_(lam0, "lam0", {nc}), Lam_(Lam, "Lam", {nc, n});
  Dense lower_(lower, "lower", {m}), upper_(upper, "upper", {m});
  Maybe on_u_(on_u, "on_u", {m, n}), unknown_(unknown, "unknown", {nc, k});
  NewArray R({m, n}), low({m}), high({m}), reserve({m});
  best_tables().control.limit_rows({whole(m), whole(nc), whole(n), whole(k), on_lam_, on_u_.data(), lam0_,
                                    Lam_, lower_, upper_, unknown_.data()},
                                   R.data, low.data, high.data, reserve.data);
  return nb::make_tuple(R.object, low.object, high.object, unknown.is_none() ? nb::none() : reserve.object);
}

// (how, x, u, rows, iterations, z): how 3 where the first z is inside, else as solve_program
nb::tuple inputs_within(nb::handle x, nb::handle Z, nb::handle z, nb::handle metric, nb::handle R,
                        nb::handle lower, nb::handle upper, nb::handle H, double touch, double tol) {
  npy_intp n = length_of(x), open = length_of(Z, 1), m = length_of(lower);
  Dense x_(x, "x", {n}), Z_(Z, "Z", {n, open}), R_(R, "R", {m, n});
  Dense lower_(lower, "lower", {m}), upper_(upper, "upper", {m});
  Maybe z_(z, "z", {open}), H_(H, "H", {open, open});
  Metric C(metric, n);
  LimitedFound<double> found =
      best_tables().control.limited({whole(n), whole(open), whole(m), x_, Z_, z_.data(), C.data(), C.diagonal,
                                     R_, lower_, upper_, H_.data(), touch, tol});
  return nb::make_tuple(static_cast<int>(found.how), NewArray({n}, found.x).object,
                        NewArray({n}, found.u).object, numbers(found.rows, found.count), found.iterations,
                        NewArray({open}, found.z).object);
}

// (X, to_x, open, size); None where some motion is not felt, False without inertia
nb::object reach(nb::handle N, nb::handle M, nb::handle unit, nb::handle columns, nb::handle metric,
                 double least_feel) {
  npy_intp nv = length_of(N), dof = length_of(N, 1), n = length_of(columns);
  if (dof > n) return nb::none();
  Dense N_(N, "N", {nv, dof}), M_(M, "M", {nv, nv}), unit_(unit, "unit", {nv});
  Metric C(metric, n);
  ReachFound<double> found{};
  int how =
      best_tables().control.reach({whole(nv), whole(n), whole(dof), N_, M_, unit_,
                                   indices(columns, "columns", n, nv), C.data(), C.diagonal, least_feel},
                                  found);
  if (how == 1) return nb::none();
  if (how == 2) return nb::bool_(false);
  return nb::make_tuple(NewArray({nv, dof}, found.X).object, NewArray({n, dof}, found.to_x).object,
                        NewArray({n, n - dof}, found.open).object, found.size);
}

// (A, b, zero, s, Z, [left]): left of the levels before the first one whose rank is in doubt, s and Z behind
// them
nb::tuple descend(nb::handle J, nb::handle wanted, nb::handle row_unit, nb::handle ends, nb::handle X,
                  nb::handle a0, nb::handle unit, double size) {
  npy_intp k = length_of(J), nv = length_of(a0), r = length_of(X, 1), levels = length_of(ends);
  Dense J_(J, "J", {k, nv}), wanted_(wanted, "wanted", {k}), row_unit_(row_unit, "row_unit", {k});
  Dense X_(X, "X", {nv, r}), a0_(a0, "a0", {nv}), unit_(unit, "unit", {nv});
  const long long* ends_ = indices(ends, "ends", levels, k + 1);
  LevelsFound<double> found = best_tables().control.levels(
      {whole(levels), whole(k), whole(nv), whole(r), ends_, J_, wanted_, row_unit_, X_, a0_, unit_, size});
  nb::list left;
  for (npy_intp i = 0; i < found.done; ++i)
    left.append(NewArray({found.open[i], found.open[i + 1]}, found.left + i * r * r).object);
  return nb::make_tuple(NewArray({k, r}, found.A).object, NewArray({k}, found.b).object,
                        NewArray({levels}, found.zero).object, NewArray({r}, found.s).object,
                        NewArray({r, found.open[levels]}, found.Z).object, left);
}

// Y (6, 10) of a payload, mean over a sample from (R0, V0) to (R1, V1), at a point of the body in world axes
nb::object payload_regressor(nb::handle R0, nb::handle V0, nb::handle R1, nb::handle V1, double dt,
                             nb::handle gravity, nb::handle point) {
  Dense R[2] = {Dense(R0, "R0", {3, 3}), Dense(R1, "R1", {3, 3})};
  Dense V[2] = {Dense(V0, "V0", {6}), Dense(V1, "V1", {6})};
  Dense g(gravity, "gravity", {3}), point_(point, "point", {3});
  double dV[6];
  for (int i = 0; i < 6; ++i) dV[i] = (V[1].data[i] - V[0].data[i]) / dt - (i < 3 ? g.data[i] : 0.0);
  NewArray Y({6, 10});
  for (int i = 0; i < 60; ++i) Y.data[i] = 0;
  for (int i = 0; i < 2; ++i) world_regressor<double>(R[i], V[i], dV, point_, 0.5, Y.data);
  return Y.object;
}

// (M, h) with a payload (10) fixed to a body: rotation R, twist V, acceleration A where a = 0, Jacobian J (6,
// nv)
nb::tuple loaded_terms(nb::handle M, nb::handle h, nb::handle R, nb::handle V, nb::handle A, nb::handle J,
                       nb::handle payload, nb::handle gravity) {
  npy_intp nv = length_of(h);
  Dense R_(R, "R", {3, 3}), V_(V, "V", {6}), A_(A, "A", {6}), J_(J, "J", {6, nv});
  Dense pi(payload, "payload", {10}), g(gravity, "gravity", {3});
  NewArray M_({nv, nv}, Dense(M, "M", {nv, nv})), h_({nv}, Dense(h, "h", {nv}));
  add_payload<double>(whole(nv), R_, V_, A_, J_, pi, g, M_.data, h_.data);
  return nb::make_tuple(M_.object, h_.object);
}

// The nearest payload (10) that can exist, its centre within a distance of the origin
nb::object possible_payload(nb::handle payload, double farthest) {
  Dense pi(payload, "payload", {10});
  NewArray found({10});
  make_possible<double>(pi, farthest, found.data);
  return found.object;
}

// (values, vectors) of a symmetric matrix, ascending
nb::tuple eigenvalues_of(nb::handle A) {
  npy_intp n = length_of(A);
  Dense A_(A, "A", {n, n});
  NewArray used({n, n}, A_), values({n}), V({n, n});
  best_tables().control.eigenvalues(used.data, whole(n), values.data, V.data);
  return nb::make_tuple(values.object, V.object);
}

// largest |x_i| w_i
double largest(nb::handle x, nb::handle weight) {
  npy_intp n = length_of(x);
  Dense x_(x, "x", {n}), w(weight, "weight", {n});
  double most = 0;
  for (npy_intp i = 0; i < n; ++i) {
    double size = (x_.data[i] < 0 ? -x_.data[i] : x_.data[i]) * w.data[i];
    if (!(size <= most)) most = size;
  }
  return most;
}

// Whether q and v are plain finite vectors of these lengths: nothing needs to be converted or explained.
bool is_state(nb::handle q, nb::handle v, int nq, int nv) {
  auto* x = static_cast<const double*>(data_of(q, NPY_DOUBLE, {nq}));
  auto* y = static_cast<const double*>(data_of(v, NPY_DOUBLE, {nv}));
  if (!x || !y) return false;
  double sum = 0;
  for (int i = 0; i < nq; ++i) sum += x[i] * 0;
  for (int i = 0; i < nv; ++i) sum += y[i] * 0;
  return sum == 0;
}

}  // namespace

void bind_control(nb::module_& m) {
  m.def("respond", &respond, "M"_a, "h"_a, "J"_a, "gamma"_a, "unit"_a, "row_unit"_a, "columns"_a, "tol"_a,
        nb::sig("def respond(M: object, h: object, J: object, gamma: object, unit: object, row_unit: object, "
                "columns: object, tol: float) -> tuple[NDArray[numpy.float64], ...] | bool | None"));
  m.def("least_inputs", &least_inputs, "J"_a, "wanted"_a, "row_unit"_a, "N"_a, "B"_a, "a0"_a, "unit"_a, "v"_a,
        "columns"_a, "metric"_a.none(), "M"_a.none(), "damping"_a);
  m.def("solve_program", &solve_program, "z0"_a, "H"_a.none(), "A"_a, "lower"_a, "upper"_a, "tol"_a);
  m.def("limit_rows", &limit_rows, "on_lam"_a, "on_u"_a.none(), "lam0"_a, "Lam"_a, "lower"_a, "upper"_a,
        "unknown"_a.none());
  m.def("inputs_within", &inputs_within, "x"_a, "Z"_a, "z"_a.none(), "metric"_a.none(), "R"_a, "lower"_a,
        "upper"_a, "H"_a.none(), "touch"_a, "tol"_a);
  m.def("reach", &reach, "N"_a, "M"_a, "unit"_a, "columns"_a, "metric"_a.none(), "least_feel"_a,
        nb::sig("def reach(N: object, M: object, unit: object, columns: object, metric: object | None, "
                "least_feel: float) -> tuple | bool | None"));
  m.def("descend", &descend, "J"_a, "wanted"_a, "row_unit"_a, "ends"_a, "X"_a, "a0"_a, "unit"_a, "size"_a);
  m.def("payload_regressor", &payload_regressor, "R0"_a, "V0"_a, "R1"_a, "V1"_a, "dt"_a, "gravity"_a,
        "point"_a);
  m.def("loaded_terms", &loaded_terms, "M"_a, "h"_a, "R"_a, "V"_a, "A"_a, "J"_a, "payload"_a, "gravity"_a);
  m.def("possible_payload", &possible_payload, "payload"_a, "farthest"_a);
  m.def("eigenvalues", &eigenvalues_of, "A"_a);
  m.def("largest", &largest, "x"_a, "weight"_a);
  m.def("is_state", &is_state, "q"_a.none(), "v"_a.none(), "nq"_a, "nv"_a);
}

}  // namespace sarrus
