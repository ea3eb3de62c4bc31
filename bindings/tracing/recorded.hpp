// A scalar that records: every operation on it becomes a node of a straight-line program, beside its value at
// a reference state. Constants fold, equal terms merge.
//
// A comparison gives a Choice. select() records it as data. Where the kernel branches on it, the branch of
// the reference state is taken and the comparison becomes a guard: a result of the program that says whether the
// same branch would be taken again. decide() (base/platform.hpp) takes the branch without a guard.
#pragma once

#include <cstring>
#include <map>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "base/platform.hpp"

SARRUS_BEGIN

// Python prints them by these names (src/sarrus/tracing/program.py)
// clang-format off
#define SARRUS_OPERATIONS(X) \
  X(CONSTANT) X(INPUT) X(ADD) X(SUB) X(MUL) X(NEG) X(INVERSE) X(SQRT) X(ABS) X(SIN) X(COS) X(TANH) X(ATAN2) \
  X(ROUND) X(LESS) X(SELECT) X(CALL) X(RESULT)
// clang-format on
enum class Operation : int {
#define SARRUS_ENUMERATE(name) name,
  SARRUS_OPERATIONS(SARRUS_ENUMERATE)
#undef SARRUS_ENUMERATE
};

// Operands a, b, c are nodes; of INPUT and CALL a number, of RESULT a call and a number. SELECT: a ? b : c.
struct Node {
  Operation op;
  int a, b, c;
  double x;  // value at the reference state
};

// The comparison `node` must come out as it did
struct RecordedGuard {
  int node, expected, bit;
};

struct Recording {
  std::vector<Node> nodes;
  std::vector<RecordedGuard> guards;
  std::vector<std::vector<int>> calls;  // inputs of each
  std::vector<int> outputs;
  std::map<int, bool> asserted;
  int bit = 0;            // of the guards that follow
  size_t most = 1 << 20;  // nodes

  int add(Operation op, int a, int b, int c, double x) {
    long long bits = 0;
    if (op == Operation::CONSTANT) std::memcpy(&bits, &x, sizeof x);
    auto [at, fresh] = known_.try_emplace({static_cast<int>(op), a, b, c, bits}, nodes.size());
    if (fresh) nodes.push_back({op, a, b, c, x});
    if (nodes.size() > most) throw std::overflow_error("too many operations to record");
    return at->second;
  }
  void guard(int node, bool expected) {
    if (asserted.try_emplace(node, expected).second) guards.push_back({node, expected, bit});
  }

 private:
  std::map<std::tuple<int, int, int, int, long long>, int> known_;
};

// A constant where `in` is null
struct Recorded {
  Recording* in = nullptr;
  int node = 0;
  double x = 0;

  Recorded() = default;
  Recorded(double constant) : x(constant) {}
  Recorded(Recording& recording, int at) : in(&recording), node(at), x(recording.nodes[at].x) {}

  bool is(double constant) const { return !in && x == constant; }
  bool has(Operation op) const { return in && in->nodes[node].op == op; }
  Recorded operand() const { return {*in, in->nodes[node].a}; }
  explicit operator int() const;
  // The node in a recording, made for constants
  int at(Recording& r) const {
    if (in && in != &r) throw std::logic_error("a value of one recorded function was used in another");
    return in ? node : r.add(Operation::CONSTANT, 0, 0, 0, x);
  }
};

inline Recorded record(Operation op, double x, const Recorded& a, const Recorded& b = {}) {
  Recording& r = a.in ? *a.in : *b.in;
  bool two = op == Operation::ADD || op == Operation::SUB || op == Operation::MUL || op == Operation::ATAN2;
  int i = a.at(r), j = two ? b.at(r) : 0;
  if ((op == Operation::ADD || op == Operation::MUL) && i > j) swap_(i, j);
  return {r, r.add(op, i, j, 0, x)};
}

inline Recorded operator-(const Recorded& a) {
  if (!a.in) return -a.x;
  return a.has(Operation::NEG) ? a.operand() : record(Operation::NEG, -a.x, a);
}
inline Recorded operator-(const Recorded& a, const Recorded& b);
inline Recorded operator+(const Recorded& a, const Recorded& b) {
  if (!a.in && !b.in) return a.x + b.x;
  if (a.is(0)) return b;
  if (b.is(0)) return a;
  if (b.has(Operation::NEG)) return a - b.operand();
  if (a.has(Operation::NEG)) return b - a.operand();
  return record(Operation::ADD, a.x + b.x, a, b);
}
inline Recorded operator-(const Recorded& a, const Recorded& b) {
  if (!a.in && !b.in) return a.x - b.x;
  if (a.is(0)) return -b;
  if (b.is(0)) return a;
  if (a.in && b.in && a.node == b.node) return 0;
  if (b.has(Operation::NEG)) return a + b.operand();
  return record(Operation::SUB, a.x - b.x, a, b);
}
inline Recorded operator*(const Recorded& a, const Recorded& b) {
  if (!a.in && !b.in) return a.x * b.x;
  if (!b.in) return b * a;
  if (a.is(0)) return 0;
  if (a.is(1)) return b;
  if (a.is(-1)) return -b;
  if (a.has(Operation::NEG)) return -(a.operand() * b);
  if (b.has(Operation::NEG)) return -(a * b.operand());
  return record(Operation::MUL, a.x * b.x, a, b);
}
// Reciprocals of equal denominators merge: divisions are dear.
inline Recorded operator/(const Recorded& a, const Recorded& b) {
  if (!b.in) return a * (1 / b.x);
  if (b.has(Operation::NEG)) return -(a / b.operand());
  return a * record(Operation::INVERSE, 1 / b.x, b);
}
// clang-format off
inline Recorded& operator+=(Recorded& a, const Recorded& b) { return a = a + b; }
inline Recorded& operator-=(Recorded& a, const Recorded& b) { return a = a - b; }
inline Recorded& operator*=(Recorded& a, const Recorded& b) { return a = a * b; }
inline Recorded sqrt_(const Recorded& a) { return a.in ? record(Operation::SQRT, sqrt_(a.x), a) : Recorded(sqrt_(a.x)); }
inline Recorded abs_(const Recorded& a) { return a.in ? record(Operation::ABS, abs_(a.x), a) : Recorded(abs_(a.x)); }
inline Recorded tanh_(const Recorded& a) { return a.in ? record(Operation::TANH, tanh_(a.x), a) : Recorded(tanh_(a.x)); }
inline Recorded round_(const Recorded& a) { return a.in ? record(Operation::ROUND, round_(a.x), a) : Recorded(round_(a.x)); }
// clang-format on
inline Recorded atan2_(const Recorded& y, const Recorded& x) {
  double angle = atan2_(y.x, x.x);
  return y.in || x.in ? record(Operation::ATAN2, angle, y, x) : Recorded(angle);
}
inline void sincos_(const Recorded& a, Recorded& s, Recorded& c) {
  double sine, cosine;
  sincos_(a.x, sine, cosine);
  s = a.in ? record(Operation::SIN, sine, a) : Recorded(sine);
  c = a.in ? record(Operation::COS, cosine, a) : Recorded(cosine);
}

// What steers the kernel must not depend on the state.
inline double value(const Recorded& a) {
  if (a.in) throw std::logic_error("the kernel reads a number of the reference state");
  return a.x;
}
inline Recorded primal(const Recorded& a) { return a; }
inline Recorded::operator int() const { return static_cast<int>(value(*this)); }
// Asked of numbers of the model, whether there is anything to compute: for a parameter there is.
inline bool operator==(const Recorded& a, const Recorded& b) { return !a.in && !b.in && a.x == b.x; }

// The outcome of a comparison: `node` where it depends on the state, turned round where `negated`.
struct Choice {
  Recording* in = nullptr;
  int node = 0;
  bool x = false, negated = false;

  Choice(bool known) : x(known) {}
  Choice(Recording* recording, int at, bool outcome, bool turned)
      : in(recording), node(at), x(outcome), negated(turned) {}
  // Branches on it: the outcome at the reference state, which becomes a guard
  explicit operator bool() const {
    if (in) in->guard(node, x != negated);
    return x;
  }
};
inline Choice operator!(const Choice& m) { return {m.in, m.node, !m.x, !m.negated}; }
inline Choice operator&&(const Choice& m, const Choice& n) {
  bool first = static_cast<bool>(m), second = static_cast<bool>(n);
  return first && second;
}
inline Choice operator<(const Recorded& a, const Recorded& b) {
  if (!a.in && !b.in) return a.x < b.x;
  Recording& r = a.in ? *a.in : *b.in;
  return {&r, r.add(Operation::LESS, a.at(r), b.at(r), 0, a.x < b.x), a.x < b.x, false};
}
inline Choice operator>(const Recorded& a, const Recorded& b) { return b < a; }
inline bool any(const Choice& m) { return static_cast<bool>(m); }
inline bool all(const Choice& m) { return static_cast<bool>(m); }
inline Choice decide(const Choice& m) { return m.x; }
inline Recorded select(bool m, const Recorded& a, const Recorded& b) { return m ? a : b; }
inline Recorded select(const Choice& m, const Recorded& a, const Recorded& b) {
  bool same = a.in ? a.in == b.in && a.node == b.node : b.is(a.x);
  if (!m.in || same) return m.x || same ? a : b;
  if (auto known = m.in->asserted.find(m.node); known != m.in->asserted.end())
    return known->second != m.negated ? a : b;
  Recording& r = *m.in;
  const Recorded &yes = m.negated ? b : a, &no = m.negated ? a : b;
  return {r, r.add(Operation::SELECT, m.node, yes.at(r), no.at(r), m.x ? a.x : b.x)};
}

// Numbers of the model are Recorded too: constants, or parameters of the program. Steps take the ways of packs.
template <>
struct Plain<Recorded, Recorded> {
  static constexpr bool value = false;
};

SARRUS_END
