// Forces by formulas: arithmetic with coordinates, their rates and the motion of a point of a body, given in
// a description and run here as a list of instructions {operation, result, operands a, b, c}.
//
// The wrench of a formula on a body acts at its point, in the axes of the body or of the world; a formula
// on coordinates gives generalized forces. Derivatives come from the same instructions by dual numbers.
#pragma once

#include "tree/pair.hpp"

// Inputs: POSITION a of q, SPEED a of v, PLACE a (0 .. 2) of the point in the world, ATTITUDE a (0 .. 8, row
// by row) of the frame, TWIST a (0 .. 5) of the point. PICK: b where a < 0, else c. RESULT: a of wrench or
// force is b.
// clang-format off
#define SARRUS_FORMULA_OPERATIONS(X) \
  X(POSITION) X(SPEED) X(PLACE) X(ATTITUDE) X(TWIST) \
  X(NEG) X(ABS) X(SQRT) X(SIN) X(COS) X(TANH) \
  X(ADD) X(SUB) X(MUL) X(DIV) X(ATAN2) X(PICK) X(RESULT)
// clang-format on

SARRUS_BEGIN

#define SARRUS_ENUMERATE(name) name,
struct FormulaOperation {
  enum : int { SARRUS_FORMULA_OPERATIONS(SARRUS_ENUMERATE) };
};
#undef SARRUS_ENUMERATE

constexpr int FORMULA_WORDS = 5;  // of an instruction

// What a formula sees
template <class T>
struct FormulaView {
  const T *q, *v;
  T place[3], attitude[9], twist[6];
};

template <class T>
SARRUS_HD T formula_input(int op, int i, const FormulaView<T>& x) {
  using Op = FormulaOperation;
  if (op == Op::POSITION) return x.q[i];
  if (op == Op::SPEED) return x.v[i];
  if (op == Op::PLACE) return x.place[i];
  if (op == Op::ATTITUDE) return x.attitude[i];
  return x.twist[i];
}

template <class T>
SARRUS_HD T formula_unary(int op, const T& x) {
  using Op = FormulaOperation;
  if (op == Op::NEG) return -x;
  if (op == Op::ABS) return abs_(x);
  if (op == Op::SQRT) return sqrt_(x);
  if (op == Op::TANH) return tanh_(x);
  T s, c;
  sincos_(x, s, c);
  return op == Op::SIN ? s : c;
}

template <class T>
SARRUS_HD T formula_binary(int op, const T& x, const T& y) {
  using Op = FormulaOperation;
  if (op == Op::ADD) return x + y;
  if (op == Op::SUB) return x - y;
  if (op == Op::MUL) return x * y;
  if (op == Op::DIV) return x / y;
  return atan2_(x, y);
}

// use(number, value) for each result of formula i   room: (nfs)
template <class T, class F>
SARRUS_HD void run_formula(const Model<real<T>>& m, int i, const FormulaView<T>& x, T* room, F use) {
  using Op = FormulaOperation;
  for (int k = m.fm_first[i]; k < m.fm_last[i]; ++k) room[k] = T(m.fm_start[k]);
  for (int n = m.fm_begin[i]; n < m.fm_end[i]; ++n) {
    const int* c = m.fm_code + FORMULA_WORDS * n;
    int op = c[0];
    if (op == Op::RESULT)
      use(c[2], room[c[3]]);
    else if (op == Op::PICK)
      room[c[1]] = select(room[c[2]] < real<T>(0), room[c[3]], room[c[4]]);
    else if (op <= Op::TWIST)
      room[c[1]] = formula_input(op, c[2], x);
    else if (op <= Op::TANH)
      room[c[1]] = formula_unary(op, room[c[2]]);
    else
      room[c[1]] = formula_binary(op, room[c[2]], room[c[3]]);
  }
}

template <class T>
SARRUS_HD void store_by_rows(const Mat3<T>& R, T* out) {
  const T rows[9] = {R.x.x, R.y.x, R.z.x, R.x.y, R.y.y, R.z.y, R.x.z, R.y.z, R.z.z};
  for (int k = 0; k < 9; ++k) out[k] = rows[k];
}

// Wrench of formula i on its node, about O   in: t (moved)
template <class T>
SARRUS_FN Spatial<T> formula_wrench(const Model<real<T>>& m, int i, const T* q, const T* v, const Tree<T>& t,
                                    T* room) {
  int node = m.fm_node[i];
  Mat3<T> R = compose(t.R[node], m.fm_R + 9 * i);
  Mat3<T> axes = R;
  if (m.fm_world[i]) axes = t.R[0];
  Vec3<T> p = point_of(t, node, m.fm_p + 3 * i);
  const Spatial<T>& V = t.V[node];
  FormulaView<T> x = {q, v, {}, {}, {}};
  store(p + t.O[0], x.place);
  store_by_rows(R, x.attitude);
  store(unturn(axes, V.lin + cross(V.ang, p)), x.twist);
  store(unturn(axes, V.ang), x.twist + 3);
  T W[6] = {T(0), T(0), T(0), T(0), T(0), T(0)};
  run_formula(m, i, x, room, [&](int k, const T& value) { W[k] = value; });
  Vec3<T> f = turn(axes, Vec3<T>{W[0], W[1], W[2]});
  return {f, turn(axes, Vec3<T>{W[3], W[4], W[5]}) + cross(p, f)};
}

// W_i += wrenches of formulas on nodes   in: t (moved)
template <class T>
SARRUS_FN void add_formula_wrenches(const Model<real<T>>& m, const T* q, const T* v, const Tree<T>& t,
                                    T* room, Spatial<T>* W) {
  for (int i = 0; i < m.nfm; ++i) {
    int node = m.fm_node[i];
    if (node >= 0) W[node] = W[node] + formula_wrench(m, i, q, v, t, room);
  }
}

// h -= generalized forces of formulas on coordinates
template <class T>
SARRUS_FN void subtract_formula_forces(const Model<real<T>>& m, const T* q, const T* v, T* room, T* h) {
  FormulaView<T> x = {q, v, {}, {}, {}};
  for (int i = 0; i < m.nfm; ++i)
    if (m.fm_node[i] < 0) run_formula(m, i, x, room, [&](int k, const T& value) { h[k] -= value; });
}

SARRUS_END
