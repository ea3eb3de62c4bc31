#include "call_batches.hpp"

#define SARRUS_IMPORTS_NUMPY
#include "../numpy.hpp"
#include "../user_rows.hpp"

#include "ordinary_calls.hpp"

#include <optional>

namespace sarrus {

using namespace nb::literals;

void import_numpy() {
  if (_import_array() < 0) throw nb::python_error();
}

namespace calls {
namespace {

using In = nb::handle;

// States as Python gives them: q (n, nq), v (n, nv), drive (n, nd, 3), user (n, n_user_rows, 3 + nv).
struct Batch {
  const Kernel& k;
  const ModelD& m;
  bool single;  // one state: q, v and results without the first axis
  npy_intp n;
  Dense q, v, drive, user;

  Batch(const Kernel& kernel, In q_, In v_ = {}, In drive_ = {}, In user_ = {})
      : k(kernel), m(k.m), single(axes_of(q_) == 1), n(single ? 1 : length_of(q_)), q(in(q_, "q", {m.nq})) {
    if (v_) read(calls::v(), v_);
    if (drive_) read(calls::drive(), drive_);
    if (user_) read(calls::user(), user_);
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
  States states() const { return {static_cast<int>(n), q, v, drive, user}; }
  // an entry of the function table, the GIL released for batches
  template <class Function, class... More>
  void run(Function function, const More&... more) const {
    std::optional<nb::gil_scoped_release> free;
    if (!single) free.emplace();
    function(m, states(), more...);
  }

  // An argument: kept as a part of the states, or returned for the kernel
  std::tuple<> read(calls::v, In x) {
    v = in(x, "v", {m.nv});
    return {};
  }
  std::tuple<> read(calls::drive, In x) {
    if (m.nd) drive = Dense(x, "drive", {n, m.nd, 3});
    return {};
  }
  std::tuple<> read(calls::user, In x) {
    if (m.n_user_rows) user = Dense(x, "user", {n, m.n_user_rows, 3 + m.nv});
    return {};
  }
  template <class Kind>
  std::tuple<Dense> read(Kind kind, In x) {
    return {Dense::or_none(x, Kind::name, shape_of(kind))};
  }
  template <auto... sizes>
  Shape shape_of(Array<sizes...>) const {
    return each({size(m, sizes)...});
  }
  std::tuple<int> read(rank_or_all, int rank) { return {rank}; }
  std::tuple<int> read(calls::rank, int rank) {
    if (rank < 0 || rank > m.nc || rank > m.nv) throw nb::index_error("`rank` is not a rank that J can have");
    return {rank};
  }
};

template <class Kind>
auto argument(Kind) {
  return nb::arg(Kind::name);
}
auto argument(drive) { return "drive"_a.none(); }
auto argument(user) { return "user"_a.none(); }
auto argument(outer) { return "outer"_a.none(); }
auto argument(rank_or_all) { return "rank"_a = -1; }

template <class Kind>
using Given = std::conditional_t<std::is_base_of_v<Takes<int>, Kind>, int, In>;

// A method of Kernel, from its line in batch_table.hpp
template <auto entry, class First, class... More, class... Results>
void bind(nb::class_<Kernel>& kernel, const char* name, List<First, More...>, List<Results...>) {
  auto run = [](const Kernel& k, In q, Given<More>... given) {
    Batch b(k, q);
    std::tuple<decltype(b.read(More(), given))...> inputs{b.read(More(), given)...};
    return call(b, k.tables.batches.*entry, std::move(inputs), room(b, Results())...);
  };
  kernel.def(name, run, argument(First()), argument(More())...);
}

void bind_ordinary(nb::class_<Kernel>& kernel) {
#define SARRUS_BIND(name, takes, gives) bind<&BatchTable::name>(kernel, #name, SARRUS_LISTS(takes, gives));
  SARRUS_KERNEL_CALLS(SARRUS_BIND)
  SARRUS_COMMON_CALLS(SARRUS_BIND)
#undef SARRUS_BIND
}

// ---------------------------------------------------------------- by hand

void check_body(const Kernel& k, int body) {
  if (body < 0 || body >= k.m.nb) throw nb::index_error("`body` is not the index of a body");
}

NewArray jacobian(const Kernel& k, In q, int body, In point) {
  check_body(k, body);
  Batch b(k, q);
  Dense place(point, "point", {3});
  NewArray J = b.out({6, b.m.nv});
  b.run(k.tables.batches.jacobian, BodyPoint{body, place}, J);
  return J;
}

// Of a point of a body: place, V, A, J; and R of the body
nb::tuple point(const Kernel& k, In q, In v, int body, In point) {
  check_body(k, body);
  Batch b(k, q, v);
  NewArray x = b.out({3}), V = b.out({6}), A = b.out({6}), J = b.out({6, b.m.nv}), R = b.out({3, 3});
  Dense place(point, "point", {3});
  b.run(k.tables.batches.point, BodyPoint{body, place}, FrameArrays{R, x, V, A}, J);
  return nb::make_tuple(x, V, A, J, R);
}

// (q[B,nq], v[B,nv], gap[B], status[B]): nearest consistent states. user(q, v) gives the user's rows at a
// state; part (nc,) int8 and metric (B, nv, nv) may be None.
nb::tuple project(const Kernel& k, In q, In v, In drive, nb::object user, In part, In metric) {
  Batch b(k, q, v, drive);
  AskUser owner{k.m, user};
  auto* rows = part.is_none() ? nullptr : data_of<signed char>(part, {b.m.nc});
  if (!part.is_none() && !rows) throw nb::value_error("`part` must be int8 of shape (nc,)");
  Dense given = metric.is_none() ? Dense() : b.in(metric, "metric", {b.m.nv, b.m.nv});
  NewArray q1 = b.out({b.m.nq}), v1 = b.out({b.m.nv}), gap = b.out({});
  auto status = b.out<int>({});
  ProjectOptions options = {reinterpret_cast<const unsigned char*>(rows), given,
                            k.m.n_user_rows ? AskUser::at : nullptr, &owner};
  {
    std::optional<nb::gil_scoped_release> free;
    if (!b.single && !k.m.n_user_rows) free.emplace();
    k.tables.batches.project(k.m, b.states(), options, {q1, v1, gap, status});
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
  NewArray found = b.out({b.m.nq}), r = b.out({n});
  auto iterations = b.out<int>({});
  k.tables.poses.close(k.m, b.states(), owner.rows_of_user(), which, {found, r, iterations});
  return nb::make_tuple(found, r, iterations);
}

// whether J, of this rank or (-1) by rank_tol, loses rank at the poses q only; user as in project
New<unsigned char> loses_rank(const Kernel& k, In q, In drive, nb::object user, int rank) {
  Batch b(k, q, {}, drive);
  AskUser owner{k.m, user};
  auto found = b.out<unsigned char>({});
  k.tables.poses.loses_rank(k.m, b.states(), owner.rows_of_user(), rank, found);
  return found;
}

// (da[B,3,nv,nv], dlam[B,3,nc,nv], d(Jv - b)/dq[B,nc,nv], rank[B], status[B]); axis 1: q, v, tau. Without
// multipliers dlam has no rows.
nb::tuple derivatives(const Kernel& k, In q, In v, In tau, In drive, In user, bool dual, bool multipliers) {
  Batch b(k, q, v, drive, user);
  npy_intp nv = b.m.nv, nc = b.m.nc;
  NewArray da = b.out({3, nv, nv}), dlam = b.out({3, multipliers ? nc : 0, nv}), dJv = b.out({nc, nv});
  auto ranks = b.out<int>({}), status = b.out<int>({});
  DerivativeArrays out = {da, multipliers ? dlam.data() : nullptr, dJv, ranks, status};
  b.run(k.tables.batches.derivatives, b.in(tau, "tau", {nv}), dual, out);
  return nb::make_tuple(da, dlam, dJv, ranks, status);
}

}  // namespace
}  // namespace calls

void bind_batches(nb::class_<Kernel>& kernel) {
  calls::bind_ordinary(kernel);
  auto drive = "drive"_a.none(), user = "user"_a.none();
  kernel.def("jacobian", &calls::jacobian, "q"_a, "body"_a, "point"_a)
      .def("point", &calls::point, "q"_a, "v"_a, "body"_a, "point"_a)
      .def("project", &calls::project, "q"_a, "v"_a, drive, "user"_a.none(), "part"_a.none() = nb::none(),
           "metric"_a.none() = nb::none())
      .def("close", &calls::close, "q"_a, drive, "user"_a.none(), "rows"_a, "columns"_a)
      .def("loses_rank", &calls::loses_rank, "q"_a, drive, "user"_a.none(), "rank"_a = -1)
      .def("derivatives", &calls::derivatives, "q"_a, "v"_a, "tau"_a, drive, user, "dual"_a = false,
           "multipliers"_a = true)
      .def_prop_ro("sparse", [](const Kernel& k) { return k.m.sparse; });
}

}  // namespace sarrus
