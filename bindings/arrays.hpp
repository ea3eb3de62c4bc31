// NumPy arrays in and out of the shell: shapes are checked here, once, by name.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <initializer_list>
#include <string>
#include <vector>

namespace sarrus {

namespace nb = nanobind;
using In = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;
using Out = nb::ndarray<nb::numpy, double>;
using Flags = nb::ndarray<nb::numpy, bool>;
using Ints = nb::ndarray<nb::numpy, int>;
using Shape = std::initializer_list<size_t>;

inline std::string text(const std::vector<size_t>& shape) {
  std::string s = "(";
  for (size_t d : shape) s += std::to_string(d) + ", ";
  return (shape.empty() ? s : s.substr(0, s.size() - 2)) + ")";
}

inline const double* checked(const In& x, const char* name, Shape shape) {
  std::vector<size_t> got(x.shape_ptr(), x.shape_ptr() + x.ndim()), want(shape);
  if (got != want)
    throw nb::value_error(
        (std::string("`") + name + "` must have shape " + text(want) + ", got " + text(got)).c_str());
  return x.data();
}

// A new array that owns its memory; every function fills what it asked for.
template <class Array>
struct Fresh {
  using T = typename Array::Scalar;
  T* data;
  Array array;

  explicit Fresh(Shape shape) {
    size_t n = 1;
    for (size_t d : shape) n *= d;
    data = new T[n ? n : 1];
    nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    array = Array(data, shape.size(), shape.begin(), owner);
  }
};

inline Out copied(const double* x, size_t n) {
  Fresh<Out> y({n});
  for (size_t i = 0; i < n; ++i) y.data[i] = x[i];
  return y.array;
}

}  // namespace sarrus
