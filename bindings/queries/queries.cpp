#include "../batches/ordinary_calls.hpp"
#include "../contacts/call_contacts.hpp"
#include "../user_rows.hpp"
#include "arguments.hpp"

#include <nanobind/stl/optional.h>

namespace sarrus {

using namespace nb::literals;

namespace calls {
namespace {

template <class Kind>
constexpr bool ARE_POSITIONS = std::is_base_of_v<Positions, Kind> || std::is_base_of_v<Array<nq>, Kind>;

// What of the next argument the kernel gets
using Next = const double* const*;
std::tuple<> pass(Takes<>, Next& next) { return ++next, std::tuple<>(); }
std::tuple<const double*> pass(Takes<const double*>, Next& next) { return {*next++}; }

template <class>
using Given = In;

// A method of Queries, from its line in batch_table.hpp
template <auto entry, class... Inputs, class... Results>
void bind(nb::class_<Queries>& queries, const char* name, List<Inputs...>, List<Results...>) {
  auto run = [](const Queries& s, Given<Inputs>... given) {
    CheckedArguments c(s, {Argument{given, Inputs::name, ARE_POSITIONS<Inputs>}...});
    Next next = c.x.data();
    std::tuple<typename Inputs::Passed...> inputs{pass(Inputs(), next)...};
    return call(c, s.k.tables.batches.*entry, inputs, room(c, Results())...);
  };
  queries.def(name, run, nb::arg(Inputs::name).none()...);
}

void bind_ordinary(nb::class_<Queries>& queries) {
#define SARRUS_BIND(name, takes, gives) bind<&BatchTable::name>(queries, #name, SARRUS_LISTS(takes, gives));
  SARRUS_QUERY_CALLS(SARRUS_BIND)
  SARRUS_COMMON_CALLS(SARRUS_BIND)
#undef SARRUS_BIND
}

}  // namespace
}  // namespace calls

namespace {
namespace query {

// Kinetic and potential energy: two numbers, or arrays of the batch
nb::tuple energy(const Queries& s, In q, In v) {
  CheckedArguments c(s, {{q, "q", true}, {v, "v"}});
  PerState<double> kinetic(c), potential(c);
  Room<double> both(2 * c.count);
  c.run(s.k.tables.batches.energy, both);
  for (npy_intp i = 0; i < c.count; ++i)
    kinetic.data()[i] = both[2 * i], potential.data()[i] = both[2 * i + 1];
  return nb::make_tuple(kinetic.object(), potential.object());
}

// (p, R) of a body, read-only
nb::tuple pose(const Queries& s, In q, In body) {
  CheckedArguments c(s, {{q, "q", true}});
  NewArray p = c.out({3}), R = c.out({3, 3});
  c.run(s.k.tables.batches.pose, s.body(body), R, p);
  for (auto* x : {&p, &R}) PyArray_CLEARFLAGS(as_array(x->object), NPY_ARRAY_WRITEABLE);
  return nb::make_tuple(p, R);
}

// A point of a body as a call names it, and how its motion is to be expressed.
struct Point {
  double zero[3] = {0, 0, 0};
  nb::object kept;
  BodyPoint at;

  Point(const Queries& s, In body, In point, In frame, bool world = true) {
    const char* names[] = {"world_aligned", "local", "world"};
    at = {s.body(body), zero, -1};
    for (int i = 0; i < (world ? 3 : 2) && PyUnicode_Check(frame.ptr()); ++i)
      if (PyUnicode_CompareWithASCIIString(frame.ptr(), names[i]) == 0) at.as = i;
    if (at.as < 0) s.checks.attr("frame")(frame, world);
    if (point.is_none()) return;
    kept = nb::borrow(point);
    at.point = finite_vector(point, 3);
    if (at.point) return;
    kept = s.checks.attr("point")(point);
    at.point = data_of<double>(kept, {3});
  }
};

NewArray jacobian(const Queries& s, In q, In body, In point, In frame) {
  CheckedArguments c(s, {{q, "q", true}});
  Point p(s, body, point, frame);
  NewArray out = c.out({6, c.m.nv});
  c.run(s.k.tables.batches.jacobian, p.at, out);
  return out;
}

NewArray velocity(const Queries& s, In q, In v, In body, In point, In frame) {
  CheckedArguments c(s, {{q, "q", true}, {v, "v"}});
  Point p(s, body, point, frame);
  NewArray out = c.out({6});
  c.run(s.k.tables.batches.point_motion, nullptr, p.at, out, nullptr);
  return out;
}

NewArray body_acceleration(const Queries& s, In q, In v, In a, In body, In point, In frame) {
  CheckedArguments c(s, {{q, "q", true}, {v, "v"}, {a, "a"}});
  Point p(s, body, point, frame, false);
  NewArray out = c.out({6});
  c.run(s.k.tables.batches.point_motion, c.x[2], p.at, nullptr, out);
  return out;
}

nb::any terms(const Queries& s, In type, In q, In v, In t, In evaluator) {
  CheckedArguments c(s, {{q, "q", true}, {v, "v"}});
  RowValues rows(c, evaluator, t);
  npy_intp nv = c.m.nv, nc = c.m.nc;
  NewArray M = c.out({nv, nv}), h = c.out({nv}), phi = c.out({nc}), J = c.out({nc, nv});
  NewArray b = c.out({nc}), gamma = c.out({nc});
  c.run_on(s.k.tables.batches.terms, rows.drive, rows.user, M, h, RowArrays{phi, J, b, gamma});
  static const Fields fields = {"M", "h", "phi", "J", "b", "gamma"};
  return made(type, fields, {M.object, h.object, phi.object, J.object, b.object, gamma.object});
}

// None counts as no force
CheckedArguments with_force(const Queries& s, In q, In v, In tau) {
  if (!tau.is_none()) return CheckedArguments(s, {{q, "q", true}, {v, "v"}, {tau, "tau"}});
  CheckedArguments c(s, {{q, "q", true}, {v, "v"}});
  c.rest(2);
  return c;
}

bool moves(const CheckedArguments& c, const double* a, const int* status) {
  return std::all_of(status, status + c.count, [](int x) { return x == 0; }) && finite(a, c.count * c.m.nv);
}

// The acceleration; None where there is none
std::optional<NewArray> acceleration(const Queries& s, In q, In v, In tau, In t, In evaluator) {
  CheckedArguments c = with_force(s, q, v, tau);
  RowValues rows(c, evaluator, t);
  NewArray a = c.out({c.m.nv});
  New<int> rank({c.count}), status({c.count});
  MotionArrays out = {a, nullptr, nullptr, nullptr, rank, status};
  c.run_on(s.k.tables.batches.forward, rows.drive, rows.user, c.x[2], -1, out);
  return moves(c, a, status) ? std::optional(a) : std::nullopt;
}

// A Motion; None where there is no acceleration
nb::any forward(const Queries& s, In type, In q, In v, In tau, In t, In evaluator) {
  CheckedArguments c = with_force(s, q, v, tau);
  RowValues rows(c, evaluator, t);
  NewArray a = c.out({c.m.nv}), force = c.out({c.m.nv}), lam = c.out({c.m.nc});
  auto unique = c.out<unsigned char>({c.m.nc});
  New<int> rank(c.batch.rank ? c.batch : Shape{1}), status({c.count});
  MotionArrays out = {a, force, lam, unique, rank, status};
  c.run_on(s.k.tables.batches.forward, rows.drive, rows.user, c.x[2], -1, out);
  if (!moves(c, a, status)) return nb::borrow<nb::any>(Py_None);
  nb::object ranks = c.batch.rank ? rank.object : nb::int_(rank.data()[0]);
  static const Fields fields = {"a", "constraint_force", "lam", "lam_unique", "rank", "_q", "_v", "_model"};
  NewArray pose = c.copy(0, c.m.nq), speed = c.copy(1, c.m.nv);
  return made(type, fields,
              {a.object, force.object, lam.object, unique.object, ranks, pose.object, speed.object, s.model});
}

// (q, v, gap [m], status) of the consistent states nearest to the given ones; v None is rest
nb::tuple project(const Queries& s, In q, In v, In t, In evaluator) {
  CheckedArguments c =
      v.is_none() ? CheckedArguments(s, {{q, "q", true}}) : CheckedArguments(s, {{q, "q", true}, {v, "v"}});
  if (v.is_none()) c.rest(1);
  double time = s.time(t);
  Dense drive;
  if (c.m.nd) drive = Dense(evaluator.attr("drive")(time, c.count), "drive", {c.count, c.m.nd, 3});
  AskUser owner{c.m, nb::none()};
  if (c.m.n_user_rows) owner.rows = evaluator.attr("rows_at")(time);
  NewArray q1 = c.out({c.m.nq}), v1 = c.out({c.m.nv}), gap = c.out({});
  auto status = c.out<int>({});
  ProjectOptions options = {nullptr, nullptr, c.m.n_user_rows ? AskUser::at : nullptr, &owner};
  ProjectedArrays out = {q1, v1, gap, status};
  if (c.m.n_user_rows)
    s.k.tables.batches.project(c.m, {static_cast<int>(c.count), c.x[0], c.x[1], drive, nullptr}, options,
                               out);
  else
    c.run_on(s.k.tables.batches.project, drive, nullptr, options, out);
  for (npy_intp i = 0; i < c.count; ++i) gap.data()[i] *= c.m.length[0];
  if (c.batch.rank) return nb::make_tuple(q1, v1, gap, status);
  return nb::make_tuple(q1, v1, gap.data()[0], status.data()[0]);
}

}  // namespace query
}  // namespace

void bind_queries(nb::module_& m) {
  auto type = "type"_a;
  auto q = "q"_a.none(), v = "v"_a.none(), a = "a"_a.none(), tau = "tau"_a.none(), body = "body"_a.none();
  auto point = "point"_a.none(), frame = "frame"_a.none(), t = "t"_a.none(), evaluator = "evaluator"_a.none();
  nb::class_<Queries> queries(m, "Queries");
  queries.def(nb::init<nb::object, nb::object>(), "kernel"_a, "checks"_a)
      .def("energy", &query::energy, q, v)
      .def("pose", &query::pose, q, body)
      .def("jacobian", &query::jacobian, q, body, point, frame)
      .def("velocity", &query::velocity, q, v, body, point, frame)
      .def("body_acceleration", &query::body_acceleration, q, v, a, body, point, frame)
      .def("terms", &query::terms, type, q, v, t, evaluator)
      .def("acceleration", &query::acceleration, q, v, tau, t, evaluator)
      .def("project", &query::project, q, v, t, evaluator)
      .def("forward", &query::forward, type, q, v, tau, t, evaluator);
  calls::bind_ordinary(queries);
  bind_steps(queries);
  bind_constraint_queries(m, queries);
  bind_pose_queries(queries);
  bind_linear_queries(queries);
  bind_contacts(m, queries);
}

}  // namespace sarrus
