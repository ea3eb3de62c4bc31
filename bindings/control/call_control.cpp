#include "call_control.hpp"

#include "../numpy.hpp"

#include <optional>
#include <unordered_map>

namespace sarrus {

using namespace nb::literals;

namespace {
namespace call {

int whole(npy_intp n) { return static_cast<int>(n); }

// C of u = C x: None, (n,) or (n, n)
struct Metric {
  bool diagonal;
  Dense C;
  Metric(nb::handle x, npy_intp n)
      : diagonal(length_of(x, 1) == 0), C(Dense::or_none(x, "metric", diagonal ? Shape{n} : Shape{n, n})) {}
  operator InputMetric<double>() const { return {C, diagonal}; }
};

nb::list numbers(const int* from, int count) {
  nb::list found;
  for (int i = 0; i < count; ++i) found.append(from[i]);
  return found;
}

const char* word(ProgramStatus status) {
  const char* words[] = {"optimal", "infeasible", "not converged", "inside"};
  return words[status];
}

// A literal as an interned string, made once: names are looked up at every control step.
nb::handle interned(const char* literal) {
  static std::unordered_map<const char*, PyObject*> known;
  PyObject*& found = known[literal];
  if (!found) found = PyUnicode_InternFromString(literal);
  return found;
}

nb::object part(nb::handle of, const char* name) { return nb::getattr(of, interned(name)); }

// Results by name, as name, value, name, value, ...: keywords of the class that Python makes of them.
template <class... Parts>
nb::dict named(const Parts&... parts) {
  nb::dict found;
  auto add = [&](auto& self, const char* name, const auto& value, const auto&... more) -> void {
    nb::object object = nb::cast(value);
    if (PyDict_SetItem(found.ptr(), interned(name).ptr(), object.ptr())) throw nb::python_error();
    if constexpr (sizeof...(more) > 0) self(self, more...);
  };
  add(add, parts...);
  return found;
}

// Rows J a = wanted of outputs and their units: (k, nv), (k), (k)
struct TaskArrays {
  Dense J, wanted, unit;
  TaskRows<double> view;
  TaskArrays(nb::handle J_, nb::handle wanted_, nb::handle unit_, npy_intp nv)
      : J(J_, "J", {length_of(J_), nv}),
        wanted(wanted_, "wanted", {length_of(J_)}),
        unit(unit_, "row_unit", {length_of(J_)}),
        view{whole(length_of(J_)), J, wanted, unit} {}
};

// A Response of dynamics/input_response.py
struct ResponseArrays {
  npy_intp nv, n, dof;
  Dense N, B, a0, unit, M;
  ResponseView<double> view;
  explicit ResponseArrays(nb::handle r) : ResponseArrays(r, part(r, "N"), part(r, "B")) {}
  ResponseArrays(nb::handle r, nb::handle N_, nb::handle B_)
      : nv(length_of(N_)),
        n(length_of(B_, 1)),
        dof(length_of(N_, 1)),
        N(N_, "N", {nv, dof}),
        B(B_, "B", {nv, n}),
        a0(part(r, "a0"), "a0", {nv}),
        unit(part(part(r, "units"), "unit"), "unit", {nv}),
        M(part(part(r, "terms"), "M"), "M", {nv, nv}),
        view{whole(nv), whole(n), whole(dof),
             N,         B,        a0,
             unit,      M,        indices(part(r, "columns"), "columns", n, nv)} {}
};

// Of Terms and Units (dynamics/terms.py): ("found", maps), ("rates needed", {}) or ("no inertia", {})
nb::tuple input_response(nb::handle terms, nb::handle units, nb::handle columns, double rank_tol,
                         nb::handle v, nb::handle rates) {
  nb::object h = part(terms, "h"), J = part(terms, "J");
  npy_intp nv = length_of(h), nc = length_of(J), nu = length_of(columns);
  Dense M_(part(terms, "M"), "M", {nv, nv}), h_(h, "h", {nv}), J_(J, "J", {nc, nv});
  Dense gamma_(part(terms, "gamma"), "gamma", {nc}), unit_(part(units, "unit"), "unit", {nv});
  Dense row_unit_(part(units, "row_unit"), "row_unit", {nc});
  nb::object rate_J = nb::none(), rate_gamma = nb::none();
  if (!rates.is_none()) rate_J = rates[0], rate_gamma = rates[1];
  Dense v_ = Dense::or_none(v, "v", {nv}), rate_J_ = Dense::or_none(rate_J, "rate_J", {nc, nv});
  Dense rate_gamma_ = Dense::or_none(rate_gamma, "rate_gamma", {nc});
  DenseTerms<double> d{};
  d.m.nv = whole(nv), d.m.nc = whole(nc), d.m.unit = unit_, d.m.row_unit = row_unit_,
  d.m.rank_tol = &rank_tol;
  d.M = M_, d.h = h_, d.J = J_, d.gamma = gamma_, d.nu = whole(nu);
  d.columns = indices(columns, "columns", nu, nv);
  d.v = v_, d.rate_J = rate_J_, d.rate_gamma = rate_gamma_;
  NewArray a0({nv}), B({nv, nu}), lam0({nc}), Lam({nc, nu}), P({nv, nv}), bound({nv}), per_force({nc, nv});
  New<unsigned char> unique({nc});
  InputResponse<double> found{a0, B, lam0, Lam, P, bound, per_force, unique, nullptr, 0, 0};
  ResponseStatus status = best_tables().control.response(d, found);
  if (status != RESPONSE_FOUND)
    return nb::make_tuple(status == RATES_NEEDED ? "rates needed" : "no inertia", nb::dict());
  return nb::make_tuple(
      "found", named("a0", a0, "B", B, "lam0", lam0, "Lam", Lam, "N", NewArray({nv, found.dof}, found.N),
                     "rank", found.rank, "inverse_inertia", P, "prescribed", bound, "lam_per_force",
                     per_force, "lam_unique", unique, "terms", terms, "units", units, "columns", columns));
}

nb::dict least_norm_inputs(nb::handle response, nb::handle J, nb::handle wanted, nb::handle row_unit,
                           nb::handle v, nb::handle metric, double damping, bool by_mass,
                           double min_controllability) {
  ResponseArrays r(response);
  TaskArrays task(J, wanted, row_unit, r.nv);
  Dense v_(v, "v", {r.nv});
  Metric C(metric, r.n);
  LeastNormSolution<double> found =
      best_tables().control.least_norm({r.view, task.view, C, v_, damping, by_mass, min_controllability});
  npy_intp open = found.rank < 0 ? 0 : r.n - found.rank;
  return named("G", NewArray({found.rows, r.n}, found.G), "g", NewArray({found.rows}, found.g), "x",
               NewArray({r.n}, found.x), "Z", NewArray({r.n, open}, found.Z), "rank", found.rank, "damped",
               found.damped, "uncontrollable", whole(r.dof) - found.controllable);
}

nb::dict solve_program(nb::handle z0, nb::handle H, nb::handle A, nb::handle lower, nb::handle upper,
                       double tol) {
  npy_intp n = length_of(z0), m = length_of(lower);
  Dense z0_(z0, "z0", {n}), A_(A, "A", {m, n}), lower_(lower, "lower", {m}), upper_(upper, "upper", {m});
  Dense H_ = Dense::or_none(H, "H", {n, n});
  ProgramSolution<double> found =
      best_tables().control.program({whole(n), whole(m), z0_, H_, A_, lower_, upper_, tol});
  return named("status", word(found.status), "z", NewArray({n}, found.z), "active",
               numbers(found.active, found.count), "iterations", found.iterations);
}

// The same with cones |(y_0, y_1)| <= y_2, y = R z + at: R (cones, 3, n), at (cones, 3)
nb::dict solve_cone_program(nb::handle z0, nb::handle H, nb::handle A, nb::handle lower, nb::handle upper,
                            nb::handle R, nb::handle at, double tol) {
  npy_intp n = length_of(z0), m = length_of(lower), count = length_of(at);
  Dense z0_(z0, "z0", {n}), A_(A, "A", {m, n}), lower_(lower, "lower", {m}), upper_(upper, "upper", {m});
  Dense H_ = Dense::or_none(H, "H", {n, n}), R_(R, "R", {count, 3, n}), at_(at, "at", {count, 3});
  NewArray along({count, 2});
  std::fill_n(along.data(), 2 * count, 0.0);
  ProgramSolution<double> found = best_tables().control.cone_program(
      {whole(n), whole(m), z0_, H_, A_, lower_, upper_, tol}, {whole(count), R_, at_, along.data()});
  return named("status", word(found.status), "z", NewArray({n}, found.z), "iterations", found.iterations);
}

// status "inside": z0 satisfies all rows and nothing had to be solved
nb::dict limited_inputs(nb::handle x, nb::handle Z, nb::handle z0, nb::handle metric, nb::handle R,
                        nb::handle lower, nb::handle upper, nb::handle H, double touch, double tol) {
  npy_intp n = length_of(x), open = length_of(Z, 1), m = length_of(lower);
  Dense x_(x, "x", {n}), Z_(Z, "Z", {n, open}), R_(R, "R", {m, n});
  Dense lower_(lower, "lower", {m}), upper_(upper, "upper", {m});
  Dense z0_ = Dense::or_none(z0, "z0", {open}), H_ = Dense::or_none(H, "H", {open, open});
  Metric C(metric, n);
  LimitedSolution<double> found = best_tables().control.limited(
      {whole(n), whole(open), whole(m), x_, Z_, z0_, C, R_, lower_, upper_, H_, touch, tol});
  return named("status", word(found.status), "x", NewArray({n}, found.x), "u", NewArray({n}, found.u), "z",
               NewArray({open}, found.z), "active", numbers(found.active, found.count), "iterations",
               found.iterations);
}

// None where the inertia is not positive definite
nb::object controllable_basis(nb::handle response, nb::handle metric, double min_controllability) {
  ResponseArrays r(response);
  Metric C(metric, r.n);
  ControllableBasis<double> found = best_tables().control.controllable({r.view, C, min_controllability});
  if (!found.inertia) return nb::none();
  npy_intp n = found.r < 0 ? 0 : found.r;
  return named("E", NewArray({r.nv, n}, found.E), "to_x", NewArray({r.n, n}, found.to_x), "internal",
               NewArray({r.n, r.n - n}, found.internal), "size", found.size, "dof", r.dof, "finite",
               found.r >= 0);
}

nb::dict solve_priorities(nb::handle response, nb::handle J, nb::handle wanted, nb::handle row_unit,
                          nb::handle ends, nb::handle damping, nb::handle E, double size, double rank_tol) {
  ResponseArrays a(response);
  TaskArrays task(J, wanted, row_unit, a.nv);
  npy_intp k = length_of(J), r = length_of(E, 1), levels = length_of(ends);
  Dense E_(E, "E", {a.nv, r}), damping_(damping, "damping", {levels});
  PrioritySolution<double> found =
      best_tables().control.priorities({a.view, task.view, whole(levels), whole(r),
                                        indices(ends, "ends", levels, k + 1), damping_, E_, size, rank_tol});
  nb::list left;
  for (npy_intp i = 0; i < levels; ++i)
    left.append(NewArray({found.open[i], found.open[i + 1]}, found.left + i * r * r));
  return named("A", NewArray({k, r}, found.A), "b", NewArray({k}, found.b), "zero",
               NewArray({levels}, found.zero), "s", NewArray({r}, found.s), "Z",
               NewArray({r, found.open[levels]}, found.Z), "left", left, "damped",
               NewArray({levels}, found.damped), "finite", found.finite);
}

nb::dict solve_level(nb::handle A, nb::handle b, nb::handle s, nb::handle Z, double zero, double damping) {
  npy_intp k = length_of(b), r = length_of(s), open = length_of(Z, 1);
  Dense A_(A, "A", {k, r}), b_(b, "b", {k}), s_(s, "s", {r}), Z_(Z, "Z", {r, open});
  LevelSolution<double> found =
      best_tables().control.level({whole(k), whole(r), whole(open), A_, b_, s_, Z_, zero, damping});
  npy_intp rank = found.rank < 0 ? 0 : found.rank;
  return named("y", NewArray({open}, found.y), "values", NewArray({rank}, found.values), "used",
               NewArray({open, rank}, found.used), "left", NewArray({open, open - rank}, found.left),
               "damped", found.damped, "finite", found.rank >= 0);
}

// (values, vectors) of a symmetric matrix, ascending
nb::tuple eigenvalues_of(nb::handle A) {
  npy_intp n = length_of(A);
  Dense A_(A, "A", {n, n});
  NewArray used({n, n}, A_), values({n}), V({n, n});
  best_tables().control.eigenvalues(used, whole(n), values, V);
  return nb::make_tuple(values, V);
}

// largest |x_i| w_i
double largest(nb::handle x, nb::handle weight) {
  npy_intp n = length_of(x);
  Dense x_(x, "x", {n}), w(weight, "weight", {n});
  double most = 0;
  for (npy_intp i = 0; i < n; ++i) {
    double size = (x_[i] < 0 ? -x_[i] : x_[i]) * w[i];
    if (!(size <= most)) most = size;
  }
  return most;
}

// Whether q and v are plain finite vectors of these lengths: nothing needs to be converted or explained.
bool is_state(nb::handle q, nb::handle v, int nq, int nv) {
  return finite_vector(q, nq) && finite_vector(v, nv);
}

}  // namespace call
}  // namespace

void bind_control(nb::module_& m) {
  auto only = nb::kw_only();
  m.def("input_response", &call::input_response, "terms"_a, "units"_a, "columns"_a, "rank_tol"_a,
        "v"_a.none(), "rates"_a.none());
  m.def("least_norm_inputs", &call::least_norm_inputs, "response"_a, "J"_a, "wanted"_a, "row_unit"_a, "v"_a,
        only, "metric"_a.none(), "damping"_a, "by_mass"_a, "min_controllability"_a);
  m.def("solve_program", &call::solve_program, only, "z0"_a, "H"_a.none(), "A"_a, "lower"_a, "upper"_a,
        "tol"_a);
  m.def("solve_cone_program", &call::solve_cone_program, only, "z0"_a, "H"_a.none(), "A"_a, "lower"_a,
        "upper"_a, "R"_a, "at"_a, "tol"_a);
  m.def("limited_inputs", &call::limited_inputs, only, "x"_a, "Z"_a, "z0"_a.none(), "metric"_a.none(), "R"_a,
        "lower"_a, "upper"_a, "H"_a.none(), "touch"_a, "tol"_a);
  m.def("controllable_basis", &call::controllable_basis, "response"_a, "metric"_a.none(),
        "min_controllability"_a,
        nb::sig("def controllable_basis(response: object, metric: object | None, min_controllability: float) "
                "-> dict | None"));
  m.def("solve_priorities", &call::solve_priorities, "response"_a, "J"_a, "wanted"_a, "row_unit"_a, only,
        "ends"_a, "damping"_a, "E"_a, "size"_a, "rank_tol"_a);
  m.def("solve_level", &call::solve_level, only, "A"_a, "b"_a, "s"_a, "Z"_a, "zero"_a, "damping"_a);
  m.def("eigenvalues", &call::eigenvalues_of, "A"_a);
  m.def("largest", &call::largest, "x"_a, "weight"_a);
  m.def("is_state", &call::is_state, "q"_a.none(), "v"_a.none(), "nq"_a, "nv"_a);
}

}  // namespace sarrus
