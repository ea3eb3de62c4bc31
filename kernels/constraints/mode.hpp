// Modes: which rows of a model act. Plain data that kernel and bindings share, outside the instruction-set
// namespaces.
//
// All rows are compiled once. They come in groups, one for each constraint: a group is closed, and its rows
// act, or open. Behind the declared constraints stand those that hold a coordinate with dry friction at rest,
// one group of one row for each such coordinate.
#pragma once

namespace sarrus {

enum class GroupKind : int { ALWAYS, SWITCHED, CONTACT, HELD };

// A contact is open where side phi > 0 in its normal row, and pushes with side lam >= 0.
struct RowGroup {
  int begin, end;  // rows
  GroupKind kind;
  int normal;  // row, of a contact
  double side;
  bool latch;  // closes where it is, whatever the gap
};

struct ModeTable {
  int count = 0;      // groups
  int frictions = 0;  // coordinates with dry friction; their groups are the last ones
  const RowGroup* groups = nullptr;
  const int* coordinate = nullptr;  // (frictions) index into v
};

// One mode, as numbers that are stored together. Behind what acts stands what a run knows about the stretch
// of time since the mode was entered.
struct Mode {
  double* closed;     // (groups) 0 or 1; of held coordinates: whether they stick
  double* direction;  // (frictions) 1 or -1: it slides that way; 0: it sticks
  double* values;     // parameters of elements, then offsets of couplings: those of latches change
  double* armed;      // (frictions) 1: has slid in its direction
  double* fastest;    // (frictions) largest speed
  double* margin;     // (groups) [m, rad] penetration at which an open contact touches
  double* slack;      // (1) of the bounds of friction: load beyond them at which coordinates slide
  double* recent;     // (2) changes within one step, and when these began [s]
  double* fresh;      // (1) 1: has not been entered
};

// visit(member, count) for every part of a mode
template <class Visit>
constexpr void each_part(const ModeTable& table, int parameters, Visit visit) {
  visit(&Mode::closed, table.count);
  visit(&Mode::direction, table.frictions);
  visit(&Mode::values, parameters);
  visit(&Mode::armed, table.frictions);
  visit(&Mode::fastest, table.frictions);
  visit(&Mode::margin, table.count);
  visit(&Mode::slack, 1);
  visit(&Mode::recent, 2);
  visit(&Mode::fresh, 1);
}
constexpr int mode_size(const ModeTable& table, int parameters) {
  int sum = 0;
  each_part(table, parameters, [&](double* Mode::*, int n) { sum += n; });
  return sum;
}
constexpr Mode mode_at(const ModeTable& table, int parameters, double* numbers) {
  Mode mode = {};
  each_part(table, parameters, [&](double* Mode::* part, int n) { mode.*part = numbers, numbers += n; });
  return mode;
}

}  // namespace sarrus
