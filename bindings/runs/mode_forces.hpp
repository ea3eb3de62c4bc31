// Forces of states in a mode: multipliers of the rows that act, friction of coordinates at rest, and bounds
// of friction that bearing loads set.
#pragma once

#include <algorithm>
#include <vector>

#include "integrate/modes/guards.hpp"
#include "run.hpp"

SARRUS_BEGIN

template <int LD>
struct ModeForces {
  const ModelD& m;
  const ModeTable& table;
  ActiveRows<double> rows;  // of the mode
  Unilateral<LD> u;
  double *lam, *by_load;   // (nc) of the rows that act, (frictions)
  unsigned char* unique;   // (nc) which multipliers the motion determines
  unsigned char* resting;  // (frictions)
  Spatial<double>*W, *outer;

  ModeForces(const ModelD& model, const ModeTable& given, Arena& arena)
      : m(model), table(given), u(model, given, arena) {
    rows.bind(m, arena);
    arena.take(m.nc, lam, unique, W);
    arena.take(table.frictions, by_load, resting);
    arena.take(m.nn, outer);
  }
  bool holds(int k) const { return rows.place[held_row(k)] >= 0; }
  int held_row(int k) const { return table.groups[table.count - table.frictions + k].begin; }

  void choose(const Mode& mode) {
    rows.direct(table, mode.direction);
    rows.choose_all(table, mode);
  }
  // lam and which of it are unique, in a motion with acceleration a (nv) under the force tau (nv) in all
  void find_multipliers(const State<double>& s, const double* a, const double* tau) {
    Workspace<double, LD>& w = u.w;
    const ModelD& view = rows.view;
    evaluate(view, s, w);
    factorize_rows(view, w);
    for (int j = 0; j < m.nv; ++j) w.rhs[j] = tau[j] - w.h[j], w.a[j] = a[j];
    multipliers(view, w, lam);
    bool fewer = w.factor.rank_rows < view.nc;
    for (int r = 0; r < view.nc; ++r) unique[r] = !fewer;
    if (fewer) uniqueness(view, w.factor, unique);
  }
  // Rank of J of the rows that act, but those that hold coordinates at rest
  int rank_without_held(const State<double>& s, const Mode& mode) {
    u.rows.direct(table, mode.direction);
    u.rows.choose_constraints(table, mode);
    evaluate(u.rows.view, s, u.w);
    factorize_rows(u.rows.view, u.w);
    return u.w.factor.rank_rows;
  }
  // Wrenches on bodies at their origins (nb, 6) or null, as wrenches on nodes about O   in: placed
  void take_wrenches(const double* given) {
    u.outer = given ? outer : nullptr;
    for (int i = 0; given && i < m.nn; ++i) outer[i] = zero6<double>();
    for (int b = 0; given && b < m.nb; ++b, given += 6) {
      Vec3<double> force = {given[0], given[1], given[2]}, moment = {given[3], given[4], given[5]};
      int node = m.body_node[b];
      Vec3<double> p = point_of(u.w.tree, node, m.p_NB + 3 * b);
      outer[node] = outer[node] + Spatial<double>{force, moment + cross(p, force)};
    }
  }
  // Sign of the friction along coordinate k of the table: that of what holds it, or against its direction
  double way_of_friction(const Mode& mode, int k) const {
    int r = rows.place[held_row(k)];
    return r < 0 ? -mode.direction[k] : sign_of(lam[r]);
  }
  // by_load of a motion with acceleration a (nv) and the multipliers lam; wrenches (nb, 6) of Python or null
  void find_loads(const State<double>& s, const Mode& mode, const double* a, const double* wrenches) {
    Workspace<double, LD>& w = u.w;
    fill(by_load, table.frictions);
    if (!u.by_load) return;
    place(m, s.q, w.tree);
    move(m, s.v, w.tree);
    weigh(m, w.tree, w.bodies.I);
    load_by_formulas(m, s.q, s.v, w.tree, w.bodies);
    take_wrenches(wrenches);
    row_wrenches(rows.view, w.tree, W);
    joint_wrenches(rows.view, w.tree, RowMotion<double>{a, lam, W}, u.outer, w.bodies);
    const Transmitted<double> carried = {w.bodies.F, lam};
    each_bearing(m, [&](int i, const auto& c) {
      for (int k = 0; k < table.frictions; ++k)
        if (table.coordinate[k] == m.cf_v[i])
          by_load[k] += bearing_bound(rows.view, w.tree, c, carried, way_of_friction(mode, k));
    });
  }
  // Whether all that holds coordinates, and all pushes of contacts, are unique
  bool all_unique() const {
    bool yes = true;
    for (int r = 0; r < m.nc; ++r) {
      const RowGroup& group = group_of(r);
      bool asked = group.kind == GroupKind::HELD || (group.kind == GroupKind::CONTACT && r == group.normal);
      yes = yes && (!asked || rows.place[r] < 0 || unique[rows.place[r]]);
    }
    return yes;
  }
  const RowGroup& group_of(int r) const {
    int g = 0;
    while (table.groups[g].end <= r) ++g;
    return table.groups[g];
  }
  // Friction (frictions) of coordinates at rest and which of it is unique, under the force tau without that
  // of bearings that slide. Where it is one of many it is of least norm within its bounds. in: the
  // multipliers
  void find_friction(const State<double>& s, const Mode& mode, const double* tau, double* force,
                     unsigned char* same) {
    for (int k = 0; k < table.frictions; ++k) {
      int r = rows.place[held_row(k)];
      force[k] = r < 0 ? 0 : lam[r], same[k] = r < 0 || unique[r];
    }
    if (all_unique()) return;
    for (int k = 0; k < table.frictions; ++k) resting[k] = mode.direction[k] == 0;
    if (!open_problem(u, s, mode, resting, nullptr)) return;
    if (!solve_unilateral(u, Use{tau, s.v, resting, 1, 0})) return;
    for (int i = 0; i < u.frictions; ++i) {
      int k = u.friction[i];
      force[k] = u.box.f[i] / m.unit[table.coordinate[k]], same[k] = u.box.unique[i];
    }
  }
};

// What the friction of states works with, in memory of its own.
template <int LD>
struct ModesMemory {
  std::vector<double> numbers;
  std::vector<char> room;
  Mode mode;
  Arena arena;
  ModeForces<LD> forces;

  ModesMemory(const ModelD& m, const ModeTable& table, const double* given)
      : numbers(given, given + mode_size(table, m.nev + m.nk)),
        room(needed(m, table) + 128, 0),
        mode(mode_at(table, m.nev + m.nk, numbers.data())),
        arena(room.data() + (-reinterpret_cast<unsigned long long>(room.data()) & 63)),
        forces(m, table, arena) {}
  static unsigned long long needed(const ModelD& m, const ModeTable& table) {
    Arena measure(nullptr);
    ModeForces<LD> measured(m, table, measure);
    return measure.used;
  }
};

inline State<double> state_at(const ModelD& m, const States& all, long i) {
  return {all.q + i * m.nq, all.v + i * m.nv, all.drive ? all.drive + i * 3 * m.nd : nullptr,
          all.user ? all.user + i * m.n_user_rows * (3 + m.nv) : nullptr};
}

// Friction of states in one mode; see FrictionArrays
template <int LD>
void friction_in_mode(const ModelD& m, const ModePlan& plan, const double* numbers, const StatesInMode& x,
                      const FrictionArrays& out) {
  const ModeTable& table = plan.table;
  ModesMemory<LD> memory(m, table, numbers);
  const Mode& mode = memory.mode;
  ModeForces<LD>& f = memory.forces;
  std::vector<double> tau(m.nv);
  f.choose(mode);
  for (int i = 0; i < x.states.n; ++i) {
    State<double> s = state_at(m, x.states, i);
    const double *a = x.a + i * m.nv, *given = x.tau + i * m.nv;
    double* by_load = out.by_load + i * table.frictions;
    f.find_multipliers(s, a, given);
    f.find_loads(s, mode, a, x.wrenches ? x.wrenches + 6 * i * m.nb : nullptr);
    std::copy_n(f.by_load, table.frictions, by_load);
    std::copy_n(given, m.nv, tau.begin());
    for (int k = 0; k < table.frictions; ++k)
      tau[table.coordinate[k]] += mode.direction[k] * by_load[k];  // the solution has it again
    f.find_friction(s, mode, tau.data(), out.force + i * table.frictions, out.unique + i * table.frictions);
  }
}

// Friction of states at rest or in motion, without a mode; see FrictionAtStates
template <int LD>
void friction_of_states(const ModelD& m, const ModePlan& plan, const double* numbers, const StatesInMode& x,
                        const FrictionAtStates& out) {
  ModesMemory<LD> memory(m, plan.table, numbers);
  ModeForces<LD>& f = memory.forces;
  const ModeTable& table = plan.table;
  for (int i = 0; i < x.states.n; ++i) {
    State<double> s = state_at(m, x.states, i);
    const double* tau = x.tau + i * m.nv;
    double speed = largest_rate(m, s.v);
    for (int k = 0; k < table.frictions; ++k) {
      int j = table.coordinate[k];
      f.resting[k] = std::abs(s.v[j]) <= AT_REST * speed * m.unit[j];
    }
    bool inertia = open_problem(f.u, s, memory.mode, f.resting, nullptr);
    f.take_wrenches(x.wrenches ? x.wrenches + 6 * i * m.nb : nullptr);
    bool found = inertia && solve_unilateral(f.u, Use{tau, s.v, f.resting, 1, 0});
    out.status[i] = found ? 0 : inertia ? 2 : 1;
    std::copy_n(f.u.force, m.nv, out.force + i * m.nv);
    std::fill_n(out.unique + i * m.nv, m.nv, 1);
    for (int r = 0; found && r < f.u.frictions; ++r)
      out.unique[i * m.nv + table.coordinate[f.u.friction[r]]] = f.u.box.unique[r];
  }
}

SARRUS_END
