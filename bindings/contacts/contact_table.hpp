// Contact points of surfaces, for a batch of n states. Arrays as in batches/batch_table.hpp.
#pragma once

#include "../batches/batch_table.hpp"

namespace sarrus {

// Of each slot: gap, unit normal, points on a and b, velocity of b relative to a there (3 each); of each pair
// a ContactStatus. Slots that are not used are infinite and NaN.
struct ContactArrays {
  double *gap, *normal, *point_a, *point_b, *speed;
  int* status;
};

struct ContactTable {
  void (*contacts)(const ModelD&, States, ContactArrays);
  // numbers of the pairs that may be nearer than `reach` (n, npair), and how many (n)
  void (*near_pairs)(const ModelD&, States, double reach, int* pairs, int* count);
  // first and second derivative (n, nslot) of the gaps by time, for accelerations a
  void (*gap_rates)(const ModelD&, States, const double* a, double* rate, double* acceleration);
};

}  // namespace sarrus
