// The lanes of several copies: one state in each lane of packs, steps by kernels/integrate/lane_step.hpp.
#pragma once

#include <cstdlib>
#include <cstring>
#include <vector>

#include "integrate/lane_step.hpp"
#include "run.hpp"

SARRUS_BEGIN

template <int LD>
struct SizedLanes : LaneSteps {
  static constexpr int W = BLOCK;
  using P = Pack<W>;
  const ModelD& m;
  void* memory = nullptr;
  unsigned long long bytes = 0;
  bool dirty = false;  // numbers that are not finite may stay in padding
  LaneStepper<P, LD>* s = nullptr;
  std::vector<double> q, v, a;  // of one lane

  SizedLanes(const ModelD& model, const Options& o) : m(model), q(m.nq), v(m.nv), a(m.nv) {
    Arena measure(nullptr);
    LaneStepper<P, LD> measured(m, o.method.tableau, measure);
    bytes = (measure.used + 4096) / 64 * 64;
    memory = std::memset(aligned_alloc(64, bytes), 0, bytes);  // padding is zero and stays zero
    Arena arena(memory);
    s = new LaneStepper<P, LD>(m, o.method.tableau, arena);
  }
  ~SizedLanes() override {
    delete s;
    free(memory);
  }
  SizedLanes(const SizedLanes&) = delete;

  // One lane of n packs; by bytes, since a compiler reads and writes whole packs to change one number of them.
  static void put(P* to, int lane, const double* from, int n) {
    for (int j = 0; j < n; ++j) std::memcpy(reinterpret_cast<char*>(to + j) + 8 * lane, from + j, 8);
  }
  static void get(const P* from, int lane, double* to, int n) {
    for (int j = 0; j < n; ++j) std::memcpy(to + j, reinterpret_cast<const char*>(from + j) + 8 * lane, 8);
  }
  int width() const override { return W; }
  // What else a lane takes from its state
  virtual void put_more(int, const LaneState&) {}
  // The states of used lanes; the others get those of the first one that is used.
  void load(const LaneState* x, int used, int rank) {
    if (dirty) std::memset(memory, 0, bytes);
    dirty = false;
    s->rank = rank;
    for (int l = 0; l < W; ++l) {
      const LaneState& from = x[used >> l & 1 ? l : lowest_bit(used)];
      put(s->q, l, from.q, m.nq);
      put(s->v, l, from.v, m.nv);
      put(s->a, l, from.a, m.nv);
      put(s->tau, l, from.tau, m.nv);
      put_more(l, from);
      s->pivot.set(l, from.pivot);
      s->pivot_before.set(l, from.pivot_before);
    }
  }
  void accelerate(const LaneState* x, int used, int rank) override {
    load(x, used, rank);
    accelerate_states(*s);
    copy(s->q1, s->q, m.nq);
    copy(s->v1, s->v, s->w.ld);
    copy(s->a1, s->a, s->w.ld);
  }
  int step(const LaneState* x, int used, int rank, double h) override {
    load(x, used, rank);
    int regular = used & bits(begins_regular(*s, h));
    if (regular && regular != used) load(x, regular, rank);
    while (regular) {
      auto fine = s->pivot > P(-1.0);
      bool same = lane_step(*s, h, fine);
      int left = regular & bits(fine);
      dirty = left != regular;
      if (same) return left;
      regular = left == regular ? 0 : left;  // ranks differ: once more, without the lanes that do
      if (regular) load(x, regular, rank);
    }
    return 0;
  }
  int accelerate_end(const LaneState* x, int used) override {
    for (int l = 0; l < W; ++l) put(s->tau, l, x[used >> l & 1 ? l : lowest_bit(used)].tau, m.nv);
    auto fine = s->pivot > P(-1.0);
    accelerate_lanes(*s, fine);
    dirty = dirty || (used & ~bits(fine));
    return used & bits(fine);
  }
  RunState end(int lane) override {
    get(s->q1, lane, q.data(), m.nq);
    get(s->v1, lane, v.data(), m.nv);
    get(s->a1, lane, a.data(), m.nv);
    return {0,
            s->drift[lane],
            s->velocity_drift[lane],
            s->pivot1[lane],
            0,
            q.data(),
            v.data(),
            a.data(),
            nullptr,
            s->rank,
            0,
            StepStatus::FINE};
  }
};

// make(stride) for the smallest stride of lanes that holds nv coordinates; null: too many
template <class Make>
auto with_lane_stride(int nv, Make make) -> decltype(make(Stride<8>(0))) {
  if (nv == 0) return nullptr;
#ifndef SARRUS_FEW_SIZES
  if (nv <= 8) return make(Stride<8>(0));
  if (nv <= 16) return make(Stride<16>(0));
  if (nv <= 24) return make(Stride<24>(0));
#endif
  if (nv <= 32) return make(Stride<32>(0));
  return nullptr;
}

// Whether steps of this model with these options can be taken in lanes
inline bool fit_in_lanes(const ModelD& m, const Options& o) {
  return o.method.tableau.stages && !o.method.adaptive && !o.method.implicit && !m.sparse && !m.nd &&
         !m.n_user_rows && o.correction == Correction::PROJECT && !o.keep_energy && !o.euclidean;
}

SARRUS_END
