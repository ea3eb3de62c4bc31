// Bodies that share a node as one: masses add, centres of mass average, inertias add by the parallel axis
// theorem. Spatial inertias about the origin of the node would add as well, but lose the digits of small
// bodies far from it.
#pragma once

#include "algebra/spatial.hpp"

SARRUS_BEGIN

// Bodies, row by row: node (n), rotation (9) and place (3) of their frames on it, mass, centre of mass (3)
// and inertia about it (9) in their frames
template <class T>
struct BodyInertias {
  int n;
  const long long* node;
  const T *R, *p, *mass, *com, *inertia;
};

// Of nodes: mass, centre of mass (3), inertia about it (6: xx xy xz yy yz zz)
template <class T>
struct NodeInertias {
  T *mass, *com, *inertia;
};

// Centre of mass of body i in its node frame
template <class T>
SARRUS_HD Vec3<T> center_on_node(const BodyInertias<T>& b, int i) {
  const T *r = b.R + 9 * i, *p = b.p + 3 * i;
  Mat3<T> R = {{r[0], r[3], r[6]}, {r[1], r[4], r[7]}, {r[2], r[5], r[8]}};
  return Vec3<T>{p[0], p[1], p[2]} + turn(R, b.com + 3 * i);
}

// Adds body i, whose centre of mass is d away from that of its node
template <class T>
SARRUS_FN void add_inertia(const BodyInertias<T>& b, int i, const Vec3<T>& d, T* sum) {
  const T *r = b.R + 9 * i, *I = b.inertia + 9 * i;
  Mat3<T> R = {{r[0], r[3], r[6]}, {r[1], r[4], r[7]}, {r[2], r[5], r[8]}};
  const T upper[6] = {I[0], I[1], I[2], I[4], I[5], I[8]};
  Inertia<T> turned = world_inertia(R, d, b.mass[i], upper);
  const T parts[6] = {turned.xx, turned.xy, turned.xz, turned.yy, turned.yz, turned.zz};
  add(sum, parts, 6);
}

// out: zero where no body moves, node 0 (the ground) among them   in: out, zero; scratch count (nn), zero
template <class T>
SARRUS_FN void merge_inertias(const BodyInertias<T>& b, int* count, const NodeInertias<T>& out) {
  for (int i = 0; i < b.n; ++i) {
    if (b.node[i] == 0) continue;
    out.mass[b.node[i]] += b.mass[i];
    ++count[b.node[i]];
  }
  for (int i = 0; i < b.n; ++i) {
    long long k = b.node[i];
    if (k == 0 || (count[k] > 1 && b.mass[i] == 0)) continue;
    T share = count[k] == 1 ? T(1) : b.mass[i] / out.mass[k];
    Vec3<T> c = center_on_node(b, i) * share;
    out.com[3 * k] += c.x, out.com[3 * k + 1] += c.y, out.com[3 * k + 2] += c.z;
  }
  for (int i = 0; i < b.n; ++i) {
    long long k = b.node[i];
    if (k == 0) continue;
    Vec3<T> c = {out.com[3 * k], out.com[3 * k + 1], out.com[3 * k + 2]};
    Vec3<T> away = count[k] == 1 ? zero3<T>() : center_on_node(b, i) - c;
    add_inertia(b, i, away, out.inertia + 6 * k);
  }
}

SARRUS_END
