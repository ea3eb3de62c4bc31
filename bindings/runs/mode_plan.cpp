// sarrus._kernel.ModePlan: the rows of a mechanism that may act or not, and when.
#include "../numpy.hpp"
#include "recorder.hpp"

namespace sarrus {

using namespace nb::literals;

namespace {

constexpr npy_intp ANY = npy_intp(1) << 40;  // bound of indices that the caller knows to be right

// rows: (n, 2) first row and the one behind the last, kinds: (n,) of GroupKind, normals: (n,) row of contacts,
// latches: (n,), all int64; sides: (n,); coordinates: (k,) int64 into v with dry friction, whose rows are the last k
// groups; schedule: (s, 3) time [s], group, 1 where it closes; dt [s]
struct BoundPlan : ModePlan {
  BoundPlan(nb::handle rows, nb::handle kinds, nb::handle normals, nb::handle latches, nb::handle sides,
            nb::handle given, nb::handle times, double step) {
    npy_intp n = length_of(kinds), k = length_of(given), s = length_of(times);
    const long long *row = indices(rows, "rows", 2 * n, ANY), *kind = indices(kinds, "kinds", n, 4);
    const long long *normal = indices(normals, "normals", n, ANY), *latch = indices(latches, "latches", n, 2);
    const long long* coordinate = indices(given, "coordinates", k, ANY);
    Dense side(sides, "sides", {n}), when(times, "schedule", {s, 3});
    for (npy_intp g = 0; g < n; ++g)
      groups.push_back({int(row[2 * g]), int(row[2 * g + 1]), static_cast<GroupKind>(kind[g]), int(normal[g]),
                        side[g], latch[g] != 0});
    coordinates.assign(coordinate, coordinate + k);
    for (npy_intp i = 0; i < s; ++i)
      schedule.push_back({when[3 * i], int(when[3 * i + 1]), when[3 * i + 2] != 0});
    dt = step;
    table = {int(n), int(k), groups.data(), coordinates.data()};
  }
  BoundPlan(const BoundPlan&) = delete;
};

// (friction (n, k), which is unique, friction by load (n, k)) of n states q, v with accelerations a under tau in all, in
// one mode, of its k coordinates with dry friction; the first two are of those at rest. wrenches (n, nb, 6) or None
nb::tuple friction_in_mode(const Kernel& k, nb::handle plan, nb::handle mode, nb::tuple states,
                           nb::handle wrenches) {
  const ModePlan& modes = plan_of(plan);
  npy_intp n = length_of(states[0]), nv = k.m.nv, rows = modes.table.frictions;
  Dense q(states[0], "q", {n, k.m.nq}), v(states[1], "v", {n, nv}), a(states[2], "a", {n, nv});
  Dense tau(states[3], "tau", {n, nv}), drive(states[4], "drive", {n, k.m.nd, 3});
  Dense user(states[5], "user", {n, k.m.n_user_rows, 3 + nv});
  Dense numbers(mode, "mode", {mode_size(modes.table, k.m.nev + k.m.nk)});
  Dense outer = Dense::or_none(wrenches, "wrenches", {n, k.m.nb, 6});
  NewArray force({n, rows}), by_load({n, rows});
  New<unsigned char> unique({n, rows});
  {
    nb::gil_scoped_release free;
    k.tables.runs.friction_in_mode(k.m, modes, numbers, {{int(n), q, v, drive, user}, a, tau, outer},
                                   {force, by_load, unique});
  }
  return nb::make_tuple(force, unique, by_load);
}

// (friction (n, nv), which is unique (n, nv), status (n,)) of n states q, v under the force tau: of coordinates at rest,
// and by load of those that slide. wrenches (n, nb, 6) or None
nb::tuple friction_of_states(const Kernel& k, nb::handle plan, nb::handle mode, nb::tuple states,
                             nb::handle wrenches) {
  const ModePlan& modes = plan_of(plan);
  npy_intp n = length_of(states[0]), nv = k.m.nv;
  Dense q(states[0], "q", {n, k.m.nq}), v(states[1], "v", {n, nv}), tau(states[2], "tau", {n, nv});
  Dense drive(states[3], "drive", {n, k.m.nd, 3}), user(states[4], "user", {n, k.m.n_user_rows, 3 + nv});
  Dense numbers(mode, "mode", {mode_size(modes.table, k.m.nev + k.m.nk)});
  Dense outer = Dense::or_none(wrenches, "wrenches", {n, k.m.nb, 6});
  NewArray force({n, nv});
  New<unsigned char> unique({n, nv});
  New<int> status({n});
  {
    nb::gil_scoped_release free;
    k.tables.runs.friction_of_states(k.m, modes, numbers, {{int(n), q, v, drive, user}, nullptr, tau, outer},
                                     {force, unique, status});
  }
  return nb::make_tuple(force, unique, status);
}

}  // namespace

const ModePlan& plan_of(nb::handle object) { return nb::cast<const BoundPlan&>(object); }

void bind_mode_plan(nb::module_& m) {
  using H = nb::handle;
  nb::class_<BoundPlan>(m, "ModePlan")
      .def(nb::init<H, H, H, H, H, H, H, double>(), "rows"_a, "kinds"_a, "normals"_a, "latches"_a, "sides"_a,
           "coordinates"_a, "schedule"_a, "dt"_a);
  m.def("friction_of_states", &friction_of_states, "kernel"_a, "plan"_a, "mode"_a, "states"_a,
        "wrenches"_a.none());
  m.def("friction_in_mode", &friction_in_mode, "kernel"_a, "plan"_a, "mode"_a, "states"_a,
        "wrenches"_a.none());
}

}  // namespace sarrus
