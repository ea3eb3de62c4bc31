#include "numpy_door.hpp"

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>

#include <initializer_list>

namespace sarrus {

void open_numpy_door() {
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

// A new array.
struct Made {
  nb::object array;
  double* data;
  explicit Made(std::initializer_list<npy_intp> shape)
      : array(nb::steal(PyArray_SimpleNew(static_cast<int>(shape.size()), shape.begin(), NPY_DOUBLE))) {
    if (!array) throw nb::python_error();
    data = static_cast<double*>(PyArray_DATA(reinterpret_cast<PyArrayObject*>(array.ptr())));
  }
};

}  // namespace

nb::object acceleration_door(const Kernel& k, nb::handle q, nb::handle v, nb::handle tau) {
  if (k.m.nd || k.m.nu) return nb::none();
  const double *x = vector(q, k.m.nq), *y = vector(v, k.m.nv), *z = vector(tau, k.m.nv);
  if (!x || !y || !z) return nb::none();
  Made a({k.m.nv});
  if (!k.table->acceleration(k.m, x, y, z, a.data)) return nb::none();
  return a.array;
}

nb::object derivatives_door(const Kernel& k, nb::handle q, nb::handle v, nb::handle tau) {
  if (k.m.nd || k.m.nu || k.m.nq != k.m.nv) return nb::none();
  const double *x = vector(q, k.m.nq), *y = vector(v, k.m.nv), *z = vector(tau, k.m.nv);
  if (!x || !y || !z) return nb::none();
  Made a({3, k.m.nv, k.m.nv}), lam({3, k.m.nc, k.m.nv}), Jv_q({k.m.nc, k.m.nv});
  int rank = 0, status = 0;
  k.table->derivatives(k.m, States{1, x, y, nullptr, nullptr}, z, false, a.data, lam.data, Jv_q.data, &rank,
                       &status);
  double sum = 0;
  for (int i = 0; i < 3 * k.m.nv * k.m.nv; ++i) sum += a.data[i] * 0;
  if (status || sum != 0) return nb::none();
  return nb::make_tuple(a.array, lam.array, Jv_q.array, rank);
}

}  // namespace sarrus
