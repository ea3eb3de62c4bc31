// The direction along which two polyhedra are farthest apart, or inside each other least: a normal of a face
// of either, or across an edge of each whose arcs on the sphere of normals cross. [Gregorius2013]
#pragma once

#include "base/vectors.hpp"
#include "contacts/pairs/crossing_edges.hpp"
#include "contacts/shapes/polyhedron.hpp"

SARRUS_BEGIN

struct SeparatingAxis {
  Vec3<double> g = {0, 0, 1};  // from a to b, in the world
  double apart = -FAR_AWAY;
  int edge_a = -1, edge_b = -1;  // where it is across two edges
};

// How far all of b is outside of the plane of a face of a
template <class C, class D>
SARRUS_HD double out_of_face(const C& a, const Frame<double>& A, int face, const D& b,
                             const Frame<double>& B) {
  auto plane = Polyhedron::plane(a, face);
  Vec3<double> n = turn(A.R, value(plane.normal)), n_b = unturn(B.R, n);
  double least = FAR_AWAY;
  for (int k = 0; k < Polyhedron::corners(b); ++k)
    least = smaller(dot(n_b, value(Polyhedron::corner(b, k))), least);
  return least + dot(n, B.p - A.p) - value(plane.offset);
}

// The face of a of which b is most outside
template <class C, class D>
SARRUS_HD void look_along_faces(const C& a, const Frame<double>& A, const D& b, const Frame<double>& B,
                                double sign, double skin, SeparatingAxis& best) {
  for (int f = 0; f < Polyhedron::faces(a); ++f) {
    double apart = out_of_face(a, A, f, b, B);
    if (apart > best.apart + skin)
      best = {turn(A.R, value(Polyhedron::plane(a, f).normal)) * sign, apart, -1, -1};
  }
}

// Whether the arcs of normals of two edges cross: a, b those of one edge, c, d those of the other, reversed
SARRUS_HD bool arcs_cross(const Vec3<double>& a, const Vec3<double>& b, const Vec3<double>& c,
                          const Vec3<double>& d) {
  Vec3<double> ab = cross(b, a), cd = cross(d, c);
  double cba = dot(c, ab), dba = dot(d, ab), adc = dot(a, cd), bdc = dot(b, cd);
  return cba * dba < 0 && adc * bdc < 0 && cba * bdc > 0;
}

template <class C, class D>
SARRUS_HD void look_across_edges(const C& a, const Frame<double>& A, const D& b, const Frame<double>& B,
                                 double skin, SeparatingAxis& best) {
  for (int i = 0; i < Polyhedron::edges(a); ++i) {
    Edge ea = Polyhedron::edge(a, i);
    auto normal_a = [&](int f) { return turn(A.R, value(Polyhedron::plane(a, f).normal)); };
    Vec3<double> left = normal_a(ea.left), right = normal_a(ea.right);
    Vec3<double> from = out_of(A, value(Polyhedron::corner(a, ea.from)));
    Vec3<double> along = out_of(A, value(Polyhedron::corner(a, ea.to))) - from;
    for (int j = 0; j < Polyhedron::edges(b); ++j) {
      Edge eb = Polyhedron::edge(b, j);
      auto normal_b = [&](int f) { return turn(B.R, value(Polyhedron::plane(b, f).normal)); };
      if (!arcs_cross(left, right, -normal_b(eb.left), -normal_b(eb.right))) continue;
      Vec3<double> start = out_of(B, value(Polyhedron::corner(b, eb.from)));
      Vec3<double> along_b = out_of(B, value(Polyhedron::corner(b, eb.to))) - start,
                   n = cross(along, along_b);
      double size = norm(n), sign = dot(n, left + right) < 0 ? -1 : 1;
      bool parallel = !(size > PARALLEL * norm(along) * norm(along_b));  // then faces say it
      double apart = parallel ? -FAR_AWAY : sign * dot(n, start - from) / size;
      if (apart > best.apart + skin) best = {n * (sign / size), apart, i, j};
    }
  }
}

// Ties, to within the skin, go to the faces of a, then to those of b: what lies flat stays flat.
template <class C, class D>
SARRUS_FN SeparatingAxis separating_axis(const C& a, const Frame<double>& A, const D& b,
                                         const Frame<double>& B, double skin) {
  SeparatingAxis best;
  look_along_faces(a, A, b, B, 1, skin, best);
  look_along_faces(b, B, a, A, -1, skin, best);
  look_across_edges(a, A, b, B, skin, best);
  return best;
}

SARRUS_END
