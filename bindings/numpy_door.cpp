#include "numpy_door.hpp"

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>

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

}  // namespace

nb::object acceleration_door(const Kernel& k, nb::handle q, nb::handle v, nb::handle tau) {
  if (k.m.nd || k.m.nu) return nb::none();
  const double *x = vector(q, k.m.nq), *y = vector(v, k.m.nv), *z = vector(tau, k.m.nv);
  if (!x || !y || !z) return nb::none();
  npy_intp n = k.m.nv;
  nb::object out = nb::steal(PyArray_SimpleNew(1, &n, NPY_DOUBLE));
  auto* a = static_cast<double*>(PyArray_DATA(reinterpret_cast<PyArrayObject*>(out.ptr())));
  if (!k.table->acceleration(k.m, x, y, z, a)) return nb::none();
  return out;
}

}  // namespace sarrus
