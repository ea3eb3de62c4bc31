// Lanes of copies whose modes have the same rows. Sliding directions and the offsets of latched couplings are
// numbers of each lane; a lane in which a mode ends, or may end, is reported: its step is taken by a run of its own
// (modal_run.hpp).
#pragma once

#include <map>
#include <memory>

#include "integrate/modes/mode_step.hpp"
#include "lanes.hpp"
#include "mode_forces.hpp"

SARRUS_BEGIN

// Whether latching these rows changes offsets of couplings alone: J does not depend on them.
inline bool latches_offsets(const ModelD& m, const RowGroup& rows) {
  auto within = [&](int row) { return row >= rows.begin && row < rows.end; };
  return !any_of(m.ne, [&](int i) { return within(m.el_row[i]); });
}

// The rows of one mode, with dry friction and the offsets of latches left to the lanes.
template <int LD>
struct RowsOfMode {
  ModesMemory<LD> memory;
  std::vector<int> latched;  // couplings
  RowsOfMode(const ModelD& m, const ModeTable& table, const double* mode) : memory(m, table, mode) {
    std::fill_n(memory.mode.direction, table.frictions, 0.0);  // 0: the model has none
    for (int c = 0, g = 0; c < m.nk; ++c) {
      for (g = 0; table.groups[g].end <= m.k_row[c]; ++g) {
      }
      if (!table.groups[g].latch || memory.mode.closed[g] == 0) continue;
      memory.mode.values[m.nev + c] = 0;
      latched.push_back(c);
    }
    memory.forces.choose(memory.mode);
  }
  const ModelD& view() const { return memory.forces.rows.view; }
};

template <int LD>
struct LanesInMode : private RowsOfMode<LD>, SizedLanes<LD> {
  using Lanes = SizedLanes<LD>;
  using Lanes::s, Lanes::W;
  using typename Lanes::P;
  using RowsOfMode<LD>::memory, RowsOfMode<LD>::latched;
  const ModelD& whole;
  const ModeTable& table;
  std::vector<char> room;
  Rows<P> rows;  // of the whole model
  P *lam, *Jv;
  Guards now;
  std::vector<double> tau, multiplier;  // of one lane

  LanesInMode(const ModelD& m, const ModeTable& given, const Options& o, const double* mode)
      : RowsOfMode<LD>(m, given, mode),
        Lanes(this->view(), o),
        whole(m),
        table(given),
        tau(m.nv),
        multiplier(m.nc) {
    Arena measure(nullptr);
    bind(measure);
    room.assign(measure.used + 128, 0);
    Arena arena(room.data() + (-reinterpret_cast<unsigned long long>(room.data()) & 63));
    bind(arena);
    s->slides = any_of(table.frictions, [&](int k) { return memory.mode.closed[held_group(k)] == 0; });
  }
  void bind(Arena& arena) {
    arena.take(whole.nc, rows.phi, rows.b, rows.gamma, lam, Jv);
    now.bind(arena, table);
  }
  int held_group(int k) const { return table.count - table.frictions + k; }
  Mode mode_of(const LaneState& x) const { return mode_at(table, whole.nev + whole.nk, x.mode); }

  void put_more(int lane, const LaneState& from) override {
    Mode mode = mode_of(from);
    for (int k = 0; k < table.frictions; ++k) s->direction[table.coordinate[k]].set(lane, mode.direction[k]);
    for (int c : latched)
      s->offset[memory.forces.rows.place[whole.k_row[c]]].set(lane, mode.values[whole.nev + c]);
  }

  // ---------------------------------------------------------------- guards

  // What guards of all lanes need at the last state: multipliers of its rows, phi of open contacts
  void prepare_guards() {
    const ModelD& view = this->view();
    auto& w = s->w;
    if (needs_forces(table, memory.mode)) multipliers(view, w, lam);
    if (any_of(table.count, [&](int g) { return is_open_contact(table, memory.mode, g); }))
      constraint_values(whole, s->state(s->q1, s->v1, s->tab.stages), w.tree, rows, Jv);
  }
  // Whether the mode of a lane holds at the last state   in: prepare_guards()
  bool holds(int lane, const LaneState& x) {
    Mode mode = mode_of(x);
    RunState end = this->end(lane);
    look_at_speeds(table, mode, end.v, now);
    if (needs_forces(table, mode)) {
      this->get(lam, lane, multiplier.data(), this->view().nc);
      this->get(s->tau, lane, tau.data(), whole.nv);
      auto& f = memory.forces;
      ReachedState reached = {
          {end.q, end.v, nullptr, nullptr}, tau.data(), multiplier.data(), f.by_load, f.unique};
      look_at_multipliers(f.u, f.rows, reached, mode, now);
    }
    look_at_gaps(table, mode, [&](int row) { return rows.phi[row][lane]; }, now);
    return !now.end(mode);
  }
  template <class Holds>
  int lanes_of(int used, Holds lane_holds) {
    int found = 0;
    prepare_guards();
    for (int l = 0; l < W; ++l)
      if (used >> l & 1 && lane_holds(l)) found |= 1 << l;
    return found;
  }
  int modes_hold(const LaneState* x, int used) override {
    return lanes_of(used, [&](int l) { return holds(l, x[l]); });
  }
  int modes_go_on(const LaneState* x, int used, double h) override {
    return lanes_of(used, [&](int l) {
      Mode mode = mode_of(x[l]);
      if (!holds(l, x[l])) return false;
      RunState end = this->end(l);
      if (turning_place(table, mode, StepEnds{x[l].v, x[l].a, end.v, end.a, h}) < 1) return false;
      note_speeds(table, mode, end.v);
      note_sliding(table, mode, now);
      return true;
    });
  }
};

// Lanes by the closed groups of modes. A closed latch that has changed an element, such as a loop, has a J of its
// own in each copy: these are stepped one by one.
template <int LD>
struct SizedModalLanes : ModalLanes {
  static constexpr int MOST_KINDS = 64;
  const ModelD& m;
  const ModePlan& plan;
  Options options;
  std::map<std::vector<bool>, int> known;
  std::vector<std::unique_ptr<LanesInMode<LD>>> made;
  std::vector<std::vector<double>> modes;  // the first one of each kind
  std::vector<bool> closed;

  SizedModalLanes(const ModelD& model, const ModePlan& given, const Options& o)
      : m(model), plan(given), options(o), closed(given.table.count) {}

  int kind(const double* numbers) override {
    const ModeTable& table = plan.table;
    Mode mode = mode_at(table, m.nev + m.nk, const_cast<double*>(numbers));
    for (int g = 0; g < table.count; ++g) {
      closed[g] = mode.closed[g] != 0;
      if (closed[g] && table.groups[g].latch && !latches_offsets(m, table.groups[g])) return -1;
    }
    auto found = known.find(closed);
    if (found != known.end()) return found->second;
    modes.emplace_back(numbers, numbers + mode_size(table, m.nev + m.nk));
    made.emplace_back();
    return known[closed] = int(made.size()) - 1;
  }
  void keep_few() override {
    if (made.size() < MOST_KINDS) return;
    known.clear(), made.clear(), modes.clear();
  }
  LaneSteps& lanes(int kind) override {
    auto& one = made[kind];
    if (!one) one.reset(new LanesInMode<LD>(m, plan.table, options, modes[kind].data()));
    return *one;
  }
};

SARRUS_END
