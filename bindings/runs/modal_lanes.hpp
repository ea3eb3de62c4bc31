// Lanes of copies whose modes have the same rows. Sliding directions and what latches have changed are numbers of
// each lane; a lane in which a mode ends, or may end, is reported: its step is taken by a run of its own
// (modal_run.hpp).
#pragma once

#include <map>
#include <memory>

#include "integrate/modes/mode_step.hpp"
#include "lanes.hpp"
#include "mode_forces.hpp"

SARRUS_BEGIN

// Whether lanes can have latches of their own in these rows: of couplings, and of kinds that say how
inline bool fit_in_lanes(const ModelD& m, const RowGroup& rows) {
  return all_of(m.ne, [&](int i) {
    bool fits = m.el_row[i] < rows.begin || m.el_row[i] >= rows.end;
    with_element(m, i, [&](auto kind, const auto& c) {
      if constexpr (requires { kind.moved(c, c); }) fits = true;
      if constexpr (requires { kind.longer(c, c); }) fits = true;
    });
    return fits;
  });
}

// The rows of one mode, with dry friction and what latches have changed left to the lanes.
template <int LD>
struct RowsOfMode {
  ModesMemory<LD> memory;
  std::vector<int> couplings, elements;  // that are latched
  RowsOfMode(const ModelD& m, const ModeTable& table, const double* mode) : memory(m, table, mode) {
    std::fill_n(memory.mode.direction, table.frictions, 0.0);  // 0: the model has none
    auto latched = [&](int row) {
      const RowGroup& group = memory.forces.group_of(row);
      return group.latch && memory.mode.closed[&group - table.groups] != 0;
    };
    for (int c = 0; c < m.nk; ++c)
      if (latched(m.k_row[c])) memory.mode.values[m.nev + c] = 0, couplings.push_back(c);
    for (int i = 0; i < m.ne; ++i)
      if (latched(m.el_row[i])) elements.push_back(i);
    if (elements.size()) std::copy_n(m.el_values, m.nev, memory.mode.values);
    memory.forces.choose(memory.mode);
  }
  const ModelD& view() const { return memory.forces.rows.view; }
  // Place of an element among those of the view
  int place(const ModelD& m, int element) const {
    int before = 0;
    for (int i = 0; i < element; ++i) before += memory.forces.rows.place[m.el_row[i]] >= 0;
    return before;
  }
};

template <class P>
void set_frame(LatchedFrame<P>& to, int lane, const LatchedFrame<double>& from) {
  auto set = [&](Vec3<P>& x, const Vec3<double>& r) {
    x.x.set(lane, r.x), x.y.set(lane, r.y), x.z.set(lane, r.z);
  };
  set(to.R.x, from.R.x), set(to.R.y, from.R.y), set(to.R.z, from.R.z), set(to.p, from.p);
}

template <int LD>
struct LanesInMode : private RowsOfMode<LD>, SizedLanes<LD> {
  using Lanes = SizedLanes<LD>;
  using Lanes::s, Lanes::W;
  using typename Lanes::P;
  using RowsOfMode<LD>::memory, RowsOfMode<LD>::couplings, RowsOfMode<LD>::elements;
  const ModelD& whole;
  const ModeTable& table;
  std::vector<char> room;
  Rows<P> rows;  // of the whole model
  P *lam, *Jv;
  LatchedFrame<P>* frames;  // of the elements of the view
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
    place_frames();
    s->slides = any_of(table.frictions, [&](int k) { return memory.mode.closed[held_group(k)] == 0; });
  }
  void bind(Arena& arena) {
    arena.take(whole.nc, rows.phi, rows.b, rows.gamma, lam, Jv);
    arena.take(whole.ne, frames);
    now.bind(arena, table);
  }
  // All frames where the model has them
  void place_frames() {
    if (elements.empty()) return;
    const ModelD& view = this->view();
    for (int i = 0; i < view.ne; ++i)
      with_element(view, i, [&](auto, const auto& c) {
        for (int l = 0; l < W; ++l)
          set_frame(frames[i], l, {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {c.p_a[0], c.p_a[1], c.p_a[2]}});
      });
    s->w.rows.latched = frames;
  }
  int held_group(int k) const { return table.count - table.frictions + k; }
  Mode mode_of(const LaneState& x) const { return mode_at(table, whole.nev + whole.nk, x.mode); }

  void put_more(int lane, const LaneState& from) override {
    Mode mode = mode_of(from);
    for (int k = 0; k < table.frictions; ++k) s->direction[table.coordinate[k]].set(lane, mode.direction[k]);
    for (int c : couplings)
      s->offset[memory.forces.rows.place[whole.k_row[c]]].set(lane, mode.values[whole.nev + c]);
    for (int i : elements) put_latched(lane, i, mode.values + whole.el_begin[i]);
  }
  void put_latched(int lane, int element, const double* values) {
    int i = this->place(whole, element);
    with_element(whole, element, [&](auto kind, const auto& c) {
      const auto& to = parameters_at<decltype(kind)>(values);
      if constexpr (requires { kind.moved(c, to); }) set_frame(frames[i], lane, kind.moved(c, to));
      if constexpr (requires { kind.longer(c, to); })
        this->s->offset[this->view().el_row[i]].set(lane, kind.longer(c, to));
    });
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

// Lanes by the closed groups of modes. Copies with a latch that lanes cannot have are stepped one by one.
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
      if (closed[g] && table.groups[g].latch && !fit_in_lanes(m, table.groups[g])) return -1;
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
