// The order in which the rows of a sparse symmetric matrix are eliminated, found once per mechanism.
//
// Columns that have the same entries below them are eliminated together: a *front* is a dense matrix of its
// pivot columns and of the rows that they have entries in. Plain data, outside the instruction-set
// namespaces.
#pragma once

namespace sarrus {

struct FrontPlan {
  int n = 0;                            // rows of the matrix
  int fronts = 0;                       // children before parents
  int largest = 0;                      // rows of the largest front
  int entries = 0;                      // room for the factors, all fronts
  const int* pivots = nullptr;          // (fronts) number of pivot columns, the first ones of the front
  const int* first = nullptr;           // (fronts) position of the first of them in the order of elimination
  const int* begin = nullptr;           // (fronts + 1) into `column`
  const int* column = nullptr;          // columns of each front, in the order of elimination
  const int* factor = nullptr;          // (fronts) where its pivot rows are kept, of stride padded(rows)
  const int* front_of = nullptr;        // (n) the front that eliminates a column
  int row_entries = 0, branches = 0;    // entries of J, and of M on and below its diagonal
  const int* group_entry = nullptr;     // where the rows of a group of rows of J begin among them
  int widest = 0;                       // columns of a group of rows of J
  const int* group_target = nullptr;    // where products of columns i >= j of the groups of rows of J go
  bool few_rows = false;                // a deep tree with few rows of J: factor/few_rows.hpp serves steps
  const int* inertia_target = nullptr;  // where M_kj along the branches of the tree go, as in each_branch()
};

}  // namespace sarrus
