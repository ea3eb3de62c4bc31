// Two points on two nodes, a and b, and how they move: what constraints and forces between bodies see.
#pragma once

#include "algebra/dual.hpp"
#include "tree/kinematics.hpp"

SARRUS_BEGIN

// The point r of node i
template <class T>
SARRUS_HD Vec3<T> point_of(const Tree<T>& t, int i, const real<T>* r) {
  return t.p[i] + turn(t.R[i], r);
}

// Point A on node a and point B on node b: attitudes of the nodes, places and velocities of the points.
template <class T>
struct Pair {
  Mat3<T> Ra, Rb;
  Vec3<T> pA, pB, vA, vB, wa, wb;
  Spatial<T> V;  // twist of b relative to a

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

// The pair of an element with parameters c between nodes a and b   in: t (moved)
template <class T, class C>
SARRUS_HD Pair<T> pair_of(const Tree<T>& t, int a, int b, const C& c) {
  return Pair<T>(t.R[a], point_of(t, a, c.p_a), t.V[a], t.R[b], point_of(t, b, c.p_b), t.V[b]);
}

// Where a latch has moved frame A of an element on its node: turned by R, with its point at p.
template <class T>
struct LatchedFrame {
  Mat3<T> R;
  Vec3<T> p;
};

// The same with frame A where a latch has moved it
template <class T, class C>
SARRUS_HD Pair<T> pair_of(const Tree<T>& t, int a, int b, const C& c, const LatchedFrame<T>& A) {
  return Pair<T>(compose(t.R[a], A.R), t.p[a] + turn(t.R[a], A.p), t.V[a], t.R[b], point_of(t, b, c.p_b),
                 t.V[b]);
}

// Dual numbers with the given derivative: none, a vector, a rotation that turns with w.
template <class T>
SARRUS_HD Vec3<Dual<T>> lift(const Vec3<T>& x, const Vec3<T>& d) {
  return {{x.x, d.x}, {x.y, d.y}, {x.z, d.z}};
}
template <class T>
SARRUS_HD Spatial<Dual<T>> lift(const Spatial<T>& x, const Spatial<T>& d) {
  return {lift(x.lin, d.lin), lift(x.ang, d.ang)};
}
template <class T>
SARRUS_HD Mat3<Dual<T>> lift(const Mat3<T>& R, const Vec3<T>& w) {
  return {lift(R.x, cross(w, R.x)), lift(R.y, cross(w, R.y)), lift(R.z, cross(w, R.z))};
}

// Values and derivatives of a spatial vector of dual numbers.
template <class T>
SARRUS_HD Spatial<T> value_of(const Spatial<Dual<T>>& x) {
  return {{x.lin.x.a, x.lin.y.a, x.lin.z.a}, {x.ang.x.a, x.ang.y.a, x.ang.z.a}};
}
template <class T>
SARRUS_HD Spatial<T> slope_of(const Spatial<Dual<T>>& x) {
  return {{x.lin.x.b, x.lin.y.b, x.lin.z.b}, {x.ang.x.b, x.ang.y.b, x.ang.z.b}};
}

// The pair seen from node a, with b displaced along the twist s and moving with the relative twist V.
template <class T, class C>
SARRUS_HD Pair<Dual<T>> displaced(const Tree<T>& t, int a, int b, const C& c, const Spatial<T>& s,
                                  const Spatial<Dual<T>>& V) {
  Vec3<T> o = zero3<T>(), pA = point_of(t, a, c.p_a), pB = point_of(t, b, c.p_b);
  return Pair<Dual<T>>(lift(t.R[a], o), lift(pA, o), zero6<Dual<T>>(), lift(t.R[b], s.ang),
                       lift(pB, s.lin + cross(s.ang, pB)), V);
}

SARRUS_END
