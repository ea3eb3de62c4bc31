// Rows of the user's at poses that the kernel visits: asked of a function rows(q, v) of Python.
#pragma once

#include "numpy.hpp"
#include "tables.hpp"

namespace sarrus {

struct AskUser {
  const ModelD& m;
  nb::object rows;

  // for ProjectOptions::user_rows, with this object as its owner
  static void at(void* self, const double* q, const double* v, double* out) {
    auto& asked = *static_cast<const AskUser*>(self);
    npy_intp n = asked.m.n_user_rows, width = 3 + asked.m.nv;
    Dense found(asked.rows(NewArray({asked.m.nq}, q), NewArray({asked.m.nv}, v)), "user", {n, width});
    std::copy_n(found.data, n * width, out);
  }
  UserRows rows_of_user() { return m.n_user_rows ? UserRows{at, this} : UserRows{}; }
};

}  // namespace sarrus
