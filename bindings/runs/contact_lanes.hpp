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

  int modes_hold(const LaneState* x, int used) override {
    int found = 0;
    for (int l = 0; l < Lanes::W; ++l) {
      if (!(used >> l & 1)) continue;
      RunState end = this->end(l);
      found |= watch.stays_open(Lanes::m, end.q, modes(x[l].mode)) << l;
    }
    return found;
  }
  int modes_go_on(const LaneState* x, int used, double) override { return modes_hold(x, used); }
};

SARRUS_END
