// NumPy's own C interface, shared by the files that use it: dense arrays in and out at a tenth of a
// microsecond.
#pragma once

#include <nanobind/nanobind.h>

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL sarrus_numpy
#ifndef SARRUS_IMPORTS_NUMPY
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>

#include <initializer_list>
#include <string>

namespace sarrus {

namespace nb = nanobind;
using Dims = std::initializer_list<npy_intp>;

// The data of a C-contiguous array of this type and shape; null for anything else.
inline const void* data_of(nb::handle x, int type, Dims shape) {
  if (!PyArray_Check(x.ptr())) return nullptr;
  auto* a = reinterpret_cast<PyArrayObject*>(x.ptr());
  if (PyArray_TYPE(a) != type || !PyArray_ISCARRAY_RO(a) || PyArray_NDIM(a) != static_cast<int>(shape.size()))
    return nullptr;
  int axis = 0;
  for (npy_intp n : shape)
    if (PyArray_DIM(a, axis++) != n) return nullptr;
  return PyArray_DATA(a);
}

inline npy_intp length_of(nb::handle x, int axis = 0) {
  if (!PyArray_Check(x.ptr())) return 0;
  auto* a = reinterpret_cast<PyArrayObject*>(x.ptr());
  return axis < PyArray_NDIM(a) ? PyArray_DIM(a, axis) : 0;
}

// The data of anything that NumPy can make such an array of; a copy is made only where needed, and kept
// alive.
struct Dense {
  nb::object copy;
  const double* data;

  Dense(nb::handle x, const char* name, Dims shape)
      : data(static_cast<const double*>(data_of(x, NPY_DOUBLE, shape))) {
    if (data) return;
    copy = nb::steal(PyArray_FROMANY(x.ptr(), NPY_DOUBLE, 0, 0, NPY_ARRAY_CARRAY_RO));
    if (!copy.is_valid()) throw nb::python_error();
    data = static_cast<const double*>(data_of(copy, NPY_DOUBLE, shape));
    if (data) return;
    std::string want;
    for (npy_intp n : shape) want += (want.empty() ? "" : ", ") + std::to_string(n);
    throw nb::value_error((std::string("`") + name + "` must have shape (" + want + ")").c_str());
  }
  operator const double*() const { return data; }
};

inline const long long* indices(nb::handle x, const char* name, npy_intp n, npy_intp below) {
  auto* data = static_cast<const long long*>(data_of(x, NPY_INT64, {n}));
  bool fits = data != nullptr;
  for (npy_intp i = 0; fits && i < n; ++i) fits = data[i] >= 0 && data[i] < below;
  if (!fits) throw nb::value_error((std::string("`") + name + "` must be indices, int64").c_str());
  return data;
}

// A new array of doubles, not initialized.
struct NewArray {
  nb::object object;
  double* data;

  explicit NewArray(Dims shape) {
    object = nb::steal(
        PyArray_SimpleNew(static_cast<int>(shape.size()), const_cast<npy_intp*>(shape.begin()), NPY_DOUBLE));
    if (!object.is_valid()) throw nb::python_error();
    data = static_cast<double*>(PyArray_DATA(reinterpret_cast<PyArrayObject*>(object.ptr())));
  }
  NewArray(Dims shape, const double* from) : NewArray(shape) {
    npy_intp size = 1;
    for (npy_intp n : shape) size *= n;
    for (npy_intp i = 0; i < size; ++i) data[i] = from[i];
  }
};

// A new array of truth values, not initialized.
struct NewFlags {
  nb::object object;
  unsigned char* data;

  explicit NewFlags(npy_intp n) : object(nb::steal(PyArray_SimpleNew(1, &n, NPY_BOOL))) {
    if (!object.is_valid()) throw nb::python_error();
    data = static_cast<unsigned char*>(PyArray_DATA(reinterpret_cast<PyArrayObject*>(object.ptr())));
  }
};

}  // namespace sarrus
