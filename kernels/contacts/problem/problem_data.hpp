// What a contact problem is made of, and what its solution says. Plain data that kernel and bindings share,
// outside the instruction-set namespaces.
#pragma once

namespace sarrus {

enum class BlockKind : int { PUSH, DISC };

// Rows row, ..., row + size - 1. A disc's radius is share lam[push] + fixed; push -1: fixed alone
struct ForceBlock {
  BlockKind kind;
  int row, size, push;
  double share, fixed;
};

// PRESSED: a contact closes whose parts cannot move. PAINLEVE: the only contact slides, and its push does not
// push apart: no acceleration, or two
enum class ContactOutcome : int { SOLVED, UNSOLVED, PRESSED, PAINLEVE };

struct ContactFound {
  ContactOutcome outcome;
  double residual;  // largest entry of the natural map, of the largest force
  int steps;        // of Newton and of paths
};

enum class Restitution : int { NEWTON, POISSON };

struct ImpactFound {
  ContactFound solution;
  double used;    // part of the coefficients of restitution that was used
  double energy;  // change [J]
};

}  // namespace sarrus
