// The mode of contacts of surfaces: which slots are closed, which of their friction slides and which way.
// Plain data that kernel and bindings share, outside the instruction-set namespaces.
#pragma once

namespace sarrus {

// REBOUNDS: bounces so low that they are not followed one by one; it is over at a known time.
constexpr double SLOT_OPEN = 0, SLOT_CLOSED = 1, SLOT_REBOUNDS = 2;

// GUIDED: begins to slide. Friction turns into the direction of sliding at the rate mu g / speed, without
// bound; until that speed is large enough, friction is that of the law at accelerations.
constexpr double STICKS = 0, SLIDES = 1, GUIDED = 2;

// Numbers of one slot in a mode
struct SlotMode {
  double state;      // SLOT_OPEN ...
  double slides[3];  // friction, torsion, rolling: STICKS ...
  double way[9];     // unit vectors in the world along which they slide; of torsion the sign comes first
  double fastest;    // largest speed of approach so far [m/s]
  double until;      // time at which rebounds are over [s]
  double margin;     // penetration at which an open contact touches [m]: rounding where it opened
};
constexpr int SLOT_NUMBERS = sizeof(SlotMode) / sizeof(double);
constexpr int SLOT_GUARDS = 8;  // of a slot: gap, push, cone (3), speed (3)
// What a run knows besides the modes of its slots
struct ContactRest {
  double changes, since;  // of the mode within a short time, and when that began [s]
  double used;            // part of the restitution that an impact used
  double by_law;          // 1: forces are those of the law, as joints may hold the same
  double speed;           // the largest since the run began [m/s]
};
constexpr int CONTACT_MODE_REST = sizeof(ContactRest) / sizeof(double);

}  // namespace sarrus
