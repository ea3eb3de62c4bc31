// Closure: frame A on node a and frame B on node b, tied together by a joint. Its rows are, in this order,
//
//   linear   e_i . (p_B - p_A) along directions e_i fixed in a; one of them may follow a thread: minus pitch
//            times the angle of B about the axis, on the nearest turn
//   angular  components x_i . d of b's axis d along axes x_i of a, or the rotation vector of B in A
#pragma once

#include "constraints/rotation_rows.hpp"

// linear: bits 0, 1, 2 say which directions have rows; angular: enum Angular; pitch_row: the direction of the
// thread, -1 for none
#define SARRUS_CLOSURE(V, S) \
  V(p_a, 3)                  \
  V(p_b, 3)                  \
  V(R_aA, 9)                 \
  V(R_bB, 9)                 \
  V(directions, 9) V(across_a, 6) V(across_b, 6) V(axis_b, 3) S(pitch) S(pitch_row) S(linear) S(angular)

SARRUS_BEGIN

struct Closure {
  // Angular rows: none; two components of b's axis across a's; the rotation vector; one cosine of two axes.
  enum Angular : int { ANY = 0, ACROSS = 1, ROTATION = 2, COSINE = 3 };
  SARRUS_PARAMETERS(SARRUS_CLOSURE)

  template <class R>
  static SARRUS_HD bool has_row(const Parameters<R>& c, int i) {
    return (static_cast<int>(c.linear) >> i) & 1;
  }
  template <class R>
  static SARRUS_HD int angular(const Parameters<R>& c) {
    return static_cast<int>(c.angular);
  }
  template <class R>
  static SARRUS_HD int cosines(const Parameters<R>& c) {
    return angular(c) == ACROSS ? 2 : angular(c) == COSINE ? 1 : 0;
  }

  // Twist angle of b's axes (u, v) against a's (x, y): atan2(s, k) with s = y.u - x.v, k = x.u + y.v
  template <class T>
  static SARRUS_HD Row<T> twist_angle(const Parameters<real<T>>& c, const Pair<T>& p) {
    Vec3<T> x = turn(p.Ra, c.across_a), y = turn(p.Ra, c.across_a + 3);
    Vec3<T> u = turn(p.Rb, c.across_b), v = turn(p.Rb, c.across_b + 3);
    Row<T> yu = cosine(p, y, u), xv = cosine(p, x, v), xu = cosine(p, x, u), yv = cosine(p, y, v);
    T s = yu.phi - xv.phi, k = xu.phi + yv.phi;
    Vec3<T> ms = yu.W.ang - xv.W.ang, mk = xu.W.ang + yv.W.ang;
    Vec3<T> ms_dot = yu.W_dot.ang - xv.W_dot.ang, mk_dot = xu.W_dot.ang + yv.W_dot.ang;
    T n = s * s + k * k, s_dot = dot(ms, p.V.ang), k_dot = dot(mk, p.V.ang);
    T n_dot = (s * s_dot + k * k_dot) * real<T>(2);
    Vec3<T> w = (ms * k - mk * s) * (real<T>(1) / n);
    Vec3<T> w_dot = (ms_dot * k + ms * k_dot - mk_dot * s - mk * s_dot - w * n_dot) * (real<T>(1) / n);
    return {atan2_(s, k), {zero3<T>(), w}, {zero3<T>(), w_dot}};
  }

  // The row along direction i, or of the thread
  template <class T>
  static SARRUS_HD Row<T> linear_row(const Parameters<real<T>>& c, int i, const Pair<T>& p) {
    Vec3<T> e = turn(p.Ra, c.directions + 3 * i);
    Row<T> row = along(p, e, cross(p.wa, e));
    if (i == c.pitch_row) {
      Row<T> twist = twist_angle(c, p);
      real<T> pitch = c.pitch, turns = real<T>(6.283185307179586476925286766559);
      T left = row.phi - twist.phi * pitch;
      row.phi = left - round_(left / (pitch * turns)) * (pitch * turns);
      row.W = row.W - twist.W * pitch;
      row.W_dot = row.W_dot - twist.W_dot * pitch;
    }
    return row;
  }

  template <class T, class Out>
  static SARRUS_HD void rows(const Parameters<real<T>>& c, const Pair<T>& p, Out out) {
    int n = 0;
    for (int i = 0; i < 3; ++i)
      if (has_row(c, i)) out[n++] = linear_row(c, i, p);
    Vec3<T> axis = turn(p.Rb, c.axis_b);
    for (int i = 0; i < cosines(c); ++i) out[n++] = cosine(p, turn(p.Ra, c.across_a + 3 * i), axis);
    if (angular(c) == ROTATION) rotation_rows(p, compose(p.Ra, c.R_aA), compose(p.Rb, c.R_bB), out + n);
  }

  // Frame A moves onto frame B; of a line or a plane, which holds neither three displacements nor angles, its
  // origin alone
  template <class R>
  static SARRUS_FN void latch(const auto& c, const Pair<R>& p, auto& to) {
    Vec3<R> apart = unturn(p.Ra, p.pB - p.pA);
    to.p_a[0] = c.p_a[0] + apart.x, to.p_a[1] = c.p_a[1] + apart.y, to.p_a[2] = c.p_a[2] + apart.z;
    if (angular(c) == ANY && static_cast<int>(c.linear) != 7) return;
    Mat3<R> RA = compose(p.Ra, c.R_aA), RB = compose(p.Rb, c.R_bB);
    auto moved = [&](const R* x) {  // a vector of a, turned as A is
      return unturn(p.Ra, turn(RB, unturn(RA, turn(p.Ra, x))));
    };
    Parameters<R> old = c;
    for (int i = 0; i < 3; ++i) store(moved(old.directions + 3 * i), to.directions + 3 * i);
    for (int i = 0; i < 2; ++i) store(moved(old.across_a + 3 * i), to.across_a + 3 * i);
    Vec3<R> x = unturn(p.Ra, RB.x), y = unturn(p.Ra, RB.y), z = unturn(p.Ra, RB.z);
    const R rows[] = {x.x, y.x, z.x, x.y, y.y, z.y, x.z, y.z, z.z};
    copy(to.R_aA, rows, 9);
  }

  template <class R>
  static SARRUS_FN LatchedFrame<R> moved(const Parameters<R>& c, const Parameters<R>& to) {
    Mat3<R> I = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    Mat3<R> before = compose(I, c.R_aA), now = compose(I, to.R_aA);
    auto turned = [&](const Vec3<R>& axis) { return turn(now, unturn(before, axis)); };
    return {{turned(I.x), turned(I.y), turned(I.z)}, {to.p_a[0], to.p_a[1], to.p_a[2]}};
  }

  // In closed form, but for the thread   in: t with the joint accelerations in A; lam: multipliers of the
  // rows
  template <class T>
  static SARRUS_FN void slopes(const Parameters<real<T>>& c, const Tree<T>& t, const T* lam, Element<T>& e) {
    const Mat3<T>&Ra = t.R[e.a], &Rb = t.R[e.b];
    Vec3<T> pB = point_of(t, e.b, c.p_b), force = zero3<T>();
    for (int i = 0; i < 3; ++i) {
      if (!has_row(c, i)) continue;
      if (i == c.pitch_row) {
        add_by_duals(c, t, lam + e.n, 1, e, [&](const auto& p, auto* out) { out[0] = linear_row(c, i, p); });
        continue;
      }
      Vec3<T> x = turn(Ra, c.directions + 3 * i);
      force = force + x * lam[e.n];
      add_along(lam[e.n], x, pB, e);
    }
    stiffen_along(force, pB, e);
    for (int i = 0; i < cosines(c); ++i)
      add_cosine(lam[e.n], turn(Ra, c.across_a + 3 * i), turn(Rb, c.axis_b), e);
    if (angular(c) == ROTATION) add_rotation(lam + e.n, compose(Ra, c.R_aA), compose(Rb, c.R_bB), e);
  }
};

SARRUS_END
