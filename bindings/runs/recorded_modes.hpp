// The modes of a recorded run, in the order in which it came to them.
#pragma once

#include <vector>

#include "../numpy.hpp"
#include "run_table.hpp"

namespace sarrus {

struct RecordedModes {
  npy_intp width = 0, groups = 0;
  std::vector<double> numbers;       // (modes, width)
  std::vector<signed char> touched;  // (modes, groups)
  std::vector<int> held_ranks;       // (modes,)

  npy_intp count() const { return static_cast<npy_intp>(held_ranks.size()); }
  void add(const Run& run) {
    numbers.resize(numbers.size() + width);
    run.store_mode(numbers.data() + numbers.size() - width);
    const signed char* given = run.mode_entry().touched;
    touched.insert(touched.end(), given, given + groups);
    held_ranks.push_back(0);
  }
  // Number of the present mode, whose rank is known now
  double now(const Run& run) {
    if (held_ranks.empty()) return 0;
    held_ranks.back() = run.mode_entry().held_rank;
    return static_cast<double>(count() - 1);
  }
  NewArray last() const { return numbers_of(count() - 1); }
  NewArray numbers_of(npy_intp mode) const {
    require(mode);
    return NewArray({width}, numbers.data() + mode * width);
  }
  New<signed char> touched_in(npy_intp mode) const {
    require(mode);
    return New<signed char>({groups}, touched.data() + mode * groups);
  }
  void require(npy_intp mode) const {
    if (mode < 0 || mode >= count()) throw nb::index_error("no mode with this number");
  }
};

}  // namespace sarrus
