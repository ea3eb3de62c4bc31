// Rows of the user's at poses that the kernel visits: asked of a function rows(i, q) of Python, i numbers states.
#pragma once

#include "numpy.hpp"
#include "tables.hpp"

namespace sarrus {

struct AskUser {
  const ModelD& m;
  nb::object rows;

  // for ProjectOptions::user_rows, with this object as its owner
  static void at(void* self, long i, const double* q, double* out) {
    auto& asked = *static_cast<const AskUser*>(self);
    npy_intp n = asked.m.n_user_rows, width = 3 + asked.m.nv;
    Dense found(asked.rows(i, NewArray({asked.m.nq}, q)), "user", {n, width});
    std::copy_n(found.data, n * width, out);
  }
};

}  // namespace sarrus
