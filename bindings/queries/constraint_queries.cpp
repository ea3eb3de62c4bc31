#include "arguments.hpp"

namespace sarrus {

using namespace nb::literals;

namespace {
namespace query {

CheckedArguments velocities(const Queries& s, In q, In v) {
  if (!v.is_none()) return CheckedArguments(s, {{q, "q", true}, {v, "v"}});
  CheckedArguments c(s, {{q, "q", true}});
  c.rest(1);
  return c;
}

bool all_fine(const CheckedArguments& c, const int* status) {
  return std::all_of(status, status + c.count, [](int x) { return x == 0; });
}

// (miss, status) of states some of which have no velocity
nb::any not_satisfied(const CheckedArguments& c, const double* miss, const int* status) {
  NewArray misses(c.each({c.m.nc}), miss);
  New<int> all({c.count}, status);
  return nb::borrow<nb::any>(nb::make_tuple(misses, all));
}

// v; where some state has none (miss, status)   held: (indices int32, values), or None
nb::any consistent_velocity(const Queries& s, In q, In v, In t, In evaluator, In metric, In held) {
  CheckedArguments c = velocities(s, q, v);
  RowValues outside(c, evaluator, t);
  GivenMetric W(s, metric);
  Held fixed = {nullptr, nullptr, 0};
  if (!held.is_none()) {
    nb::tuple given(held);
    npy_intp n = length_of(given[0]);
    fixed = {data_of<int>(given[0], {n}), data_of<double>(given[1], {n}), static_cast<int>(n)};
  }
  NewArray found = c.out({c.m.nv});
  Room<double> miss(c.count * c.m.nc);
  Room<int> status(c.count);
  VelocityArrays out = {found, miss, status};
  c.run_on(s.k.tables.batches.consistent_velocity, outside.drive, outside.user, W.metric, fixed, out);
  return all_fine(c, status) ? nb::borrow<nb::any>(found.object) : not_satisfied(c, miss, status);
}

// An Impact; where there is none (miss, status)
nb::any impact(const Queries& s, In type, In q, In v, In t, In evaluator) {
  CheckedArguments c(s, {{q, "q", true}, {v, "v"}});
  RowValues outside(c, evaluator, t);
  NewArray after = c.out({c.m.nv}), impulse = c.out({c.m.nv}), lam = c.out({c.m.nc});
  NewArray before = c.out({c.m.nv}), momentum = c.out({c.m.nv});
  Room<double> energy(3 * c.count), miss(c.count * c.m.nc);
  PerState<int> rank(c);
  Room<int> status(c.count);
  ImpactArrays out = {after, impulse, lam, before, momentum, energy, miss, rank, status};
  c.run_on(s.k.tables.batches.impact, outside.drive, outside.user, out);
  if (!all_fine(c, status)) return not_satisfied(c, miss, status);
  PerState<double> energies[3] = {PerState<double>(c), PerState<double>(c), PerState<double>(c)};
  for (npy_intp i = 0; i < 3 * c.count; ++i) energies[i % 3].data()[i / 3] = energy[i];
  static const Fields fields = {"v_before", "v",    "impulse",       "lam",    "momentum_before",
                                "momentum", "rank", "energy_before", "energy", "dissipated"};
  NewArray given = c.copy(1, c.m.nv);
  nb::object numbers[4] = {rank.object(), energies[0].object(), energies[1].object(), energies[2].object()};
  return made(type, fields,
              {given.object, after.object, impulse.object, lam.object, before.object, momentum.object,
               numbers[0], numbers[1], numbers[2], numbers[3]});
}

// A Torques; where there are none the status of each state   actuated: indices int32
nb::any inverse_dynamics(const Queries& s, In type, nb::tuple state, In rows, In metric, In actuated) {
  CheckedArguments c(
      s, {{nb::handle(state[0]), "q", true}, {nb::handle(state[1]), "v"}, {nb::handle(state[2]), "a"}});
  RowValues outside(c, nb::handle(rows[0]), nb::handle(rows[1]));
  GivenMetric W(s, metric);
  npy_intp nv = c.m.nv, n = length_of(actuated);
  Held by = {data_of<int>(actuated, {n}), nullptr, static_cast<int>(n)};
  NewArray u = c.out({n}), tau = c.out({nv}), lam = c.out({c.m.nc}), force = c.out({nv}), sizes = c.out({3});
  Room<double> unfelt(c.count * nv * nv);
  Room<int> count(c.count), status(c.count);
  InverseArrays out = {u, tau, lam, force, unfelt, sizes, count, status};
  c.run_on(s.k.tables.batches.inverse_dynamics, outside.drive, outside.user, c.x[2], W.metric, by, out);
  if (!all_fine(c, status)) return nb::borrow<nb::any>(New<int>({c.count}, status).object);
  nb::object unseen = nb::none();
  if (!all_fine(c, count))
    unseen = nb::make_tuple(NewArray({c.count, nv, nv}, unfelt), New<int>({c.count}, count));
  static const Fields fields = {"tau",    "u",       "lam",      "constraint_force",
                                "_sizes", "_unfelt", "_columns", "_model"};
  return made(type, fields,
              {tau.object, u.object, lam.object, force.object, sizes.object, unseen, actuated, s.model});
}

// A Decomposition; None where the metric is not positive definite
nb::any decompose(const Queries& s, In type, In q, In metric, In t, In evaluator) {
  CheckedArguments c = velocities(s, q, nb::none());
  RowValues outside(c, evaluator, t);
  GivenMetric W(s, metric);
  npy_intp nv = c.m.nv, nc = c.m.nc, most = std::min(nv, nc);
  NewArray values = c.out({most}), V = c.out({nv, nv}), R = c.out({nc, most});
  PerState<int> rank(c);
  Room<int> status(c.count);
  SplitArrays out = {values, V, R, rank, status};
  c.run_on(s.k.tables.batches.decompose, outside.drive, outside.user, W.metric, out);
  if (!all_fine(c, status)) return nb::borrow<nb::any>(Py_None);
  nb::object ranks = rank.object(), matrix = W.kept.is_valid() ? W.kept : nb::none();
  if (W.metric.by_mass) {
    NewArray M = c.out({nv, nv});
    c.run(s.k.tables.batches.mass_matrix, M);
    matrix = M.object;
  }
  static const Fields fields = {"rank", "singular_values", "metric", "_V", "_R"};
  return made(type, fields, {ranks, values.object, matrix, V.object, R.object});
}

// (s, V, R) of rows J (nc, nv) in the metric with the lower factor L (nv, nv) or None, see SplitRows
nb::tuple split_rows(In J, In L) {
  npy_intp nc = length_of(J), nv = length_of(J, 1), most = std::min(nv, nc);
  Dense rows(J, "J", {nc, nv}), factor = Dense::or_none(L, "L", {nv, nv});
  NewArray s({most}), V({nv, nv}), R({nc, most});
  int sizes[2] = {static_cast<int>(nc), static_cast<int>(nv)};
  best_tables().batches.split_rows(rows, factor, sizes, {s, V, R, nullptr, nullptr});
  return nb::make_tuple(s, V, R);
}

// A Mobility; evaluator: what it computes the rest with when that is read. Singular values and J of large
// mechanisms are among it, unless the rank needs them.
nb::any mobility(const Queries& s, In type, In q, In t, In evaluator) {
  CheckedArguments c = velocities(s, q, nb::none());
  RowValues outside(c, evaluator, t);
  npy_intp nv = c.m.nv, nc = c.m.nc;
  PerState<double> gap(c), pivot(c);
  PerState<int> rank(c);
  NewArray diagonal = c.out({nv});
  auto run = [&](double* J, double* values) {
    MobilityArrays out = {J, values, gap, rank, pivot, diagonal};
    c.run_on(s.k.tables.batches.mobility, outside.drive, outside.user, out);
  };
  bool clear = nv > MOST_SINGULAR_VALUES;
  if (clear) run(nullptr, nullptr);
  for (npy_intp i = 0; clear && i < c.count; ++i) clear = rank.data()[i] >= 0;
  NewArray J = c.out({clear ? 0 : nc, nv}), values = c.out({clear ? 0 : std::min(nv, nc)});
  if (!clear) run(J, values);
  for (npy_intp i = 0; i < c.count; ++i) gap.data()[i] *= c.m.length[0];
  static const Fields all = {"rank", "gap", "_system", "_q", "_t", "singular_values", "_J"};
  static const Fields few = {"rank", "gap", "_system", "_q", "_t", "_pivot", "_diagonal"};
  nb::object ranks = rank.object(), gaps = gap.object(), at = c.copy(0, c.m.nq).object;
  nb::object time = nb::float_(s.time(t));
  if (clear) return made(type, few, {ranks, gaps, evaluator, at, time, pivot.object(), diagonal.object});
  return made(type, all, {ranks, gaps, evaluator, at, time, values.object, J.object});
}

}  // namespace query
}  // namespace

void bind_constraint_queries(nb::module_& m, nb::class_<Queries>& queries) {
  m.def("split_rows", &query::split_rows, "J"_a, "L"_a.none());
  auto type = "type"_a;
  auto q = "q"_a.none(), v = "v"_a.none(), t = "t"_a.none(), evaluator = "evaluator"_a.none();
  auto metric = "metric"_a.none();
  queries.def("consistent_velocity", &query::consistent_velocity, q, v, t, evaluator, metric, "held"_a.none())
      .def("impact", &query::impact, type, q, v, t, evaluator)
      .def("inverse_dynamics", &query::inverse_dynamics, type, "state"_a, "rows"_a, metric, "actuated"_a)
      .def("decompose", &query::decompose, type, q, metric, t, evaluator)
      .def("mobility", &query::mobility, type, q, t, evaluator);
}

}  // namespace sarrus
