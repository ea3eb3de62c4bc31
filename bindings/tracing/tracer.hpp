// The functions of one mechanism as recorded programs: accelerations, a Newton step onto the constraints, the
// step in time and the projection that call both, and the terms.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "../scratch.hpp"
#include "integrate/straight_step.hpp"
#include "schedule.hpp"

SARRUS_BEGIN

// A recorded function: names and sizes of its arguments and results, which stand one behind the other.
struct Function {
  using Parts = std::vector<std::pair<std::string, int>>;
  std::string name;
  Recording r;
  Parts inputs, outputs;
  int n_inputs = 0;

  Function(const char* called, size_t most) : name(called) { r.most = most, r.bit = DECISION; }
  // x (n) <- variables, with the values that they have at the reference state
  void input(const char* part, Recorded* x, int n, const double* at) {
    for (int j = 0; j < n; ++j) x[j] = fresh(at[j]);
    inputs.emplace_back(part, n);
  }
  Recorded fresh(double at) { return {r, r.add(Operation::INPUT, n_inputs++, 0, 0, at)}; }
  void output(const char* part, const Recorded* x, int n) {
    for (int j = 0; j < n; ++j) r.outputs.push_back(x[j].at(r));
    outputs.emplace_back(part, n);
  }
};

// The model in recorded numbers: constants, but for the entries that are parameters of the program.
class RecordedModel {
 public:
  Model<Recorded> m;

  // chosen: places in the arrays of `of`
  RecordedModel(const Model<double>& of, const std::vector<const double*>& chosen) {
#define SARRUS_SIZE(name) m.name = of.name;
    SARRUS_MODEL_SIZES(SARRUS_SIZE)
#undef SARRUS_SIZE
#define SARRUS_FIELD(type, name, count, width) m.name = take(of.name, of.count * width);
    SARRUS_MODEL_FIELDS(SARRUS_FIELD)
#undef SARRUS_FIELD
    m.lengths = of.lengths;
    for (const double* x : chosen)
      for (const auto& [from, to, n] : arrays_)
        if (x >= from && x < from + n) entries_.push_back({x, to + (x - from)});
  }
  // The parameters become variables of f.
  void parameters(Function& f) {
    for (auto& [from, to] : entries_) *to = f.fresh(*from);
    if (!entries_.empty()) f.inputs.emplace_back("parameters", static_cast<int>(entries_.size()));
  }
  // The same for a function that f calls
  void pass(std::vector<Recorded>& with) const {
    for (auto& [from, to] : entries_) with.push_back(*to);
  }

 private:
  std::vector<std::unique_ptr<Recorded[]>> memory_;
  std::vector<std::tuple<const double*, Recorded*, int>> arrays_;
  std::vector<std::pair<const double*, Recorded*>> entries_;

  const int* take(const int* from, int) { return from; }
  const Recorded* take(const double* from, int n) {
    Recorded* to = memory_.emplace_back(new Recorded[n]).get();
    std::copy_n(from, n, to);
    arrays_.push_back({from, to, n});
    return to;
  }
};

// Where programs are recorded, and how exact they have to be.
struct Reference {
  const double *q, *v;
  StraightTolerances tolerances;
  int newton_steps;
  size_t most;                            // nodes of one function
  std::vector<const double*> parameters;  // entries of the model that stay variables
};

class Tracer {
 public:
  using Stepper = LaneStepper<Recorded, 0>;
  static constexpr int ACCELERATE = 0, CLOSE = 1;
  std::vector<Function> functions;
  int rank = 0;
  bool regular = true;  // the reference state passes all guards

  Tracer(const Model<double>& model, const Reference& reference)
      : model_(model, reference.parameters), m_(model_.m), at_(reference) {
    Arena measure(nullptr);
    Stepper measured(m_, METHODS[0].tableau, measure);
    memory_.resize(measure.used / 8 + 16);
    functions.reserve(6);
    find_rank();
    record_calls();
    record_function("acceleration", [&](Function& f, Stepper& s) {
      Caller call{*this, f.r, s};
      straight_acceleration(s, at_.tolerances, call);
      f.output("a", s.w.a, m_.nv);
    });
    record_function("step", [&](Function& f, Stepper& s) {
      Caller call{*this, f.r, s};
      Recorded h;
      const double typical = 1e-3;
      f.input("dt", &h, 1, &typical);
      Residuals<Recorded> left = straight_step(s, h, at_.newton_steps, at_.tolerances, call);
      f.output("q", s.q1, m_.nq);
      f.output("v", s.v1, m_.nv);
      f.output("drift", &left.position, 1);
      f.output("velocity_drift", &left.velocity, 1);
    });
    record_function("project", [&](Function& f, Stepper& s) {
      Caller call{*this, f.r, s};
      straight_projection(s, at_.newton_steps, at_.tolerances, call);
      f.output("q", s.q1, m_.nq);
      f.output("v", s.v1, m_.nv);
    });
    record_terms();
  }

 private:
  // What the recorded step calls
  struct Caller {
    Tracer& t;
    Recording& r;
    Stepper& s;

    // Results of a call with these arguments
    std::vector<Recorded> call(int which, std::vector<Recorded> with) {
      std::vector<int> inputs;
      for (const Recorded& x : with) inputs.push_back(x.at(r));
      r.calls.push_back(inputs);
      int node = r.add(Operation::CALL, static_cast<int>(r.calls.size()) - 1, which, 0, 0);
      std::vector<Recorded> results;
      const Recording& called = t.functions[which].r;
      for (size_t i = 0; i < called.outputs.size(); ++i)
        results.push_back(
            {r, r.add(Operation::RESULT, node, static_cast<int>(i), 0, called.nodes[called.outputs[i]].x)});
      return results;
    }
    Straight<Recorded> accelerate(const State<Recorded>& x) {
      const Model<Recorded>& m = t.m_;
      std::vector<Recorded> with(x.q, x.q + m.nq);
      with.insert(with.end(), x.v, x.v + m.nv);
      with.insert(with.end(), s.tau, s.tau + m.nv);
      t.model_.pass(with);
      std::vector<Recorded> found = call(ACCELERATE, with);
      std::copy_n(found.begin(), m.nv, s.w.a);
      factors = {found.begin() + m.nv + 2, found.end()};
      return {found[m.nv], found[m.nv + 1]};
    }
    Residuals<Recorded> close() {
      const Model<Recorded>& m = t.m_;
      std::vector<Recorded> with(s.q1, s.q1 + m.nq);
      with.insert(with.end(), s.v1, s.v1 + m.nv);
      t.model_.pass(with);
      with.insert(with.end(), factors.begin(), factors.end());
      std::vector<Recorded> found = call(CLOSE, with);
      std::copy_n(found.begin(), m.nq, s.q1);
      std::copy_n(found.begin() + m.nq, m.nv, s.v1);
      return {found[m.nq + m.nv], found[m.nq + m.nv + 1]};
    }
    template <class Condition>
    void require(Guard guard, Condition condition) {
      r.bit = guard;
      t.regular = static_cast<bool>(condition()) && t.regular;
      r.bit = DECISION;
    }

    std::vector<Recorded> factors = {};  // of the last acceleration
  };

  RecordedModel model_;
  const Model<Recorded>& m_;
  const Reference& at_;
  std::vector<double> memory_;

  // A stepper whose numbers are all zero
  Stepper clean() {
    std::fill(memory_.begin(), memory_.end(), 0.0);
    auto at = (reinterpret_cast<unsigned long long>(memory_.data()) + 63) & ~63ull;
    Arena arena(reinterpret_cast<void*>(at));
    Stepper s(m_, METHODS[0].tableau, arena);
    s.rank = rank;
    return s;
  }
  void state(Function& f, Stepper& s) {
    std::vector<double> none(m_.nv, 0.0);
    f.input("q", s.q, m_.nq, at_.q);
    f.input("v", s.v, m_.nv, at_.v);
    f.input("tau", s.tau, m_.nv, none.data());
    model_.parameters(f);
  }
  template <class Body>
  void record_function(const char* name, Body body) {
    Function& f = functions.emplace_back(name, at_.most);
    Stepper s = clean();
    state(f, s);
    body(f, s);
  }

  void find_rank() {
    Function f("", at_.most);
    Stepper s = clean();
    state(f, s);
    evaluate(m_, s.state(s.q, s.v, 0), s.w);
    factorize_rows(m_, s.w);
    rank = s.w.factor.rank_rows;
    regular = s.w.factor.spd;
  }

  // All numbers of a factorization
  template <class F>
  void each_factor(Stepper& s, F use) {
    Factor<Recorded>& f = s.w.factor;
    const std::pair<Recorded*, int> parts[] = {
        {f.Y, m_.nc * s.w.ld}, {f.H, m_.nv * s.w.ld}, {f.beta, m_.nv},   {f.K, m_.nv * s.w.ld},
        {f.inv_d, m_.nv},      {f.U, m_.nv * f.lc},   {f.U_beta, m_.nv}, {f.T_diag, m_.nv}};
    for (auto [x, n] : parts)
      for (int i = 0; i < n; ++i) use(x[i]);
  }

  // The acceleration, and the Newton step with its factorization
  void record_calls() {
    Function& a = functions.emplace_back("accelerate", at_.most);
    Stepper s = clean();
    state(a, s);
    Choice usual = accelerate_held(s, s.state(s.q, s.v, 0));
    Straight<Recorded> seen = inspect_factors(s);
    regular = regular && usual.x && s.w.factor.spd;
    a.output("a", s.w.a, m_.nv);
    a.output("pivot", &seen.pivot, 1);
    a.output("left", &seen.left, 1);

    Function& c = functions.emplace_back("close", at_.most);
    c.input("q", s.q1, m_.nq, at_.q);
    c.input("v", s.v1, m_.nv, at_.v);
    model_.parameters(c);
    int first = c.n_inputs;
    std::vector<int> from;  // nodes of `accelerate`
    each_factor(s, [&](Recorded& x) {
      if (!x.in) return;
      from.push_back(x.node);
      x = c.fresh(x.x);
    });
    Residuals<Recorded> left = close_once(s);
    c.output("q", s.q1, m_.nq);
    c.output("v", s.v1, m_.nv);
    c.output("drift", &left.position, 1);
    c.output("velocity_drift", &left.velocity, 1);
    carry(a, c, first, from);
  }
  // What `close` needs of the factorization becomes a result of `accelerate`.
  void carry(Function& a, Function& c, int first, const std::vector<int>& from) {
    std::vector<char> needed = needed_nodes(c.r);
    int count = 0;
    for (size_t i = 0; i < c.r.nodes.size(); ++i) {
      Node& n = c.r.nodes[i];
      if (n.op != Operation::INPUT || n.a < first || !needed[i]) continue;
      a.r.outputs.push_back(from[n.a - first]);
      n.a = first + count++;
    }
    c.n_inputs = first + count;
    a.outputs.emplace_back("factors", count);
    c.inputs.emplace_back("factors", count);
  }

  void record_terms() {
    Function& f = functions.emplace_back("terms", at_.most);
    Stepper s = clean();
    f.input("q", s.q, m_.nq, at_.q);
    f.input("v", s.v, m_.nv, at_.v);
    model_.parameters(f);
    evaluate(m_, s.state(s.q, s.v, 0), s.w);
    auto rows = [&](const char* name, const Recorded* x, int n) {
      for (int i = 0; i < n; ++i) f.output("", x + i * s.w.ld, m_.nv);
      f.outputs.resize(f.outputs.size() - n);
      f.outputs.emplace_back(name, n * m_.nv);
    };
    rows("M", s.w.M, m_.nv);
    f.output("h", s.w.h, m_.nv);
    f.output("phi", s.w.rows.phi, m_.nc);
    rows("J", s.w.rows.J, m_.nc);
    f.output("b", s.w.rows.b, m_.nc);
    f.output("gamma", s.w.rows.gamma, m_.nc);
    Caller call{*this, f.r, s};
    require_finite(s.w.h, m_.nv, call);
    require_finite(s.w.M, m_.nv * s.w.ld, call);
    require_finite(s.w.rows.gamma, m_.nc, call);
    require_finite(s.w.rows.J, m_.nc * s.w.ld, call);
  }
};

SARRUS_END
