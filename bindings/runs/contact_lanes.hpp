// Lanes of copies whose contacts are all open; a lane in which one closes is reported: its step is taken by a
// run of its own (contact_steps.hpp).
#pragma once

#include "lanes.hpp"
#include "touch_watch.hpp"

SARRUS_BEGIN

template <int LD>
struct OpenLanes : SizedLanes<LD>, ModalLanes {
  using Lanes = SizedLanes<LD>;
  std::vector<char> room;
  TouchWatch watch;

  OpenLanes(const ModelD& m, const Options& o) : Lanes(m, o) {
    Arena measure(nullptr);
    watch.bind(m, measure);
    room.assign(measure.used + 128, 0);
    Arena arena(room.data() + (-reinterpret_cast<unsigned long long>(room.data()) & 63));
    watch.bind(m, arena);
  }
  static const SlotMode* modes(const double* numbers) { return reinterpret_cast<const SlotMode*>(numbers); }
  int kind(const double* mode) override {
    bool closed = any_of(Lanes::m.nslot, [&](int k) { return modes(mode)[k].state != SLOT_OPEN; });
    return closed ? -1 : 0;
  }
  LaneSteps& lanes(int) override { return *this; }
  void keep_few() override {}

  // Bits of the used lanes for which holds(modes, state, end)
  template <class Holds>
  int lanes_that(const LaneState* x, int used, Holds holds) {
    int found = 0;
    for (int l = 0; l < Lanes::W; ++l)
      if (used >> l & 1) found |= holds(modes(x[l].mode), x[l], this->end(l)) << l;
    return found;
  }
  int modes_hold(const LaneState* x, int used) override {
    return lanes_that(x, used, [&](const SlotMode* all, const LaneState&, const RunState& end) {
      return watch.stays_open(Lanes::m, end.q, all);
    });
  }
  int modes_go_on(const LaneState* x, int used, double h) override {
    return lanes_that(x, used, [&](const SlotMode* all, const LaneState& from, const RunState& end) {
      return watch.stays_open(Lanes::m, end.q, all) &&
             !watch.passes(Lanes::m, {from.q, from.v, end.q, end.v, h}, all);
    });
  }
};

SARRUS_END
