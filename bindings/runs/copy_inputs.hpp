// The inputs of one copy of a mechanism: samples at the beginning of each step, held until the next one.
#pragma once

#include <mutex>
#include <unordered_map>
#include <vector>

#include "../kernel_object.hpp"
#include "../numpy.hpp"

namespace sarrus {

// Rows for the steps of one call, for each copy or for all: (copies or 1, steps or 1, width).
struct StepRows {
  Dense data;
  npy_intp per_copy = 0, per_step = 0;

  StepRows() {}
  StepRows(nb::handle x, const char* name, npy_intp copies, npy_intp steps, npy_intp width) {
    if (x.is_none()) return;
    npy_intp b = length_of(x, 0), s = length_of(x, 1);
    if ((b != 1 && b != copies) || (s != 1 && s != steps)) b = copies, s = steps;
    data = Dense(x, name, {b, s, width});
    per_copy = b == 1 ? 0 : s * width;
    per_step = s == 1 ? 0 : width;
  }
  const double* at(long copy, long step) const {
    return data.data ? data.data + copy * per_copy + step * per_step : nullptr;
  }
};

// Inputs of one call: u, or u - K [difference(q, .); . - v].
struct CallInputs {
  long steps;
  StepRows u, K, q, v;
};

// Drives at a time, the same for all copies: asked of Python once.
struct Drives {
  nb::object function;
  std::unordered_map<double, std::vector<double>> known;
  std::mutex looking;

  void at(double t, int count, double* to) {
    std::unique_lock lock(looking);
    auto found = known.find(t);
    if (found == known.end()) {
      lock.unlock();
      std::vector<double> values(count);
      {
        nb::gil_scoped_acquire gil;
        Dense given(function(t, 1), "drive", {1, count / 3, 3});
        std::copy_n(given.data, count, values.begin());
      }
      lock.lock();
      found = known.emplace(t, std::move(values)).first;
    }
    std::copy_n(found->second.begin(), count, to);
  }
};

// Rows and forces that Python functions compute at a state, from the evaluator of Python.
inline void ask_user_rows(const nb::object& evaluator, const ModelD& m, const Instant<double>& at,
                          double* to) {
  nb::gil_scoped_acquire gil;
  NewArray q({1, m.nq}, at.q), v({1, m.nv}, at.v);
  Dense user(evaluator.attr("user")(q, v, at.t), "user", {1, m.n_user_rows, 3 + m.nv});
  std::copy_n(user.data, m.n_user_rows * (3 + m.nv), to);
}

// The source of forces of the copy that a thread works on.
struct CopyInputs {
  const Tables& tables;
  const ModelD* m = nullptr;
  const std::vector<int>& columns;  // of v, that u acts on
  Drives& drives;
  const nb::object* evaluator = nullptr;  // of rows and forces that Python functions compute
  const CallInputs* call = nullptr;
  long copy = 0, first = 0, last = 0;  // of the call: its first step, and the one behind its last row
  long next = 0;                       // step whose sample is due
  double t0 = 0, dt = 0;
  std::vector<double> u, room;
  bool usable = true;            // u of the step that comes next is finite; else the one
                                 // before is held
  std::vector<double> u_marked;  // at the beginning of the present step
  long next_marked = 0;
  bool usable_marked = true;

  CopyInputs(const Tables& given, const std::vector<int>& actuated, Drives& driven)
      : tables(given), columns(actuated), drives(driven), u(actuated.size(), 0.0) {}

  Outside outside() {
    Outside found;
    found.context = this;
    found.inputs = [](void* self, const Instant<double>& at, const Supplied<double>& to) {
      static_cast<CopyInputs*>(self)->supply(at, to);
      return true;
    };
    found.mark = [](void* self) {
      auto& x = *static_cast<CopyInputs*>(self);
      x.u_marked = x.u, x.next_marked = x.next, x.usable_marked = x.usable;
    };
    found.back = [](void* self) {
      auto& x = *static_cast<CopyInputs*>(self);
      x.u = x.u_marked, x.next = x.next_marked, x.usable = x.usable_marked;
    };
    return found;
  }
  // The copy's steps from `step` on
  void begin(long i, long step) { copy = i, next = step, usable = true; }
  void supply(const Instant<double>& at, const Supplied<double>& to) {
    if (m->nd) drives.at(at.t, 3 * m->nd, to.drive);
    if (m->n_user_rows) ask_user_rows(*evaluator, *m, at, to.user);
    if (at.stage == 0 && call && at.t + TIME_ROUNDING * std::abs(at.t) >= t0 + static_cast<double>(next) * dt)
      sample(at);
    std::fill_n(to.tau, m->nv, 0.0);
    for (size_t k = 0; k < u.size(); ++k) to.tau[columns[k]] += u[k];
  }
  // Behind the last row of the call the inputs stay as they are: the next call brings its own.
  void sample(const Instant<double>& at) {
    if (next >= last) return;
    long row = next++ - first;
    const double *given = call->u.at(copy, row), *K = call->K.at(copy, row);
    usable = !given || finite(given, u.size());
    if (!usable) return;
    if (K) {
      room.resize(m->nv);
      tables.runs.feedback(*m, {K, call->q.at(copy, row), call->v.at(copy, row), given},
                           {int(u.size()), at.q, at.v}, room.data(), u.data());
    } else if (given) {
      std::copy_n(given, u.size(), u.begin());
    }
  }
};

}  // namespace sarrus
