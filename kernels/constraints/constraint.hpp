// What constraints contribute: phi, J, b, gamma with J v = b, J a = gamma.
//
// Each row of a loop closure is a wrench W that does power on the relative twist of its two nodes:
//   phi' = W . (V_b - V_a)   =>   J_k = +-W . S_k,   gamma = -(W' . (V_b - V_a) + W . (A_b - A_a))       (1)
// Columns that move both sides equally are left out of the support, so they cancel exactly. J is the
// derivative of phi off the manifold too.
#pragma once

#include "algebra/rotation.hpp"
#include "tree/kinematics.hpp"

SARRUS_BEGIN

// Where the rows go. J has nc rows of stride ld; drive (nd, 3) holds f, f', f'' and user (nu, 3 + nv)
// holds phi, b, gamma, J of the rows that come from outside.
template <class T>
struct Rows {
  T *phi, *b, *gamma, *J;

  template <class LD>
  SARRUS_HD void bind(Arena& arena, const Model<real<T>>& m, LD ld) {
    phi = arena.template take<T>(m.nc);
    b = arena.template take<T>(m.nc);
    gamma = arena.template take<T>(m.nc);
    J = arena.template take<T>(m.nc * ld);
  }
};

// One row of (1) before it meets the joint axes.
template <class T>
struct Row {
  T phi;
  Spatial<T> W, W_dot;
};

// Two frames on nodes with attitudes Ra, Rb and twists Va, Vb, and how they move.
template <class T>
struct Pair {
  Mat3<T> Ra, Rb;
  Vec3<T> pA, pB, vA, vB, wa, wb;
  Spatial<T> V;  // relative twist

  SARRUS_HD Pair(const Mat3<T>& Ra_, const Vec3<T>& pA_, const Spatial<T>& Va, const Mat3<T>& Rb_,
                 const Vec3<T>& pB_, const Spatial<T>& Vb)
      : Ra(Ra_),
        Rb(Rb_),
        pA(pA_),
        pB(pB_),
        vA(Va.lin + cross(Va.ang, pA_)),
        vB(Vb.lin + cross(Vb.ang, pB_)),
        wa(Va.ang),
        wb(Vb.ang),
        V(Vb - Va) {}
};

// The point r of node i
template <class T>
SARRUS_HD Vec3<T> point_of(const Tree<T>& t, int i, const real<T>* r) {
  return t.p[i] + turn(t.R[i], r);
}

// e . (p_B - p_A) for a direction e whose rate is e_dot
template <class T>
SARRUS_HD Row<T> along(const Pair<T>& c, const Vec3<T>& e, const Vec3<T>& e_dot) {
  return {dot(e, c.pB - c.pA), force_at(c.pB, e), {e_dot, cross(c.vB, e) + cross(c.pB, e_dot)}};
}

template <class T>
SARRUS_HD Row<T> distance(const Pair<T>& c, real<T> length) {
  Vec3<T> r = c.pB - c.pA, r_dot = c.vB - c.vA;
  T l = sqrt_(dot(r, r));
  Vec3<T> e = r * (real<T>(1) / l);
  Vec3<T> e_dot = (r_dot - e * dot(e, r_dot)) * (real<T>(1) / l);
  Row<T> row = along(c, e, e_dot);
  row.phi = l - length;
  return row;
}

// x . y for x fixed in a and y fixed in b
template <class T>
SARRUS_HD Row<T> cosine(const Pair<T>& c, const Vec3<T>& x, const Vec3<T>& y) {
  Vec3<T> x_dot = cross(c.wa, x), y_dot = cross(c.wb, y);
  return {dot(x, y), {zero3<T>(), cross(y, x)}, {zero3<T>(), cross(y_dot, x) + cross(y, x_dot)}};
}

// Twist angle of b's axes (u, v) against a's (x, y): atan2(s, k) with s = y.u - x.v, k = x.u + y.v
template <class T>
SARRUS_HD Row<T> twist_angle(const Pair<T>& c, const Vec3<T>& x, const Vec3<T>& y, const Vec3<T>& u,
                             const Vec3<T>& v) {
  Row<T> yu = cosine(c, y, u), xv = cosine(c, x, v), xu = cosine(c, x, u), yv = cosine(c, y, v);
  T s = yu.phi - xv.phi, k = xu.phi + yv.phi;
  Vec3<T> ms = yu.W.ang - xv.W.ang, mk = xu.W.ang + yv.W.ang;
  Vec3<T> ms_dot = yu.W_dot.ang - xv.W_dot.ang, mk_dot = xu.W_dot.ang + yv.W_dot.ang;
  T n = s * s + k * k, s_dot = dot(ms, c.V.ang), k_dot = dot(mk, c.V.ang);
  T n_dot = (s * s_dot + k * k_dot) * real<T>(2);
  Vec3<T> w = (ms * k - mk * s) * (real<T>(1) / n);
  Vec3<T> w_dot = (ms_dot * k + ms * k_dot - mk_dot * s - mk * s_dot - w * n_dot) * (real<T>(1) / n);
  return {atan2_(s, k), {zero3<T>(), w}, {zero3<T>(), w_dot}};
}

// The rotation vector of B in A, in A's axes.
template <class T>
SARRUS_HD Vec3<T> rotation_between(const Mat3<T>& RA, const Mat3<T>& RB) {
  Mat3<T> Q = {unturn(RA, RB.x), unturn(RA, RB.y), unturn(RA, RB.z)};
  T quat[4];
  quaternion(Q, quat);
  return rotation_vector(quat);
}

// The three rows of that rotation vector, in world axes: with f = R_A phi, g = R_A phi',
//   m_i = a_i + f x a_i / 2 + c f x (f x a_i)
template <class T>
SARRUS_FN void rotation_rows(const Pair<T>& p, const Mat3<T>& RA, const Mat3<T>& RB, Row<T>* out) {
  Vec3<T> phi = rotation_between(RA, RB), f = turn(RA, phi);
  LogCurvature<T> k = log_curvature(dot(phi, phi));
  Vec3<T> g = log_rate(f, k.c, p.V.ang);
  T c_dot = k.dc * dot(f, g) * real<T>(2);
  real<T> half = 0.5;
  const T values[3] = {phi.x, phi.y, phi.z};
  const Vec3<T> axes[3] = {RA.x, RA.y, RA.z};
  for (int i = 0; i < 3; ++i) {
    Vec3<T> e = axes[i], fe = cross(f, e), ge = cross(g, e), ffe = cross(f, fe);
    Vec3<T> w = e + fe * half + ffe * k.c;
    Vec3<T> w_dot = cross(p.wa, w) + ge * half + ffe * c_dot + (cross(g, fe) + cross(f, ge)) * k.c;
    out[i] = {values[i], {zero3<T>(), w}, {zero3<T>(), w_dot}};
  }
}

// Linear row i of closure c: along direction i, or a thread, height - pitch angle on the nearest turn.
template <class T>
SARRUS_HD Row<T> linear_row(const Model<real<T>>& m, int c, int i, const Pair<T>& p) {
  Vec3<T> e = turn(p.Ra, m.cl_directions + 9 * c + 3 * i);
  Row<T> row = along(p, e, cross(p.wa, e));
  if (i == m.cl_pitch_row[c]) {
    const real<T>*xa = m.cl_across_a + 6 * c, *xb = m.cl_across_b + 6 * c;
    Row<T> twist = twist_angle(p, turn(p.Ra, xa), turn(p.Ra, xa + 3), turn(p.Rb, xb), turn(p.Rb, xb + 3));
    real<T> pitch = m.cl_pitch[c], turns = real<T>(6.283185307179586476925286766559);
    T left = row.phi - twist.phi * pitch;
    row.phi = left - round_(left / (pitch * turns)) * (pitch * turns);
    row.W = row.W - twist.W * pitch;
    row.W_dot = row.W_dot - twist.W_dot * pitch;
  }
  return row;
}

// The rows of closure c: linear first, then angular. Returns their number.
template <class T>
SARRUS_HD int closure(const Model<real<T>>& m, int c, const Pair<T>& p, Row<T>* out) {
  int n = 0, linear = m.cl_linear[c], angular = m.cl_angular[c];
  if (linear & DISTANCE) out[n++] = distance(p, m.cl_length[c]);
  for (int i = 0; i < 3; ++i)
    if (linear & (1 << i)) out[n++] = linear_row(m, c, i, p);
  if (angular == ACROSS || angular == COSINE) {
    Vec3<T> axis = turn(p.Rb, m.cl_axis_b + 3 * c);
    for (int i = 0; i < (angular == ACROSS ? 2 : 1); ++i)
      out[n++] = cosine(p, turn(p.Ra, m.cl_across_a + 6 * c + 3 * i), axis);
  } else if (angular == ROTATION) {
    rotation_rows(p, compose(p.Ra, m.cl_R_aA + 9 * c), compose(p.Rb, m.cl_R_bB + 9 * c), out + n);
    n += 3;
  }
  return n;
}

// A disc that rolls on a plane: its lowest point P = C + r u, u = -g/|g|, g = n - (n.a) a. Rows: height
// of P (holonomic), then the velocity of the disc's material at P in two directions of the plane.
template <class T>
SARRUS_HD void rolling(const Model<real<T>>& m, int k, const Vec3<T>& O, const Mat3<T>& R, const Vec3<T>& p,
                       const Spatial<T>& V, Row<T>* out) {
  const real<T>*nr = m.ro_normal + 3 * k, *pr = m.ro_point + 3 * k;
  real<T> r = m.ro_radius[k];
  Vec3<T> n = {T(nr[0]), T(nr[1]), T(nr[2])}, ground = Vec3<T>{T(pr[0]), T(pr[1]), T(pr[2])} - O;
  Vec3<T> axis = turn(R, m.ro_axis + 3 * k), centre = p + turn(R, m.ro_centre + 3 * k);
  Vec3<T> w = V.ang, axis_dot = cross(w, axis);
  Vec3<T> g = n - axis * dot(n, axis);
  Vec3<T> g_dot = -(axis * dot(n, axis_dot)) - axis_dot * dot(n, axis);
  T l = sqrt_(dot(g, g));
  Vec3<T> u = g * (real<T>(-1) / l);
  Vec3<T> u_dot = (g_dot - u * dot(u, g_dot)) * (real<T>(-1) / l);
  Vec3<T> P = centre + u * r, P_dot = V.lin + cross(w, centre) + u_dot * r;
  // two directions across the normal: start from the world axis least aligned with it
  bool steep = nr[0] * nr[0] > real<T>(0.5) * (nr[0] * nr[0] + nr[1] * nr[1] + nr[2] * nr[2]);
  Vec3<T> e = steep ? Vec3<T>{T(0), T(1), T(0)} : Vec3<T>{T(1), T(0), T(0)};
  Vec3<T> t1 = e - n * dot(e, n);
  t1 = t1 * (real<T>(1) / sqrt_(dot(t1, t1)));
  const Vec3<T> d[3] = {n, t1, cross(n, t1)};
  for (int j = 0; j < 3; ++j)
    out[j] = {j == 0 ? dot(n, P - ground) : T(0), force_at(P, d[j]), {zero3<T>(), cross(P_dot, d[j])}};
}

template <class T, class LD>
SARRUS_FN void closures(const Model<real<T>>& m, const Tree<T>& t, LD ld, Rows<T>& r) {
  for (int c = 0; c < m.ncl; ++c) {
    int a = m.cl_a[c], b = m.cl_b[c], first = m.cl_row[c];
    Pair<T> p(t.R[a], point_of(t, a, m.cl_p_aA + 3 * c), t.V[a], t.R[b], point_of(t, b, m.cl_p_bB + 3 * c),
              t.V[b]);
    Spatial<T> A = t.A[b] - t.A[a];
    Row<T> rows[6];
    int n = closure(m, c, p, rows);
    for (int i = 0; i < n; ++i) {
      r.phi[first + i] = rows[i].phi;
      r.b[first + i] = T(0);
      r.gamma[first + i] = -(dot(rows[i].W_dot, p.V) + dot(rows[i].W, A));  // (1)
    }
    for (int s = m.cl_sup_begin[c]; s < m.cl_sup_end[c]; ++s) {
      int k = m.sup_col[s];
      Spatial<T> S = t.S[k] * m.sup_sign[s];
      for (int i = 0; i < n; ++i) r.J[(first + i) * ld + k] = dot(rows[i].W, S);  // (1)
    }
  }
}

template <class T, class LD>
SARRUS_FN void rollings(const Model<real<T>>& m, const Tree<T>& t, LD ld, Rows<T>& r) {
  for (int c = 0; c < m.nro; ++c) {
    Row<T> rows[3];
    int first = m.ro_row[c], node = m.ro_node[c];
    rolling(m, c, t.O[0], t.R[node], t.p[node], t.V[node], rows);
    for (int i = 0; i < 3; ++i) {
      r.phi[first + i] = rows[i].phi;
      r.b[first + i] = T(0);
      r.gamma[first + i] = -(dot(rows[i].W_dot, t.V[node]) + dot(rows[i].W, t.A[node] - t.A[0]));
      for (int up = node; up > 0; up = m.parent[up])
        for (int j = 0; j < joint_nv(m.joint[up]); ++j)
          r.J[(first + i) * ld + m.iv[up] + j] = dot(rows[i].W, t.S[m.iv[up] + j]);
    }
  }
}

// sum coef q - offset - f(t), and the rows that come from outside
template <class T, class LD>
SARRUS_FN void couplings(const Model<real<T>>& m, const T* q, const T* drive, const T* user, LD ld,
                         Rows<T>& r) {
  for (int c = 0; c < m.nk; ++c) {
    int row = m.k_row[c], d = m.k_drive[c];
    T phi = T(-m.k_offset[c]);
    for (int i = m.k_begin[c]; i < m.k_end[c]; ++i) {
      phi += q[m.kt_q[i]] * m.kt_coef[i];
      r.J[row * ld + m.kt_v[i]] += m.kt_coef[i];
    }
    r.phi[row] = d < 0 ? phi : phi - drive[3 * d];
    r.b[row] = d < 0 ? T(0) : drive[3 * d + 1];
    r.gamma[row] = d < 0 ? T(0) : drive[3 * d + 2];
  }
  for (int u = 0; u < m.nu; ++u) {
    const T* x = user + u * (3 + m.nv);
    int row = m.u_row[u];
    r.phi[row] = x[0], r.b[row] = x[1], r.gamma[row] = x[2];
    for (int j = 0; j < m.nv; ++j) r.J[row * ld + j] = x[3 + j];
  }
}

// out: phi, J, b, gamma   in: t (placed and moved), q, drive, user
template <class T, class LD>
SARRUS_FN void constraints(const Model<real<T>>& m, const T* q, const T* drive, const T* user,
                           const Tree<T>& t, LD ld, Rows<T>& r) {
  fill(r.J, m.nc * ld);
  closures(m, t, ld, r);
  rollings(m, t, ld, r);
  couplings(m, q, drive, user, ld, r);
}

SARRUS_END
