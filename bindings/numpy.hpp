// Dense arrays in and out through NumPy's own C interface, at a tenth of a microsecond each: shapes are
// checked here, once, by name.
#pragma once

#include <nanobind/nanobind.h>

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL sarrus_numpy
#ifndef SARRUS_IMPORTS_NUMPY
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>

#include <algorithm>
#include <initializer_list>
#include <string>

namespace sarrus {

namespace nb = nanobind;

struct Shape {
  npy_intp sizes[32];
  int rank = 0;

  Shape(std::initializer_list<npy_intp> list) {
    for (npy_intp n : list) sizes[rank++] = n;
  }
  Shape(const npy_intp* from, int count) : rank(count) { std::copy_n(from, count, sizes); }
  std::string text() const {
    std::string s;
    for (int i = 0; i < rank; ++i) s += (i ? ", " : "") + std::to_string(sizes[i]);
    return "(" + s + ")";
  }
};

template <class T>
constexpr int NUMPY_TYPE = NPY_DOUBLE;
template <>
inline constexpr int NUMPY_TYPE<int> = NPY_INT;
template <>
inline constexpr int NUMPY_TYPE<long long> = NPY_INT64;
template <>
inline constexpr int NUMPY_TYPE<unsigned char> = NPY_BOOL;
template <>
inline constexpr int NUMPY_TYPE<signed char> = NPY_INT8;

inline PyArrayObject* as_array(nb::handle x) { return reinterpret_cast<PyArrayObject*>(x.ptr()); }

// The data of a C-contiguous array of this type and shape; null for anything else.
template <class T>
const T* data_of(nb::handle x, const Shape& shape) {
  if (!PyArray_Check(x.ptr()) || PyArray_TYPE(as_array(x)) != NUMPY_TYPE<T> ||
      !PyArray_ISCARRAY_RO(as_array(x)) || PyArray_NDIM(as_array(x)) != shape.rank ||
      !std::equal(shape.sizes, shape.sizes + shape.rank, PyArray_DIMS(as_array(x))))
    return nullptr;
  return static_cast<const T*>(PyArray_DATA(as_array(x)));
}

inline int axes_of(nb::handle x) { return PyArray_Check(x.ptr()) ? PyArray_NDIM(as_array(x)) : 0; }

inline npy_intp length_of(nb::handle x, int axis = 0) {
  return axis < axes_of(x) ? PyArray_DIM(as_array(x), axis) : 0;
}

inline bool finite(const double* x, npy_intp n) {
  double sum = 0;
  for (npy_intp i = 0; i < n; ++i) sum += x[i] * 0;
  return sum == 0;
}

// A plain finite vector of n doubles, of which nothing needs to be converted or explained, or null.
inline const double* finite_vector(nb::handle x, npy_intp n) {
  const double* data = PyArray_CheckExact(x.ptr()) ? data_of<double>(x, {n}) : nullptr;
  return data && finite(data, n) ? data : nullptr;
}

// The data of anything that NumPy can make such an array of, which is kept alive; a copy is made only where
// needed. Null without an argument, and for None where that is allowed.
struct Dense {
  nb::object copy;
  const double* data = nullptr;

  Dense() {}
  explicit Dense(nb::handle x)
      : copy(nb::steal(PyArray_FROMANY(x.ptr(), NPY_DOUBLE, 0, 0, NPY_ARRAY_CARRAY_RO))) {
    if (!copy.is_valid()) throw nb::python_error();
    data = static_cast<const double*>(PyArray_DATA(as_array(copy)));
  }
  Dense(nb::handle x, const char* name, const Shape& shape)
      : copy(nb::borrow(x)), data(data_of<double>(x, shape)) {
    if (data) return;
    *this = Dense(x);
    if (data_of<double>(copy, shape)) return;
    Shape got(PyArray_DIMS(as_array(copy)), std::min(PyArray_NDIM(as_array(copy)), 32));
    std::string message = "`";
    message.append(name)
        .append("` must have shape ")
        .append(shape.text())
        .append(", got ")
        .append(got.text());
    throw nb::value_error(message.c_str());
  }
  static Dense or_none(nb::handle x, const char* name, const Shape& shape) {
    return x.is_none() ? Dense() : Dense(x, name, shape);
  }
  npy_intp size() const { return PyArray_SIZE(as_array(copy)); }
  operator const double*() const { return data; }
};

inline const long long* indices(nb::handle x, const char* name, npy_intp n, npy_intp below) {
  auto* data = data_of<long long>(x, {n});
  bool fits = data != nullptr;
  for (npy_intp i = 0; fits && i < n; ++i) fits = data[i] >= 0 && data[i] < below;
  if (!fits) throw nb::value_error((std::string("`") + name + "` must be indices, int64").c_str());
  return data;
}

// A new array, not initialized, or with numbers from elsewhere.
template <class T>
struct New {
  nb::object object;

  explicit New(const Shape& shape)
      : object(nb::steal(PyArray_SimpleNew(shape.rank, const_cast<npy_intp*>(shape.sizes), NUMPY_TYPE<T>))) {
    if (!object.is_valid()) throw nb::python_error();
  }
  New(const Shape& shape, const T* from) : New(shape) {
    std::copy_n(from, PyArray_SIZE(as_array(object)), data());
  }
  T* data() const { return static_cast<T*>(PyArray_DATA(as_array(object))); }
  operator T*() const { return data(); }
};
using NewArray = New<double>;

}  // namespace sarrus

namespace nanobind::detail {

// A new array is returned as what it is to Python.
template <class T>
struct type_caster<sarrus::New<T>> {
  using Value = sarrus::New<T>;
  static constexpr auto Name = const_name("numpy.ndarray[dtype=float64]");
  static handle from_cpp(const sarrus::New<T>& x, rv_policy, cleanup_list*) noexcept {
    return handle(x.object).inc_ref();
  }
};

}  // namespace nanobind::detail
