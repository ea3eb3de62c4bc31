#include "arguments.hpp"

#include <cmath>

namespace sarrus {

Queries::Queries(nb::object kernel, nb::object given)
    : owner(kernel),
      k(nb::cast<const Kernel&>(kernel)),
      checks(given),
      model(given.attr("model")),
      bodies(given.attr("bodies")) {
  for (int i = 1; i < k.m.nn; ++i)
    if (k.m.joint[i] == BALL || k.m.joint[i] == FREE)
      quaternions.push_back(k.m.iq[i] + (k.m.joint[i] == FREE ? 3 : 0));
}

int Queries::body(In name) const {
  PyObject* found = PyUnicode_Check(name.ptr()) ? PyDict_GetItemWithError(bodies.ptr(), name.ptr()) : nullptr;
  return nb::cast<int>(found ? nb::borrow(found) : checks.attr("body")(name));
}

double Queries::time(In t) const {
  if (PyFloat_CheckExact(t.ptr()) && std::isfinite(PyFloat_AsDouble(t.ptr())))
    return PyFloat_AsDouble(t.ptr());
  return nb::cast<double>(checks.attr("time")(t));
}

const double* zeros(npy_intp n) {
  thread_local std::vector<std::vector<double>> blocks;  // calls under way keep the smaller ones
  if (blocks.empty() || static_cast<npy_intp>(blocks.back().size()) < n) blocks.emplace_back(2 * n);
  return blocks.back().data();
}

namespace {

// The quaternions of `count` positions q (nq): -1 where one has no direction, 0 where one is not of unit length
int unit_quaternions(const Queries& s, const double* q, npy_intp count) {
  int found = 1;
  for (npy_intp i = 0; i < count; ++i)
    for (int first : s.quaternions) {
      const double* x = q + i * s.k.m.nq + first;
      double norm = std::sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3]);
      if (norm < 1e-9 || !std::isfinite(norm)) return -1;
      if (std::abs(norm - 1) > UNIT_NORM) found = 0;
    }
  return found;
}

void normalize(const Queries& s, double* q, npy_intp count) {
  for (npy_intp i = 0; i < count; ++i)
    for (int first : s.quaternions) {
      double* x = q + i * s.k.m.nq + first;
      double norm = std::sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3]);
      if (std::abs(norm - 1) > UNIT_NORM)
        for (int k = 0; k < 4; ++k) x[k] /= norm;
    }
}

// The data of an array of this shape that is no subclass; else null
const double* plain_data(nb::handle x, const Shape& shape) {
  return PyArray_CheckExact(x.ptr()) ? data_of<double>(x, shape) : nullptr;
}

}  // namespace

// Whether all arguments are plain arrays of the same batch; then x points to their data.
// Makes the quaternions of argument i unit ones, in a copy where they are not. False: one is no rotation.
bool CheckedArguments::with_unit_quaternions(int i, npy_intp n) {
  if (s.quaternions.empty()) return true;
  int unit = unit_quaternions(s, x[i], n);
  if (unit != 0) return unit > 0;
  NewArray made({n, m.nq}, x[i]);
  normalize(s, made, n);
  x[i] = made;
  kept[i] = made.object;
  return true;
}

bool CheckedArguments::plain(std::initializer_list<Argument> arguments) {
  int axes = axes_of(arguments.begin()->given), i = 0;
  if (axes != 1 && axes != 2) return false;
  npy_intp n = axes == 1 ? 1 : length_of(arguments.begin()->given);
  for (const Argument& one : arguments) {
    npy_intp width = one.positions ? m.nq : m.nv;
    Shape shape = axes == 1 ? Shape{width} : Shape{n, width};
    x[i] = plain_data(one.given, shape);
    if (!x[i] || !finite(x[i], n * width)) return false;
    if (one.positions && !with_unit_quaternions(i, n)) return false;
    ++i;
  }
  count = n;
  if (axes == 2) batch = {n};
  return true;
}

void CheckedArguments::convert(std::initializer_list<Argument> arguments) {
  nb::list given;
  for (const Argument& one : arguments) given.append(nb::make_tuple(one.given, one.name, one.positions));
  nb::tuple found(s.checks.attr("states")(given));
  nb::tuple shape(found[1]);
  if (shape.size() > 24) throw nb::value_error("at most 24 batch axes");
  batch = {};
  for (nb::handle size : shape) batch.sizes[batch.rank++] = nb::cast<npy_intp>(size);
  int i = 0;
  for (const Argument& one : arguments) {
    kept[i] = found[0][i];
    count = length_of(kept[i]);
    x[i] = data_of<double>(kept[i], {count, one.positions ? m.nq : m.nv});
    if (!x[i++]) throw nb::value_error("states of checked arguments must be float64 arrays (B, n)");
  }
}

CheckedArguments::CheckedArguments(const Queries& queries, std::initializer_list<Argument> arguments)
    : s(queries), m(queries.k.m) {
  if (!plain(arguments)) convert(arguments);
}

GivenMetric::GivenMetric(const Queries& s, In given) {
  if (given.is_none()) return;
  metric.by_mass = PyUnicode_Check(given.ptr()) && PyUnicode_CompareWithASCIIString(given.ptr(), "mass") == 0;
  if (metric.by_mass) return;
  kept = s.checks.attr("metric")(given);
  metric.matrix = data_of<double>(kept, {s.k.m.nv, s.k.m.nv});
}

nb::any made(In type, const Fields& fields, std::initializer_list<In> values) {
  nb::object object = nb::steal(PyType_GenericAlloc(reinterpret_cast<PyTypeObject*>(type.ptr()), 0));
  nb::object dict = nb::steal(object.is_valid() ? PyObject_GenericGetDict(object.ptr(), nullptr) : nullptr);
  if (!dict.is_valid()) throw nb::python_error();
  auto name = fields.names.begin();
  for (In value : values)
    if (PyDict_SetItem(dict.ptr(), *name++, value.ptr())) throw nb::python_error();
  return nb::borrow<nb::any>(object);
}

RowValues::RowValues(const CheckedArguments& call, In evaluator, In t) {
  double time = call.s.time(t);
  if (!call.m.nd && !call.m.n_user_rows) return;
  NewArray q(call.flat(call.m.nq), call.x[0]), v(call.flat(call.m.nv), call.x[1]);
  nb::tuple found(evaluator.attr("outside")(q, v, time));
  drive = Dense(found[0], "drive", {call.count, call.m.nd, 3});
  user = Dense(found[1], "user", {call.count, call.m.n_user_rows, 3 + call.m.nv});
}

}  // namespace sarrus
