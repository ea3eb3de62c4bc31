// Flexible bodies: what the deflections q of a body add to the rigid body that it is at q = 0.
//
// Points of the body stand at r(q) in the frame of a node, the floating frame, whose twist is V. Energies:
//
//   T = V . I(q) V / 2 + sum v_k P_k(q) . V + v . M v / 2,   P_k = [ds/dq_k; sum of r x dr/dq_k dm]   (1)
//   s(q) = sum q_k s_k + q_k q_l s_kl / 2,  J(q) likewise,   P_k = [s_k + q_l s_kl; c_k + q_l c_kl]   (2)
//   U = z . K z / 2,   z = q, but z_a = q_a + q . G_a q / 2 for the coordinates a that stretch it     (3)
//
// All constants are integrals over the body. Their second order contains the shortening of a bent beam, which
// is what stiffens it when it turns [Kane1987]. (1) by [Shabana2020] ch. 5; equations of motion:
//
//   dp/dt = I A + ad*_V I V + I' V + ad*_V H + sum P_k' v_k + P_k a_k,   H = sum P_k v_k              (4)
//   e_k = P_k . A + M_kl a_l + w . (c_kl - c_lk) v_l - (u x w) . ds/dq_k - w . dJ/dq_k w / 2
//         + dU/dq_k + D_kl v_l                                                                        (5)
//
// with u, w the velocity of the node's origin and its angular velocity, both in the axes of the node.
#pragma once

#include "algebra/spatial.hpp"
#include "tree/model.hpp"

SARRUS_BEGIN

// The constants of a flexible body with n coordinates, in the frame of its node
template <class R>
struct Shapes {
  int n, stretches;
  const R* mass;          // its mass and first moment (4) as it is drawn
  const R *s, *c, *J;     // (n, 3), (n, 3), (n, 6) of (2)
  const R *M, *K, *D;     // (n, n) inertia, stiffness, damping
  const R *s2, *c2, *J2;  // (n, n, 3), (n, n, 3), (n, n, 6) of (2)
  const R* stretch;       // for each: the coordinate a, then G_a (n, n)

  SARRUS_HD const R* gamma(int i) const { return stretch + i * (1 + n * n) + 1; }
  SARRUS_HD int stretched(int i) const { return static_cast<int>(stretch[i * (1 + n * n)]); }
};

template <class R>
SARRUS_HD Shapes<R> shapes_of(const Model<R>& m, int b) {
  int n = m.fl_n[b], nn = n * n;
  const R* x = m.fl_values + m.fl_begin[b];
  const R *M = x + 4 + 12 * n, *s2 = M + 3 * nn;
  return {n,      m.fl_stretches[b], x,  x + 4,       x + 4 + 3 * n, x + 4 + 6 * n, M,
          M + nn, M + 2 * nn,        s2, s2 + 3 * nn, s2 + 6 * nn,   s2 + 12 * nn};
}

// Six numbers of a symmetric matrix: xx xy xz yy yz zz
template <class T>
struct Moments {
  T xx, xy, xz, yy, yz, zz;
};
template <class T>
SARRUS_HD void add_scaled(const real<T>* J, const T& x, Moments<T>& sum) {
  sum.xx += x * J[0], sum.xy += x * J[1], sum.xz += x * J[2];
  sum.yy += x * J[3], sum.yz += x * J[4], sum.zz += x * J[5];
}
template <class T>
SARRUS_HD Vec3<T> operator*(const Moments<T>& J, const Vec3<T>& w) {
  return {J.xx * w.x + J.xy * w.y + J.xz * w.z, J.xy * w.x + J.yy * w.y + J.yz * w.z,
          J.xz * w.x + J.yz * w.y + J.zz * w.z};
}
template <class T>
SARRUS_HD Moments<T> no_moments() {
  return {T(0), T(0), T(0), T(0), T(0), T(0)};
}
template <class T>
SARRUS_HD Vec3<T> scaled(const real<T>* s, const T& x) {
  return {x * s[0], x * s[1], x * s[2]};
}

// What flexible bodies add, in world axes about the reference point unless it says otherwise.
template <class T>
struct Deflections {
  Spatial<T>* P;                 // (nv) of (1), for the coordinates of flexible bodies
  Moments<T>* slope;             // (nv) dJ/dq_k, in the axes of the node about its origin
  T *spring, *effort;            // (nv) dU/dq_k; and (5) without P_k . A
  Inertia<T>*more, *rate;        // (nfl) I(q) - I(0), and I' V = rate of it with the node at rest
  Spatial<T>*momentum, *wrench;  // (nfl) H; and (4) without I A + ad*_V I V

  SARRUS_HD void bind(auto& arena, const Model<real<T>>& m) {
    arena.take(m.nfl ? m.nv : 0, P, slope, spring, effort);
    arena.take(m.nfl, more, rate, momentum, wrench);
  }
};

// Where the node of a flexible body is, and how it moves
template <class T>
struct Floating {
  Mat3<T> R;
  Vec3<T> p;
  Spatial<T> V;
};

// A first moment (axes of the node) and second moments about the node's origin, as an inertia about O
template <class T>
SARRUS_HD Inertia<T> carried(const Mat3<T>& R, const Vec3<T>& p, const Vec3<T>& s, const Moments<T>& J) {
  Vec3<T> a = R.x * J.xx + R.y * J.xy + R.z * J.xz, b = R.x * J.xy + R.y * J.yy + R.z * J.yz;
  Vec3<T> d = R.x * J.xz + R.y * J.yz + R.z * J.zz, h = turn(R, s);
  T x = p.x * h.x, y = p.y * h.y, z = p.z * h.z;
  real<T> two = 2;
  return {T(0),
          h,
          a.x * R.x.x + b.x * R.y.x + d.x * R.z.x + (y + z) * two,
          a.x * R.x.y + b.x * R.y.y + d.x * R.z.y - p.x * h.y - p.y * h.x,
          a.x * R.x.z + b.x * R.y.z + d.x * R.z.z - p.x * h.z - p.z * h.x,
          a.y * R.x.y + b.y * R.y.y + d.y * R.z.y + (x + z) * two,
          a.y * R.x.z + b.y * R.y.z + d.y * R.z.z - p.y * h.z - p.z * h.y,
          a.z * R.x.z + b.z * R.y.z + d.z * R.z.z + (x + y) * two};
}

// A wrench or momentum given at the node, in its axes, about O
template <class T>
SARRUS_HD Spatial<T> carried(const Mat3<T>& R, const Vec3<T>& p, const Vec3<T>& lin, const Vec3<T>& ang) {
  Vec3<T> f = turn(R, lin);
  return {f, turn(R, ang) + cross(p, f)};
}

// G_a q, entry k
template <class T>
SARRUS_HD T shortening(const Shapes<real<T>>& x, int i, const T* q, int k) {
  T sum = T(0);
  for (int l = 0; l < x.n; ++l) sum += q[l] * x.gamma(i)[k * x.n + l];
  return sum;
}

// Entry k of z of (3)
template <class T>
SARRUS_HD T stretched(const Shapes<real<T>>& x, const T* q, int k) {
  T z = q[k];
  for (int i = 0; i < x.stretches; ++i)
    for (int l = 0; x.stretched(i) == k && l < x.n; ++l) z += q[l] * shortening(x, i, q, l) * real<T>(0.5);
  return z;
}

// U of (3)
template <class T>
SARRUS_FN T elastic_energy(const Shapes<real<T>>& x, const T* q) {
  T sum = T(0);
  for (int k = 0; k < x.n; ++k) {
    T z = stretched(x, q, k);
    for (int l = 0; l < x.n; ++l) sum += z * stretched(x, q, l) * (x.K[k * x.n + l] * real<T>(0.5));
  }
  return sum;
}

// out: spring (n) = dU/dq of (3)   room: z (n)
template <class T>
SARRUS_FN void elastic_forces(const Shapes<real<T>>& x, const T* q, T* z, T* spring) {
  int n = x.n;
  for (int k = 0; k < n; ++k) z[k] = stretched(x, q, k);
  for (int k = 0; k < n; ++k) {
    spring[k] = T(0);
    for (int l = 0; l < n; ++l) spring[k] += z[l] * x.K[k * n + l];
  }
  for (int i = 0; i < x.stretches; ++i) z[i] = spring[x.stretched(i)];  // tensions
  for (int i = 0; i < x.stretches; ++i)
    for (int k = 0; k < n; ++k) spring[k] += z[i] * shortening(x, i, q, k);
}

// out: P, slope, spring, more of flexible body b   in: its coordinates q (n)
template <class T>
SARRUS_FN void deflect_body(const Model<real<T>>& m, int b, const T* q, const Mat3<T>& R, const Vec3<T>& p,
                            const Deflections<T>& d) {
  Shapes<real<T>> x = shapes_of(m, b);
  int n = x.n, first = m.fl_v[b];
  Vec3<T> s = zero3<T>();
  Moments<T> J = no_moments<T>();
  real<T> half = 0.5;
  for (int k = 0; k < n; ++k) {
    Vec3<T> more_s = zero3<T>(), c = scaled(x.c + 3 * k, T(1)), s_k = scaled(x.s + 3 * k, T(1));
    Moments<T> more_J = no_moments<T>();
    for (int l = 0; l < n; ++l) {
      int at = k * n + l;
      more_s = more_s + scaled(x.s2 + 3 * at, q[l]);
      c = c + scaled(x.c2 + 3 * at, q[l]);
      add_scaled(x.J2 + 6 * at, q[l], more_J);
    }
    s = s + (s_k + more_s * half) * q[k];
    Moments<T>& slope = d.slope[first + k];
    slope = more_J;
    add_scaled(x.J + 6 * k, T(1), slope);
    const Moments<T> mean = {(slope.xx - more_J.xx * half) * q[k], (slope.xy - more_J.xy * half) * q[k],
                             (slope.xz - more_J.xz * half) * q[k], (slope.yy - more_J.yy * half) * q[k],
                             (slope.yz - more_J.yz * half) * q[k], (slope.zz - more_J.zz * half) * q[k]};
    J = {J.xx + mean.xx, J.xy + mean.xy, J.xz + mean.xz, J.yy + mean.yy, J.yz + mean.yz, J.zz + mean.zz};
    d.P[first + k] = carried(R, p, s_k + more_s, c);
  }
  d.more[b] = carried(R, p, s, J);
  elastic_forces(x, q, d.effort + first, d.spring + first);
}

// out: momentum, rate, wrench, effort of flexible body b   in: deflect_body(); its velocities v (n)
template <class T>
SARRUS_FN void move_body(const Model<real<T>>& m, int b, const T* v, const Floating<T>& f,
                         const Deflections<T>& d) {
  Shapes<real<T>> x = shapes_of(m, b);
  int n = x.n, first = m.fl_v[b];
  Vec3<T> w = unturn(f.R, f.V.ang), u = f.V.lin + cross(f.V.ang, f.p), across = cross(u, f.V.ang);
  Vec3<T> s2 = zero3<T>(), c2 = zero3<T>();
  Spatial<T> H = zero6<T>();
  Moments<T> J = no_moments<T>();
  for (int k = 0; k < n; ++k) {
    Vec3<T> turning = zero3<T>(), ck = zero3<T>();
    T damping = T(0);
    for (int l = 0; l < n; ++l) {
      int at = k * n + l, back = l * n + k;
      s2 = s2 + scaled(x.s2 + 3 * at, v[k] * v[l]);
      ck = ck + scaled(x.c2 + 3 * at, v[l]);
      turning = turning - scaled(x.c2 + 3 * back, v[l]);
      damping += v[l] * x.D[at];
    }
    c2 = c2 + ck * v[k];
    const Moments<T>& slope = d.slope[first + k];
    H = H + d.P[first + k] * v[k];
    J = {J.xx + slope.xx * v[k], J.xy + slope.xy * v[k], J.xz + slope.xz * v[k],
         J.yy + slope.yy * v[k], J.yz + slope.yz * v[k], J.zz + slope.zz * v[k]};
    d.effort[first + k] = d.spring[first + k] + damping + dot(w, ck + turning) -
                          dot(across, d.P[first + k].lin) - dot(w, slope * w) * real<T>(0.5);  // (5)
  }
  d.momentum[b] = H;
  Inertia<T> rate = carried(f.R, f.p, unturn(f.R, H.lin), J);
  d.rate[b] = rate;
  d.wrench[b] = rate * f.V + cross_force(f.V, H) + carried(f.R, f.p, s2, c2);  // (4)
}

// Adds the terms of the accelerations a (n) of its coordinates to wrench and effort
template <class T>
SARRUS_FN void accelerate_body(const Model<real<T>>& m, int b, const T* a, const Deflections<T>& d) {
  Shapes<real<T>> x = shapes_of(m, b);
  int first = m.fl_v[b];
  for (int k = 0; k < x.n; ++k) {
    d.wrench[b] = d.wrench[b] + d.P[first + k] * a[k];
    for (int l = 0; l < x.n; ++l) d.effort[first + k] += a[l] * x.M[k * x.n + l];
  }
}

// The flexible body that coordinate k belongs to, or -1
template <class R>
SARRUS_HD int flexible_of(const Model<R>& m, int k) {
  for (int b = 0; b < m.nfl; ++b)
    if (k >= m.fl_v[b] && k < m.fl_v[b] + m.fl_n[b]) return b;
  return -1;
}

SARRUS_END
