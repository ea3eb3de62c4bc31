#include "call_state.hpp"

#define SARRUS_IMPORTS_NUMPY
#include "../numpy.hpp"

#include <optional>

namespace sarrus {

void import_numpy() {
  if (_import_array() < 0) throw nb::python_error();
}

namespace {

// Finite vector of n doubles, or null.
const double* vector(nb::handle x, int n) {
  if (!PyArray_CheckExact(x.ptr())) return nullptr;
  auto* a = reinterpret_cast<PyArrayObject*>(x.ptr());
  if (PyArray_NDIM(a) != 1 || PyArray_DIM(a, 0) != n || PyArray_TYPE(a) != NPY_DOUBLE ||
      !PyArray_ISCARRAY_RO(a))
    return nullptr;
  auto* data = static_cast<const double*>(PyArray_DATA(a));
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += data[i] * 0;
  return sum == 0 ? data : nullptr;
}

}  // namespace

nb::object acceleration_of(const Kernel& k, nb::handle q, nb::handle v, nb::handle tau) {
  if (k.m.nd || k.m.n_user_rows) return nb::none();
  const double *x = vector(q, k.m.nq), *y = vector(v, k.m.nv), *z = vector(tau, k.m.nv);
  if (!x || !y || !z) return nb::none();
  NewArray a({k.m.nv});
  if (!k.tables.batches.acceleration(k.m, x, y, z, a.data)) return nb::none();
  return a.object;
}

nb::object derivatives_of(const Kernel& k, nb::handle q, nb::handle v, nb::handle tau) {
  if (k.m.nd || k.m.n_user_rows || k.m.nq != k.m.nv) return nb::none();
  const double *x = vector(q, k.m.nq), *y = vector(v, k.m.nv), *z = vector(tau, k.m.nv);
  if (!x || !y || !z) return nb::none();
  NewArray a({3, k.m.nv, k.m.nv}), lam({3, k.m.nc, k.m.nv}), Jv_q({k.m.nc, k.m.nv});
  int rank = 0, status = 0;
  k.tables.batches.derivatives(k.m, States{1, x, y, nullptr, nullptr}, z, false,
                               {a.data, lam.data, Jv_q.data, &rank, &status});
  double sum = 0;
  for (int i = 0; i < 3 * k.m.nv * k.m.nv; ++i) sum += a.data[i] * 0;
  if (status || sum != 0) return nb::none();
  return nb::make_tuple(a.object, lam.object, Jv_q.object, rank);
}

nb::tuple terms_of(const Kernel& k, nb::handle q, nb::handle v, nb::handle drive, nb::handle user) {
  npy_intp nv = k.m.nv, nc = k.m.nc, nd = k.m.nd, nu = k.m.n_user_rows;
  Dense q_(q, "q", {k.m.nq}), v_(v, "v", {nv});
  States s{1, q_, v_, nullptr, nullptr};
  std::optional<Dense> drive_, user_;
  if (nd) s.drive = drive_.emplace(drive, "drive", Dims{1, nd, 3});
  if (nu) s.user = user_.emplace(user, "user", Dims{1, nu, 3 + nv});
  NewArray M({nv, nv}), h({nv}), phi({nc}), J({nc, nv}), b({nc}), gamma({nc});
  k.tables.batches.terms(k.m, s, M.data, h.data, {phi.data, J.data, b.data, gamma.data});
  return nb::make_tuple(M.object, h.object, phi.object, J.object, b.object, gamma.object);
}

nb::tuple frames_of(const Kernel& k, nb::handle q, nb::handle v) {
  npy_intp n = k.m.nb;
  Dense q_(q, "q", {k.m.nq}), v_(v, "v", {k.m.nv});
  NewArray R({n, 3, 3}), p({n, 3}), V({n, 6}), A({n, 6});
  k.tables.batches.frames(k.m, {1, q_, v_, nullptr, nullptr}, {R.data, p.data, V.data, A.data});
  return nb::make_tuple(R.object, p.object, V.object, A.object);
}

nb::tuple point_of(const Kernel& k, nb::handle q, nb::handle v, int body, nb::handle point) {
  if (body < 0 || body >= k.m.nb) throw nb::index_error("`body` is not the index of a body");
  Dense q_(q, "q", {k.m.nq}), v_(v, "v", {k.m.nv}), point_(point, "point", {3});
  NewArray x({3}), V({6}), A({6}), J({6, k.m.nv}), R({3, 3});
  k.tables.batches.point(k.m, {1, q_, v_, nullptr, nullptr}, body, point_, {R.data, x.data, V.data, A.data},
                         J.data);
  return nb::make_tuple(x.object, V.object, A.object, J.object, R.object);
}

nb::object jacobian_of(const Kernel& k, nb::handle q, int body, nb::handle point) {
  if (body < 0 || body >= k.m.nb) throw nb::index_error("`body` is not the index of a body");
  Dense q_(q, "q", {k.m.nq}), point_(point, "point", {3});
  NewArray J({6, k.m.nv});
  k.tables.batches.jacobian(k.m, {1, q_, nullptr, nullptr, nullptr}, body, point_, J.data);
  return J.object;
}

}  // namespace sarrus
