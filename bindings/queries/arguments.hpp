// Arguments of public calls. What is plain, float64 arrays of one state or of one batch axis, is checked
// here; everything else goes to an object of Python (sarrus/mechanism/core/arguments.py), which converts it
// or says what is wrong.
#pragma once

#include "../kernel_object.hpp"
#include "../numpy.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>

namespace sarrus {

using In = nb::handle;

// The public calls of one mechanism.
struct Queries {
  nb::object owner;  // keeps k alive
  const Kernel& k;
  nb::object checks;  // Arguments of Python
  nb::object model;   // that of Python
  nb::dict bodies;    // index of each body by name
  std::vector<int> quaternions;

  Queries(nb::object kernel, nb::object checks);
  const ModelD& m() const { return k.m; }
  int body(In name) const;
  double time(In t) const;
};

constexpr double UNIT_NORM = 1e-14;  // quaternions whose norm differs from 1 by more are normalized

struct Argument {
  In given;
  const char* name;
  bool positions = false;  // of size nq with unit quaternions; else of size nv
};

// At least n zeros, valid as long as this thread
const double* zeros(npy_intp n);

// Arguments of one call, checked, with their batch axes in common.
struct CheckedArguments {
  const Queries& s;
  const ModelD& m;
  Shape batch = {};    // batch axes; none: one state
  npy_intp count = 1;  // states
  std::array<const double*, 4> x = {};
  std::array<nb::object, 4> kept;  // arrays that were made for this call

  CheckedArguments(const Queries& queries, std::initializer_list<Argument> arguments);

  Shape each(std::initializer_list<npy_intp> of_one) const {
    Shape shape = batch;
    for (npy_intp size : of_one) shape.sizes[shape.rank++] = size;
    return shape;
  }
  template <class T = double>
  New<T> out(std::initializer_list<npy_intp> of_one) const {
    return New<T>(each(of_one));
  }
  NewArray copy(int i, npy_intp n) const { return NewArray(each({n}), x[i]); }
  // an entry of the function table, on the states (x[0], x[1]), the GIL released for batches and large
  // mechanisms
  template <class Function, class... More>
  void run(Function function, More&&... more) const {
    run_on(function, nullptr, nullptr, more...);
  }
  template <class Function, class... More>
  void run_on(Function function, const double* drive, const double* user, More&&... more) const {
    std::optional<nb::gil_scoped_release> free;
    if (count > 1 || m.nv > MOST_SINGULAR_VALUES) free.emplace();
    function(m, {static_cast<int>(count), x[0], x[1], drive, user}, more...);
  }
  Shape flat(npy_intp n) const { return {count, n}; }
  // argument i: vectors of the size of v that are zero
  void rest(int i) { x[i] = zeros(count * m.nv); }

 private:
  bool plain(std::initializer_list<Argument> arguments);
  bool with_unit_quaternions(int i, npy_intp n);
  void convert(std::initializer_list<Argument> arguments);
};

// Entries that do not leave the call
template <class T>
struct Room {
  T few[48];
  std::unique_ptr<T[]> many;
  T* data;

  explicit Room(npy_intp n) : many(n > 48 ? new T[n] : nullptr), data(many ? many.get() : few) {}
  operator T*() { return data; }
};

// A number for each state: for one state no array
template <class T>
struct PerState {
  T one{};
  std::optional<New<T>> many;

  explicit PerState(const CheckedArguments& c) {
    if (c.batch.rank) many.emplace(c.batch);
  }
  T* data() { return many ? many->data() : &one; }
  operator T*() { return data(); }
  nb::object object() const {
    if (many) return many->object;
    if constexpr (std::is_same_v<T, int>)
      return nb::int_(one);
    else if constexpr (std::is_same_v<T, unsigned char>)
      return nb::bool_(one);
    else
      return nb::float_(one);
  }
};

// Values of drives and user rows at the states of a call, from the evaluator of Python; null without any.
struct RowValues {
  Dense drive, user;
  RowValues(const CheckedArguments& call, In evaluator, In t);
};

// Names of the fields of a result class.
struct Fields {
  std::vector<PyObject*> names;
  Fields(std::initializer_list<const char*> list) {
    for (const char* name : list) names.push_back(PyUnicode_InternFromString(name));
  }
};

// An instance of a result class (a frozen dataclass) with these fields, without the cost of its constructor.
nb::any made(In type, const Fields& fields, std::initializer_list<In> values);

// A metric of velocities as a call names it: None, "mass" or a matrix.
struct GivenMetric {
  nb::object kept;
  Metric metric;
  GivenMetric(const Queries& s, In given);
};

void bind_queries(nb::module_& m);
void bind_steps(nb::class_<Queries>& queries);
void bind_constraint_queries(nb::module_& m, nb::class_<Queries>& queries);
void bind_pose_queries(nb::class_<Queries>& queries);
void bind_linear_queries(nb::class_<Queries>& queries);

}  // namespace sarrus
