// Two rounded polytopes (spheres, capsules, polyhedra). Their slots, in this order:
//
//   each corner of a above the nearest feature of b
//   each corner of b above the nearest feature of a, where that is no corner     (not for a sphere a)
//   edges of the faces that look at each other, where they cross: for each edge of the ring with fewer edges
//   where it comes above the other face and where it leaves it; and one for the edges that are nearest where
//   these are not among them
//
// The gap of each is the distance of its two features, whichever of them is the nearest.
#pragma once

#include "base/vectors.hpp"
#include "contacts/pairs/nearest_feature.hpp"
#include "contacts/pairs/separating_axis.hpp"

SARRUS_BEGIN

// Ring: the edges around a face, or the one edge of a capsule
template <class Kind, class C>
SARRUS_HD int ring_size(const C& c, int face) {
  if constexpr (requires { Kind::planes(c); })
    return Kind::loop_size(c, face);
  else
    return Kind::edges(c);
}
template <class Kind, class C>
SARRUS_HD Edge ring_edge(const C& c, int face, int i) {
  if constexpr (requires { Kind::planes(c); }) {
    int last = Kind::loop_size(c, face) - 1;
    return {Kind::loop_corner(c, face, i == 0 ? last : i - 1), Kind::loop_corner(c, face, i), face, face};
  } else {
    return Kind::edge(c, i);
  }
}
template <class Kind, class C>
SARRUS_HD int largest_ring(const C& c) {
  int most = ring_size<Kind>(c, 0);
  for (int f = 1; f < Kind::faces(c); ++f) most = larger(ring_size<Kind>(c, f), most);
  return most;
}

// The face that looks most in a direction of its frame
template <class Kind, class C>
SARRUS_HD int face_towards(const C& c, const Vec3<double>& direction) {
  int found = 0;
  if constexpr (requires { Kind::planes(c); }) {
    double most = -FAR_AWAY;
    for (int f = 0; f < Kind::faces(c); ++f) {
      double look = dot(value(Kind::plane(c, f).normal), direction);
      if (look > most) most = look, found = f;
    }
  }
  return found;
}

template <class Kind, class C>
SARRUS_HD bool ring_has(const C& c, int face, const Edge& e) {
  for (int i = 0; i < ring_size<Kind>(c, face); ++i) {
    Edge r = ring_edge<Kind>(c, face, i);
    if ((r.from == e.from && r.to == e.to) || (r.from == e.to && r.to == e.from)) return true;
  }
  return false;
}

template <class Kind, class T, class C>
SARRUS_HD Segment<T> placed_edge(const C& c, const Edge& e, const Frame<T>& X) {
  return {placed_corner<Kind>(c, e.from, X), placed_corner<Kind>(c, e.to, X)};
}

// Whether neither of two kinds has a rounding
template <class KindA, class KindB>
constexpr bool BothSharp = false;
template <>
constexpr bool BothSharp<Polyhedron, Polyhedron> = true;

constexpr double SAME_FACE = 1 - 1e-4;  // cosine between faces that a corner passes as if they were one

// The corners of one of two polytopes above the other; all directions in the world.
template <class Kind, class Other, class T, class C, class D>
struct CornersAbove {
  static constexpr bool sharp = BothSharp<Kind, Other>;
  const C& c;  // whose corners
  const Frame<T>& X;
  Frame<double> x;
  const D& d;  // above what
  const Frame<T>& Y;
  Frame<double> y;
  Beyond other;  // from d to c, in the frame of d

  // Seen from c: its corner k
  SARRUS_HD ContactPoint<T> slot(int k) const {
    Vec3<T> p = placed_corner<Kind>(c, k, X);
    Feature near = nearest_feature<Other>(d, into(y, value(p)), other);
    FromFeature<T> f = from_feature<Other>(d, Y, near, p);
    auto found = touch_at(p - f.outward * Kind::radius(c), -f.outward,
                          f.distance - Kind::radius(c) - Other::radius(d));
    found.passing = passes(near, foot_of(p, f));
    return found;
  }
  // Seen from d: corner k of c, where it is not above a corner of d
  SARRUS_HD void slot_of_other(int k, ContactPoint<T>& out) const {
    Vec3<T> p = placed_corner<Kind>(c, k, X);
    Feature near = nearest_feature<Other>(d, into(y, value(p)), other);
    FromFeature<T> f = from_feature<Other>(d, Y, near, p);
    Vec3<double> foot = foot_of(p, f);
    if (near.kind == OF_CORNER || at_corner(foot)) return leave_open(out);
    out = touch_at(p - f.outward * (f.distance - Other::radius(d)), f.outward,
                   f.distance - Kind::radius(c) - Other::radius(d));
    out.passing = passes(near, foot);
  }

 private:
  // Where a corner p stands on d, in the frame of d
  SARRUS_HD Vec3<double> foot_of(const Vec3<T>& p, const FromFeature<T>& f) const {
    return into(y, value(p - f.outward * f.distance));
  }
  SARRUS_HD bool at_corner(const Vec3<double>& foot) const {
    return any_of(Other::corners(d),
                  [&](int i) { return norm(foot - value(Other::corner(d, i))) <= other.skin; });
  }
  // Without a rounding only faces stop a corner: it touches an edge where the edge of its own does. Nor does
  // a face stop it at its border, where c is on the other side of the face beyond.
  SARRUS_HD bool passes(Feature near, const Vec3<double>& foot) const {
    if constexpr (sharp) return near.kind != OF_FACE || passes_border(near.index, foot);
    return false;
  }
  SARRUS_HD bool passes_border(int face, const Vec3<double>& foot) const {
    Vec3<double> n = value(Other::plane(d, face).normal);
    auto passes_onto = [&](int beyond) {
      auto plane = Other::plane(d, beyond);
      if (dot(value(plane.normal), n) > SAME_FACE) return false;
      if (dot(value(plane.normal), foot) - value(plane.offset) < -other.skin - 2 * other.deep) return false;
      double out = out_of_face(d, y, beyond, c, x);
      return out >= -other.skin || out > out_of_face(d, y, face, c, x) + other.skin;
    };
    return any_of(Other::faces(d), passes_onto);
  }
};

template <class KindA, class KindB>
struct RoundedPair {
  template <class P, class C>
  static SARRUS_HD int crossings(const P& a, const C& b) {
    if (KindA::edges(a) == 0) return 0;
    int fewer = smaller(largest_ring<KindA>(a), largest_ring<KindB>(b));
    return KindB::edges(b) == 1 ? 1 : 2 * fewer + 1;
  }
  template <class P, class C>
  static SARRUS_HD int slots(const P& a, const C& b) {
    int of_b = KindA::edges(a) ? KindB::corners(b) : 0;
    return KindA::corners(a) + of_b + crossings(a, b);
  }

  // Length below which places coincide
  template <class P, class C>
  static SARRUS_HD double skin(const P& a, const C& b) {
    return SKIN * (norm(value(KindA::corner(a, KindA::corners(a) - 1) - KindA::corner(a, 0))) +
                   norm(value(KindB::corner(b, KindB::corners(b) - 1) - KindB::corner(b, 0))));
  }

  template <class T, class P, class C>
  static SARRUS_FN int points(const P& a, const Frame<T>& A, const C& b, const Frame<T>& B,
                              ContactPoint<T>* out) {
    constexpr bool sharp = BothSharp<KindA, KindB>;
    Frame<double> Av = value(A), Bv = value(B);
    double edge = skin(a, b);
    SeparatingAxis axis;
    axis.g = Bv.p - Av.p, axis.apart = 0;
    if constexpr (sharp) axis = separating_axis(a, Av, b, Bv, edge);
    double deep = larger(-axis.apart, 0.0);
    CornersAbove<KindA, KindB, T, P, C> of_a{a, A, Av, b, B, Bv, {unturn(Bv.R, -axis.g), deep, edge}};
    int count = KindA::corners(a);
    for (int k = 0; k < count; ++k) out[k] = of_a.slot(k);
    if (KindA::edges(a) == 0) return 0;
    CornersAbove<KindB, KindA, T, C, P> of_b{b, B, Bv, a, A, Av, {unturn(Av.R, axis.g), deep, edge}};
    for (int k = 0; k < KindB::corners(b); ++k) of_b.slot_of_other(k, out[count + k]);
    count += KindB::corners(b);
    if constexpr (!sharp) axis = nearest_edges(a, Av, b, Bv, count, out);
    for (int k = 0; k < crossings(a, b); ++k) leave_open(out[count + k]);
    cross(a, A, b, B, axis, out + count);
    return 0;
  }

 private:
  // The direction from a to b where one of them is a capsule: that of the slot with the least gap so far, or
  // across the edges that are nearer
  template <class T, class P, class C>
  static SARRUS_HD SeparatingAxis nearest_edges(const P& a, const Frame<double>& A, const C& b,
                                                const Frame<double>& B, int count,
                                                const ContactPoint<T>* out) {
    SeparatingAxis best;
    best.apart = FAR_AWAY;
    for (int k = 0; k < count; ++k)
      if (value(out[k].gap) < best.apart) best = {value(out[k].normal), value(out[k].gap), -1, -1};
    double radii = value(KindA::radius(a)) + value(KindB::radius(b));
    Segment<double> bar = placed_edge<KindA>(a, KindA::edge(a, 0), A);
    for (int j = 0; j < KindB::edges(b); ++j) {
      Segment<double> side = placed_edge<KindB>(b, KindB::edge(b, j), B);
      Vec3<double> n = sarrus::cross(bar.to - bar.from, side.to - side.from);
      double size = norm(n);
      if (!(size > 0) || !edges_cross(bar, side, n * (1 / size))) continue;
      double along = dot(n, side.from - bar.from) / size, apart = abs_(along) - radii;
      if (apart < best.apart) best = {n * ((along < 0 ? -1 : 1) / size), apart, 0, j};
    }
    return best;
  }

  template <class T, class P, class C>
  static SARRUS_HD void cross(const P& a, const Frame<T>& A, const C& b, const Frame<T>& B,
                              const SeparatingAxis& axis, ContactPoint<T>* out) {
    Frame<double> Av = value(A), Bv = value(B);
    int face_a = face_towards<KindA>(a, unturn(Av.R, axis.g));
    int face_b = face_towards<KindB>(b, unturn(Bv.R, -axis.g));
    bool by_a = largest_ring<KindA>(a) <= largest_ring<KindB>(b);
    auto try_at = [&](const Edge& ea, const Edge& eb, ContactPoint<T>& slot) {
      if (edges_cross(placed_edge<KindA>(a, ea, Av), placed_edge<KindB>(b, eb, Bv), axis.g))
        slot = cross_at(placed_edge<KindA>(a, ea, A), placed_edge<KindB>(b, eb, B), axis.g, KindA::radius(a),
                        KindB::radius(b));
    };
    for (int i = 0; i < ring_size<KindA>(a, face_a); ++i) {
      Edge ea = ring_edge<KindA>(a, face_a, i);
      for (int j = 0; j < ring_size<KindB>(b, face_b); ++j) {
        Edge eb = ring_edge<KindB>(b, face_b, j);
        try_at(ea, eb, out[place_of(a, Av, ea, b, Bv, eb, axis.g, by_a ? i : j)]);
      }
    }
    if (axis.edge_a < 0 || KindB::edges(b) == 1) return;
    Edge ea = KindA::edge(a, axis.edge_a), eb = KindB::edge(b, axis.edge_b);
    if (!ring_has<KindA>(a, face_a, ea) || !ring_has<KindB>(b, face_b, eb))
      try_at(ea, eb, out[crossings(a, b) - 1]);
  }

  // The slot of two edges of rings: two for each edge of the smaller ring, entering and leaving
  template <class P, class C>
  static SARRUS_HD int place_of(const P& a, const Frame<double>& A, const Edge& ea, const C& b,
                                const Frame<double>& B, const Edge& eb, const Vec3<double>& g, int edge) {
    if (KindB::edges(b) == 1) return 0;
    Segment<double> u = placed_edge<KindA>(a, ea, A), v = placed_edge<KindB>(b, eb, B);
    return 2 * edge + (dot(sarrus::cross(u.to - u.from, v.to - v.from), g) < 0 ? 1 : 0);
  }
};

SARRUS_END
