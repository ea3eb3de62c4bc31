#include "call_batches.hpp"

#define SARRUS_IMPORTS_NUMPY
#include "../numpy.hpp"
#include "../user_rows.hpp"

#include <optional>
#include <tuple>

namespace sarrus {

using namespace nb::literals;

void import_numpy() {
  if (_import_array() < 0) throw nb::python_error();
}

namespace {
namespace call {

using In = nb::handle;

std::tuple<> result(const auto&) { return {}; }
template <class T>
std::tuple<New<T>> result(const New<T>& x) {
  return {x};
}

// States as Python gives them: q (n, nq), v (n, nv), drive (n, nd, 3), user (n, n_user_rows, 3 + nv).
struct Batch {
  const Kernel& k;
  bool single;  // one state: q, v and results without the first axis
  npy_intp n, nq, nv, nc, nb;
  Dense q, v, drive, user;

  Batch(const Kernel& kernel, In q_, In v_ = {}, In drive_ = {}, In user_ = {})
      : k(kernel),
        single(axes_of(q_) == 1),
        n(single ? 1 : length_of(q_)),
        nq(k.m.nq),
        nv(k.m.nv),
        nc(k.m.nc),
        nb(k.m.nb),
        q(in(q_, "q", {nq})) {
    if (v_) v = in(v_, "v", {nv});
    if (drive_ && k.m.nd) drive = Dense(drive_, "drive", {n, k.m.nd, 3});
    if (user_ && k.m.n_user_rows) user = Dense(user_, "user", {n, k.m.n_user_rows, 3 + nv});
  }
  Shape each(std::initializer_list<npy_intp> of_one) const {
    Shape shape = {n};
    if (single) shape.rank = 0;
    for (npy_intp size : of_one) shape.sizes[shape.rank++] = size;
    return shape;
  }
  Dense in(In x, const char* name, std::initializer_list<npy_intp> of_one) const {
    return Dense(x, name, each(of_one));
  }
  template <class T = double>
  New<T> out(std::initializer_list<npy_intp> of_one) const {
    return New<T>(each(of_one));
  }
  // The new arrays among the arguments, filled by an entry of the function table: one, or a tuple of them.
  template <class Function, class... Arguments>
  auto call(Function function, const Arguments&... arguments) const {
    {
      std::optional<nb::gil_scoped_release> free;
      if (!single) free.emplace();
      function(k.m, {static_cast<int>(n), q, v, drive, user}, arguments...);
    }
    auto results = std::tuple_cat(result(arguments)...);
    constexpr size_t count = std::tuple_size_v<decltype(results)>;
    if constexpr (count == 1)
      return std::get<0>(results);
    else if constexpr (count > 1)
      return std::apply([](const auto&... x) { return nb::make_tuple(x...); }, results);
  }
};

auto mass_matrix(const Kernel& k, In q) {
  Batch b(k, q);
  return b.call(k.tables.batches.mass_matrix, b.out({b.nv, b.nv}));
}

auto rnea(const Kernel& k, In q, In v, In a) {
  Batch b(k, q, v);
  return b.call(k.tables.batches.rnea, b.in(a, "a", {b.nv}), b.out({b.nv}));
}

auto energy(const Kernel& k, In q, In v) {
  Batch b(k, q, v);
  return b.call(k.tables.batches.energy, b.out({2}));
}

auto poses(const Kernel& k, In q) {
  Batch b(k, q);
  return b.call(k.tables.batches.poses, b.out({b.nb, 3, 3}), b.out({b.nb, 3}));
}

auto body_motion(const Kernel& k, In q, In v, In a) {
  Batch b(k, q, v);
  return b.call(k.tables.batches.body_motion, b.in(a, "a", {b.nv}), b.out({b.nb, 6}), b.out({b.nb, 6}));
}

// (R, p, V, A) of all bodies, A at zero acceleration of the coordinates
nb::tuple frames(const Kernel& k, In q, In v) {
  Batch b(k, q, v);
  NewArray R = b.out({b.nb, 3, 3}), p = b.out({b.nb, 3}), V = b.out({b.nb, 6}), A = b.out({b.nb, 6});
  b.call(k.tables.batches.frames, FrameArrays{R, p, V, A});
  return nb::make_tuple(R, p, V, A);
}

void check_body(const Kernel& k, int body) {
  if (body < 0 || body >= k.m.nb) throw nb::index_error("`body` is not the index of a body");
}

auto jacobian(const Kernel& k, In q, int body, In point) {
  check_body(k, body);
  Batch b(k, q);
  Dense place(point, "point", {3});
  return b.call(k.tables.batches.jacobian, BodyPoint{body, place}, b.out({6, b.nv}));
}

// Of a point of a body: place, V, A, J; and R of the body
nb::tuple point(const Kernel& k, In q, In v, int body, In point) {
  check_body(k, body);
  Batch b(k, q, v);
  NewArray x = b.out({3}), V = b.out({6}), A = b.out({6}), J = b.out({6, b.nv}), R = b.out({3, 3});
  Dense place(point, "point", {3});
  b.call(k.tables.batches.point, BodyPoint{body, place}, FrameArrays{R, x, V, A}, J.data());
  return nb::make_tuple(x, V, A, J, R);
}

nb::tuple constraints(const Kernel& k, In q, In v, In drive, In user) {
  Batch b(k, q, v, drive, user);
  NewArray phi = b.out({b.nc}), J = b.out({b.nc, b.nv}), rhs = b.out({b.nc}), gamma = b.out({b.nc});
  b.call(k.tables.batches.constraints, RowArrays{phi, J, rhs, gamma});
  return nb::make_tuple(phi, J, rhs, gamma);
}

// phi and J v - b, without J
auto closure(const Kernel& k, In q, In v, In drive, In user) {
  Batch b(k, q, v, drive, user);
  return b.call(k.tables.batches.closure, b.out({b.nc}), b.out({b.nc}));
}

auto row_wrenches(const Kernel& k, In q) {
  Batch b(k, q);
  return b.call(k.tables.batches.row_wrenches, b.out({b.nc, 6}), b.out({k.m.ne, 3}));
}

auto force_wrenches(const Kernel& k, In q, In v) {
  Batch b(k, q, v);
  return b.call(k.tables.batches.force_wrenches, b.out({k.m.nf, 6}), b.out({k.m.nf, 3}));
}

// Friction by load along the coordinates (n, nv) in motions; outer (n, nb, 6) or None
auto bearing_bounds(const Kernel& k, In q, In v, In a, In lam, In outer) {
  Batch b(k, q, v);
  Dense wrenches = Dense::or_none(outer, "outer", b.each({b.nb, 6}));
  return b.call(k.tables.batches.bearing_bounds, b.in(a, "a", {b.nv}), b.in(lam, "lam", {b.nc}), wrenches,
                b.out({b.nv}));
}

// The same of motions under tau
auto motion_bounds(const Kernel& k, In q, In v, In a, In tau, In drive, In user) {
  Batch b(k, q, v, drive, user);
  return b.call(k.tables.batches.motion_bounds, b.in(a, "a", {b.nv}), b.in(tau, "tau", {b.nv}),
                b.out({b.nv}));
}

auto sliding_friction(const Kernel& k, In q, In v, In tau, In drive, In user) {
  Batch b(k, q, v, drive, user);
  return b.call(k.tables.batches.sliding_friction, b.in(tau, "tau", {b.nv}), b.out({b.nv}));
}

// (J', gamma') along v, of a model without user rows
auto row_rates(const Kernel& k, In q, In v, In drive) {
  if (k.m.n_user_rows && k.m.u_row[0] >= 0)
    throw nb::value_error("rows of the user's have no rates in the kernel");
  Batch b(k, q, v, drive);
  return b.call(k.tables.batches.row_rates, b.out({b.nc, b.nv}), b.out({b.nc}));
}

auto pivots(const Kernel& k, In q, In v, In drive, In user, int rank) {
  if (rank < 0 || rank > k.m.nc || rank > k.m.nv)
    throw nb::index_error("`rank` is not a rank that J can have");
  Batch b(k, q, v, drive, user);
  return b.call(k.tables.batches.pivots, rank, b.out({}));
}

nb::tuple terms(const Kernel& k, In q, In v, In drive, In user) {
  Batch b(k, q, v, drive, user);
  NewArray M = b.out({b.nv, b.nv}), h = b.out({b.nv}), phi = b.out({b.nc}), J = b.out({b.nc, b.nv});
  NewArray rhs = b.out({b.nc}), gamma = b.out({b.nc});
  b.call(k.tables.batches.terms, M.data(), h.data(), RowArrays{phi, J, rhs, gamma});
  return nb::make_tuple(M, h, phi, J, rhs, gamma);
}

auto integrate(const Kernel& k, In q, In dv) {
  Batch b(k, q);
  return b.call(k.tables.batches.integrate, b.in(dv, "dv", {b.nv}), b.out({b.nq}));
}

auto difference(const Kernel& k, In q0, In q1) {
  Batch b(k, q0);
  return b.call(k.tables.batches.difference, b.in(q1, "q1", {b.nq}), b.out({b.nv}));
}

nb::tuple forward(const Kernel& k, In q, In v, In tau, In drive, In user, int rank) {
  Batch b(k, q, v, drive, user);
  NewArray a = b.out({b.nv}), force = b.out({b.nv}), lam = b.out({b.nc});
  auto unique = b.out<unsigned char>({b.nc});
  auto ranks = b.out<int>({}), status = b.out<int>({});
  b.call(k.tables.batches.forward, b.in(tau, "tau", {b.nv}), rank,
         MotionArrays{a, force, lam, unique, ranks, status});
  return nb::make_tuple(a, force, lam, unique, ranks, status);
}

// (lam, which are unique) of motions
auto multipliers(const Kernel& k, In q, In v, In a, In tau, In drive, In user) {
  Batch b(k, q, v, drive, user);
  return b.call(k.tables.batches.multipliers, b.in(a, "a", {b.nv}), b.in(tau, "tau", {b.nv}), b.out({b.nc}),
                b.out<unsigned char>({b.nc}));
}

// (q[B,nq], v[B,nv], gap[B], status[B]): nearest consistent states. user(q, v) gives the user's rows at a
// state; part (nc,) int8 and metric (B, nv, nv) may be None.
nb::tuple project(const Kernel& k, In q, In v, In drive, nb::object user, In part, In metric) {
  Batch b(k, q, v, drive);
  AskUser owner{k.m, user};
  auto* rows = part.is_none() ? nullptr : data_of<signed char>(part, {b.nc});
  if (!part.is_none() && !rows) throw nb::value_error("`part` must be int8 of shape (nc,)");
  Dense given = metric.is_none() ? Dense() : b.in(metric, "metric", {b.nv, b.nv});
  NewArray q1 = b.out({b.nq}), v1 = b.out({b.nv}), gap = b.out({});
  auto status = b.out<int>({});
  ProjectOptions options = {reinterpret_cast<const unsigned char*>(rows), given,
                            k.m.n_user_rows ? AskUser::at : nullptr, &owner};
  {
    std::optional<nb::gil_scoped_release> free;
    if (!b.single && !k.m.n_user_rows) free.emplace();
    k.tables.batches.project(k.m, {static_cast<int>(b.n), b.q, b.v, b.drive, nullptr}, options,
                             {q1, v1, gap, status});
  }
  return nb::make_tuple(q1, v1, gap, status);
}

// (q, r, iterations): poses at which the rows close, moving the coordinates (both int32); user as in project
nb::tuple close(const Kernel& k, In q, In drive, nb::object user, In rows, In columns) {
  Batch b(k, q, {}, drive);
  npy_intp n = length_of(rows), wide = length_of(columns);
  Closed which = {data_of<int>(rows, {n}), data_of<int>(columns, {wide}), static_cast<int>(n),
                  static_cast<int>(wide)};
  if (!which.rows || !which.columns) throw nb::value_error("`rows` and `columns` must be int32");
  AskUser owner{k.m, user};
  NewArray found = b.out({b.nq}), r = b.out({n});
  auto iterations = b.out<int>({});
  States states = {static_cast<int>(b.n), b.q, nullptr, b.drive, nullptr};
  k.tables.poses.close(k.m, states, owner.rows_of_user(), which, {found, r, iterations});
  return nb::make_tuple(found, r, iterations);
}

// whether J, of this rank or (-1) by rank_tol, loses rank at the poses q only; user as in project
New<unsigned char> loses_rank(const Kernel& k, In q, In drive, nb::object user, int rank) {
  Batch b(k, q, {}, drive);
  AskUser owner{k.m, user};
  auto found = b.out<unsigned char>({});
  States states = {static_cast<int>(b.n), b.q, nullptr, b.drive, nullptr};
  k.tables.poses.loses_rank(k.m, states, owner.rows_of_user(), rank, found);
  return found;
}

// (da[B,3,nv,nv], dlam[B,3,nc,nv], d(Jv - b)/dq[B,nc,nv], rank[B], status[B]); axis 1: q, v, tau. Without
// multipliers dlam has no rows.
nb::tuple derivatives(const Kernel& k, In q, In v, In tau, In drive, In user, bool dual, bool multipliers) {
  Batch b(k, q, v, drive, user);
  NewArray da = b.out({3, b.nv, b.nv}), dlam = b.out({3, multipliers ? b.nc : 0, b.nv});
  NewArray dJv = b.out({b.nc, b.nv});
  auto ranks = b.out<int>({}), status = b.out<int>({});
  b.call(k.tables.batches.derivatives, b.in(tau, "tau", {b.nv}), dual,
         DerivativeArrays{da, multipliers ? dlam.data() : nullptr, dJv, ranks, status});
  return nb::make_tuple(da, dlam, dJv, ranks, status);
}

// One plain state of a model without drives and user rows, and its forces; anything else is not usual.
struct UsualState {
  const double *q, *v, *tau;
  UsualState(const Kernel& k, In q_, In v_, In tau_)
      : q(finite_vector(q_, k.m.nq)), v(finite_vector(v_, k.m.nv)), tau(finite_vector(tau_, k.m.nv)) {}
  bool usual(const Kernel& k) const { return q && v && tau && !k.m.nd && !k.m.n_user_rows; }
  States states() const { return {1, q, v, nullptr, nullptr}; }
};

// The acceleration of one usual state. None for anything else, and where it is not finite or the inertia not
// positive definite: the caller then takes the slower path, which checks each argument and explains what is
// wrong.
nb::object acceleration(const Kernel& k, In q, In v, In tau) {
  UsualState x(k, q, v, tau);
  if (!x.usual(k)) return nb::none();
  NewArray a({k.m.nv});
  int rank, status;
  k.tables.batches.forward(k.m, x.states(), x.tau, -1, {a, nullptr, nullptr, nullptr, &rank, &status});
  return status || !finite(a, k.m.nv) ? nb::none() : a.object;
}
}  // namespace call
}  // namespace

void bind_batches(nb::class_<Kernel>& kernel) {
  auto drive = "drive"_a.none(), user = "user"_a.none();
  kernel.def("mass_matrix", &call::mass_matrix, "q"_a)
      .def("rnea", &call::rnea, "q"_a, "v"_a, "a"_a)
      .def("energy", &call::energy, "q"_a, "v"_a)
      .def("poses", &call::poses, "q"_a)
      .def("body_motion", &call::body_motion, "q"_a, "v"_a, "a"_a)
      .def("frames", &call::frames, "q"_a, "v"_a)
      .def("jacobian", &call::jacobian, "q"_a, "body"_a, "point"_a)
      .def("point", &call::point, "q"_a, "v"_a, "body"_a, "point"_a)
      .def("constraints", &call::constraints, "q"_a, "v"_a, drive, user)
      .def("closure", &call::closure, "q"_a, "v"_a, drive, user)
      .def("row_wrenches", &call::row_wrenches, "q"_a)
      .def("force_wrenches", &call::force_wrenches, "q"_a, "v"_a)
      .def("bearing_bounds", &call::bearing_bounds, "q"_a, "v"_a, "a"_a, "lam"_a, "outer"_a.none())
      .def("motion_bounds", &call::motion_bounds, "q"_a, "v"_a, "a"_a, "tau"_a, drive, user)
      .def("sliding_friction", &call::sliding_friction, "q"_a, "v"_a, "tau"_a, drive, user)
      .def("row_rates", &call::row_rates, "q"_a, "v"_a, drive)
      .def("pivots", &call::pivots, "q"_a, "v"_a, drive, user, "rank"_a)
      .def("terms", &call::terms, "q"_a, "v"_a, drive, user)
      .def("state_terms", &call::terms, "q"_a, "v"_a, drive, user)
      .def("state_frames", &call::frames, "q"_a, "v"_a)
      .def("state_point", &call::point, "q"_a, "v"_a, "body"_a, "point"_a)
      .def("state_jacobian", &call::jacobian, "q"_a, "body"_a, "point"_a)
      .def("integrate", &call::integrate, "q"_a, "dv"_a)
      .def("difference", &call::difference, "q0"_a, "q1"_a)
      .def("forward", &call::forward, "q"_a, "v"_a, "tau"_a, drive, user, "rank"_a = -1)
      .def("multipliers", &call::multipliers, "q"_a, "v"_a, "a"_a, "tau"_a, drive, user)
      .def("project", &call::project, "q"_a, "v"_a, drive, "user"_a.none(), "part"_a.none() = nb::none(),
           "metric"_a.none() = nb::none())
      .def("close", &call::close, "q"_a, drive, "user"_a.none(), "rows"_a, "columns"_a)
      .def("loses_rank", &call::loses_rank, "q"_a, drive, "user"_a.none(), "rank"_a = -1)
      .def("derivatives", &call::derivatives, "q"_a, "v"_a, "tau"_a, drive, user, "dual"_a = false,
           "multipliers"_a = true)
      .def("acceleration", &call::acceleration, "q"_a.none(), "v"_a.none(), "tau"_a.none(),
           nb::sig(
               "def acceleration(self, q: object, v: object, tau: object) -> NDArray[numpy.float64] | None"));
}

}  // namespace sarrus
