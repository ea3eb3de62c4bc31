// One step of the classical Runge-Kutta method by a team, projected, as integrate/step.hpp does it far from
// singular poses. Its guards (integrate/straight_step.hpp) say where the general step has to be taken.
//
// A step is a sequence of passes over the mechanism, whose parts appear once in the code:
//
//   BEGIN   the acceleration at the state, with the factorization that the step before has left there
//   STAGE   the acceleration at a stage, or at a state without factorization
//   CHECK   residuals at the end of the step, a Newton step of positions with the factors of the last stage
//   END     factorization at the closed end, and velocities onto J v = b with it
#pragma once

#include "integrate/straight_step.hpp"
#include "team/elimination.hpp"

SARRUS_BEGIN

enum class Pass : int { BEGIN, STAGE, CHECK, END, DONE };
constexpr double FASTEST = 1e15;  // numbers beyond are none

template <class R, class Index>
struct TeamStepper {
  using T = R;
  const Model<R>& m;
  const TeamTables<R, Index>& p;
  Tree<T> tree;
  Rows<T> rows;
  TeamEquations<T> e;
  Inertia<T>* I;             // where the matrix of the equations comes to lie
  Spatial<T>*F, *W, *f;      // wrenches of subtrees, in place of accelerations; of forces; f (nv) is room
  T *q, *v, *force;          // a state, and the forces applied to it
  T *q1, *v1, *u, *su, *sv;  // trial state, increments, sums over the stages
  T *Jv, *turns;             // (nc) J v; whole turns of positions, team/advance.hpp
  bool factored = false;     // the equations are factorized at q, where the smallest pivot is
  T pivot = T(0);            // this one

  SARRUS_HD TeamStepper(const Model<R>& model, const TeamTables<R, Index>& tables, Arena& arena)
      : m(model), p(tables) {
    arena.take(m.nn, tree.R, tree.p);
    arena.take(m.nv, tree.S);
    arena.take(1, tree.O);
    arena.take(2 * m.nn > m.nv ? 2 * m.nn : m.nv, tree.V);
    tree.A = F = tree.V + m.nn;
    f = tree.V;
    arena.take(m.nc, rows.phi, rows.gamma, rows.W, Jv);
    rows.b = Jv;
    rows.J = nullptr;
    e.bind(arena, p, m.nv);
    I = reinterpret_cast<Inertia<T>*>(e.x);
    arena.take(m.nf, W);
    arena.take(m.nq, q, q1);
    arena.take(p.turns ? m.nq : 0, turns);
    arena.take(m.nv, v, force, v1, u, su, sv);
  }
};

// What a step has found out; the same in all threads of the team
template <class T>
struct StepReport {
  int guards = 0;                 // bits of those that do not pass
  T first = T(0), last = T(0);    // the smallest pivot at the state and at the last stage
  T drift = T(0), before = T(0);  // residual of positions, and a Newton step ago
  T velocity_drift = T(0);        // residual of velocities at the state
  int newton = 0;

  SARRUS_HD void require(int guard, bool condition) { guards |= condition ? 0 : guard; }
};

// What the pass needs of the mechanism at (q, v)
template <class S, class T, class Team>
SARRUS_HD void evaluate_by_team(S& s, Pass pass, const T* q, const T* v, Team& team) {
  auto& m = s.m;
  auto& p = s.p;
  bool motion = pass == Pass::STAGE || pass == Pass::BEGIN;
  if (pass == Pass::STAGE || pass == Pass::CHECK) place_by_team(m, p, q, s.tree, team);
  if (motion) move_by_team(m, p, v, s.tree, team);
  State<T> state = {q, v, nullptr, nullptr};
  if (pass != Pass::END) rows_by_team(m, state, s.tree, s.rows, s.Jv, team);
  if (motion) demand_by_team(m, p, s.tree, s.F, s.W, team);
}

// The right side of the equations at (q, v): forces and gamma, or what is left of phi or of J v = b
template <class S, class T, class Team>
SARRUS_HD void enter_right_side(S& s, Pass pass, const T* q, const T* v, Team& team) {
  auto& m = s.m;
  auto& p = s.p;
  bool motion = pass == Pass::STAGE || pass == Pass::BEGIN;
  team.each(p.unknowns, [&](int i) {
    T x = T(0);
    if (i >= m.nv) {
      int r = p.kept_row[i - m.nv];
      x = motion ? s.rows.gamma[r] : -s.rows.phi[r];
    } else if (motion) {
      x = s.force[i] - dot(s.tree.S[i], s.F[p.node_of[i]]) - joint_resistance(m, i, q, v);
    }
    s.e.x[s.e.right + i] = x;
  });
}

// The equations of a pass that factorizes; at the end of a step with J v as right side of the rows
template <class S, class T, class Team>
SARRUS_HD void enter_matrix(S& s, Pass pass, const T* q, const T* v, Team& team) {
  auto& m = s.m;
  auto& p = s.p;
  weigh_by_team(m, p, s.tree, s.I, team);
  enter_equations(m, p, q, s.tree, s.rows, s.I, s.f, s.e, team);
  team.each(p.unknowns - m.nv, [&](int k) {
    s.e.scale[k] = scale_of_row(m, p, s.e, k);
    if (pass == Pass::END) s.e.x[s.e.right + m.nv + k] = -kept_row_times(p, s.e, k, v);
  });
}

// Solves the equations of a pass, factorized anew where the pass says so
template <class S, class Team>
SARRUS_HD void solve_by_team(S& s, Pass pass, Team& team) {
  const auto& p = s.p;
  bool anew = pass == Pass::STAGE || pass == Pass::END;
  int solve = p.factor_rounds + p.back_rounds;
  update_rounds(p, anew ? 0 : solve, anew ? solve : solve + p.solve_rounds, s.e.x, team);
}

// use(joint, k, at) for all nodes: where the part of v and of q begins
template <class M, class Team, class F>
SARRUS_HD void each_joint(const M& m, Team& team, F use) {
  team.each(m.nn - 1, [&](int i) {
    with_joint(m.joint[i + 1], [&](auto joint) { use(joint, m.iv[i + 1], m.iq[i + 1]); });
  });
}

// After the acceleration of stage i: its part of the sums, and (q1, v1) of the next stage, or of the end
template <class S, class T, class Team>
SARRUS_HD void next_stage(S& s, const T& h, int i, Team& team) {
  constexpr int stages = CLASSICAL.stages;
  constexpr double weights[] = {CLASSICAL.b[0], CLASSICAL.b[1], CLASSICAL.b[2], CLASSICAL.b[3]};
  constexpr double reaches[] = {CLASSICAL.A[1][0], CLASSICAL.A[2][1], CLASSICAL.A[3][2], 1};
  T weight = T(real<T>(weights[i])), reach = h * T(real<T>(reaches[i]));
  each_joint(s.m, team, [&](auto joint, int k, int at) {
    T rate[joint.nv];
    if (i == 0)
      copy(rate, s.v + k, joint.nv);
    else
      joint.rate(s.u + k, s.v1 + k, rate);
    for (int j = k; j < k + joint.nv; ++j) {
      T a = s.e.solution(j), r = rate[j - k];
      s.su[j] = i == 0 ? weight * r : s.su[j] + weight * r;
      s.sv[j] = i == 0 ? weight * a : s.sv[j] + weight * a;
      s.u[j] = reach * (i + 1 < stages ? r : s.su[j]);
      s.v1[j] = s.v[j] + reach * (i + 1 < stages ? a : s.sv[j]);
    }
    joint.integrate(s.q + at, s.u + k, s.q1 + at);
  });
}

// Largest |x| (nv) without units
template <class M, class T, class Team>
SARRUS_HD T largest_by_team(const M& m, const T* x, Team& team) {
  return team.most(m.nv, [&](int j) { return abs_(x[j]) / m.unit[j]; });
}

// Residual that counts as closed at q1: the rounding of phi grows with angles that have turned often
// (closed_at() of integrate/straight_step.hpp)
template <class S, class Team>
SARRUS_HD auto closed_by_team(const S& s, Team& team) {
  using T = typename S::T;
  T least = T(s.p.closed);
  if (!(s.p.rounding > 0)) return least;
  T most = team.most(s.m.nq, [&](int j) { return abs_(s.q1[j]); });
  T wanted = most * (s.p.rounding * s.m.nq), room = least * real<T>(ROUGHEST);
  return wanted < least ? least : wanted < room ? wanted : room;
}

// Looks at the residual of a CHECK; returns whether some team takes one more Newton step, and in `open`
// whether this one does. Where Newton's method is slow, the general step has to decide.
template <class S, class T, class Team>
SARRUS_HD bool is_open(S& s, StepReport<T>& found, bool& open, Team& team) {
  auto& m = s.m;
  T closed = closed_by_team(s, team);
  T drift = team.most(m.nc, [&](int r) { return abs_(s.rows.phi[r]) / m.row_unit[r]; });
  found.before = found.newton == 0 ? T(real<T>(1e30)) : found.drift;
  found.drift = drift;
  bool slow = drift > found.before * real<T>(SLOW), enough = drift <= closed * real<T>(s.p.enough);
  open = !(drift <= closed) && !(slow && enough);
  if (open && (slow || !(drift < T(1)) || found.newton == s.p.newton_steps)) {
    found.require(CLOSURE, false);
    open = false;
  }
  ++found.newton;
  return team.any(open);
}

// A Newton step of q1 where a team is open
template <class S, class Team>
SARRUS_HD void close_positions(S& s, bool open, Team& team) {
  using T = typename S::T;
  each_joint(s.m, team, [&](auto joint, int k, int at) {
    if (!open) return;
    T du[joint.nv], q[joint.nq];
    for (int j = 0; j < joint.nv; ++j) du[j] = s.e.solution(k + j);
    joint.integrate(s.q1 + at, du, q);
    copy(s.q1 + at, q, joint.nq);
  });
}

// The pass after the acceleration of stage i of a step of h, which it makes part of the step
template <class S, class T, class Team>
SARRUS_HD Pass after_stage(S& s, const T& h, int i, StepReport<T>& found, Team& team) {
  auto& m = s.m;
  if (i == 0) {
    T off = team.most(m.nc, [&](int r) { return abs_(s.Jv[r]) / m.row_unit[r]; });
    found.velocity_drift = off;
  }
  if (s.factored) {
    found.first = s.pivot;
  } else {
    found.last = smallest_pivot_of(m, s.p, s.e, team);
    if (i == 0) found.first = found.last;
  }
  s.factored = false;
  next_stage(s, h, i, team);
  return i + 1 < CLASSICAL.stages ? Pass::STAGE : m.nc > 0 ? Pass::CHECK : Pass::DONE;
}

// Velocities at the closed end onto J v = b
template <class S, class T, class Team>
SARRUS_HD void finish_step(S& s, StepReport<T>& found, Team& team) {
  team.each(s.m.nv, [&](int j) { s.v1[j] += s.e.solution(j); });
  s.pivot = smallest_pivot_of(s.m, s.p, s.e, team);
  s.factored = true;
  found.require(PIVOT, s.pivot > T(real<T>(LOST_IN_PASSING)));
}

// Guards that do not depend on a single pass   in: a step of h has been taken
template <class S, class T, class Team>
SARRUS_HD void require_regular(S& s, const T& h, StepReport<T>& found, Team& team) {
  auto& m = s.m;
  T speed = largest_by_team(m, s.v, team), speed1 = largest_by_team(m, s.v1, team);
  T far = team.most(m.nq, [&](int j) { return abs_(s.q1[j]); });
  int freedoms = 2 * m.nv - s.p.unknowns;
  found.require(PIVOT, all(far_from_singular(found.first, found.last, freedoms, s.p.tested, T(speed * h))));
  found.require(CLOSURE, found.velocity_drift <= s.p.off * (speed + T(1)));
  found.require(DECISION, speed1 < T(FASTEST) && far < T(FASTEST));
}

// (q1, v1) after a step of h from (q, v) under `force`
template <class S, class T, class Team>
SARRUS_HD StepReport<T> step_by_team(S& s, T h, Team& team) {
  StepReport<T> found;
  bool open = false;
  s.factored = !team.any(!s.factored);
  Pass pass = s.factored ? Pass::BEGIN : Pass::STAGE;
  for (int stage = 0; pass != Pass::DONE;) {
    const T *q = stage == 0 ? s.q : s.q1, *v = stage == 0 ? s.v : s.v1;
    evaluate_by_team(s, pass, q, v, team);
    if (pass == Pass::CHECK && !is_open(s, found, open, team)) {
      pass = Pass::END;
      continue;
    }
    enter_right_side(s, pass, q, v, team);
    if (pass == Pass::STAGE || pass == Pass::END) enter_matrix(s, pass, q, v, team);
    solve_by_team(s, pass, team);
    if (pass == Pass::CHECK) {
      close_positions(s, open, team);
    } else if (pass == Pass::END) {
      finish_step(s, found, team);
      pass = Pass::DONE;
    } else {
      pass = after_stage(s, h, stage++, found, team);
    }
  }
  require_regular(s, h, found, team);
  return found;
}

SARRUS_END
