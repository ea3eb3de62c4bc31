// sarrus._kernel.Copies: many copies of one mechanism in time, in all threads. A copy's numbers depend neither on the
// other copies nor on the threads.
#include "../threads.hpp"
#include "copy_inputs.hpp"
#include "lane_group.hpp"
#include "recorder.hpp"

#include <numeric>

namespace sarrus {

using namespace nb::literals;

namespace {

// Copies that a thread takes at a time; with modes more, since only those of the same kind share lanes
constexpr long PART = 8, MODAL_PART = 64;

// Where the states of a call are recorded: (copies, rows, width), every so many steps; row 0 is step 0.
struct Records {
  double *q, *v, *u;
  npy_intp rows;
  long every;
};

struct Copies {
  nb::list kernels;  // one of each copy, or one for all
  std::vector<const Kernel*> k;
  const RunOptions o;
  const double t0, dt;
  std::vector<int> columns;
  Drives drives;
  nb::object evaluator, plan_object;
  const ModePlan* plan = nullptr;  // of modes; null: all rows act
  const bool touch;                // surfaces do, in fixed steps
  CopyStates x;

  Copies(nb::list given, const RunOptions& options, nb::tuple time, nb::handle actuated, nb::object driven,
         nb::object plan_of_modes, nb::object functions, bool contacts)
      : kernels(given),
        o(options),
        t0(nb::cast<double>(time[0])),
        dt(nb::cast<double>(time[1])),
        evaluator(functions),
        plan_object(plan_of_modes),
        touch(contacts) {
    if (!plan_object.is_none()) plan = &plan_of(plan_object);
    for (nb::handle one : kernels) k.push_back(&nb::cast<const Kernel&>(one));
    if (k.empty()) throw nb::value_error("`kernels` must not be empty");
    x.nq = k[0]->m.nq, x.nv = k[0]->m.nv, x.nu = length_of(actuated);
    auto* index = data_of<int>(actuated, {x.nu});
    if (!index) throw nb::value_error("`actuated` must be int32");
    columns.assign(index, index + x.nu);
    drives.function = driven;
    CopyInputs none = inputs(nullptr, 0);
    std::unique_ptr<Run> run(make(0, none));
    x.tail = run->tail_size();
    x.mode_width = run->mode_numbers();
  }
  const ModelD& model(long i) const { return k[k.size() == 1 ? 0 : i]->m; }
  double time(long step) const { return t0 + static_cast<double>(step) * dt; }
  CopyInputs inputs(const CallInputs* call, long first) {
    CopyInputs found(k[0]->tables, columns, drives);
    found.call = call, found.first = first, found.last = first + (call ? call->steps : 0);
    found.t0 = t0, found.dt = dt;
    found.evaluator = &evaluator;
    return found;
  }
  Run* make(long i, CopyInputs& source) const {
    source.m = &model(i);
    const RunTable& runs = k[0]->tables.runs;
    if (touch) return runs.make_contacts(model(i), nullptr, o, ContactWay::STEPS, source.outside());
    return plan ? runs.make_modal(model(i), *plan, o, source.outside())
                : runs.make(model(i), o, source.outside());
  }
  // use(i, j, run, source) for copies i = which[j] that are fine, with a run that others may have used before
  template <class Use>
  void each(const CallInputs* call, long first, const std::vector<long>& which, int threads, Use use) {
    in_parallel(which.size(), PART, threads, [&](long begin, long end) {
      CopyInputs source = inputs(call, first);
      std::unique_ptr<Run> run;
      for (long j = begin; j < end; ++j) {
        long i = which[j];
        if (x.carried[i].status != StepStatus::FINE) continue;
        if (!run || k.size() > 1) run.reset(make(i, source));
        source.begin(i, first);
        use(i, j, *run, source);
        x.keep(i, *run);
      }
    });
  }

  // Starts all copies at q (n, nq), v (n, nv), after `step` steps; or those of `which` (count,) int64. Where there are
  // modes, in these (n, width); None: all contacts are open before they are settled.
  // inputs (n, nu): of the first step; None: unknown
  void start(nb::handle q0, nb::handle v0, nb::handle which, long step, int threads, nb::handle modes,
             nb::handle inputs) {
    npy_intp count = length_of(q0);
    Dense q(q0, "q", {count, x.nq}), v(v0, "v", {count, x.nv});
    std::vector<long> order(count);
    std::iota(order.begin(), order.end(), 0);
    if (!which.is_none()) {
      std::copy_n(indices(which, "which", count, x.n), count, order.begin());
    } else {
      if (k.size() > 1 && npy_intp(k.size()) != count) throw nb::value_error("one kernel for each copy");
      x.resize(count);
    }
    place_modes(modes, order);
    for (long j = 0; j < count; ++j) {
      bool usable = finite(q + j * x.nq, x.nq) && finite(v + j * x.nv, x.nv);
      x.carried[order[j]] = {};
      x.carried[order[j]].status = usable ? StepStatus::FINE : StepStatus::NOT_FINITE;
    }
    Dense u = Dense::or_none(inputs, "inputs", {count, x.nu});
    nb::gil_scoped_release free;
    each(nullptr, step, order, threads, [&](long i, long j, Run& run, CopyInputs& source) {
      if (u.data) std::copy_n(u.data + j * x.nu, x.nu, source.u.begin());
      run.end_at(time(step));
      run.load_mode(x.mode(i));
      if (run.start(time(step), q + j * x.nq, v + j * x.nv, -1))
        x.look(i, run.state(), step, source.u.data());
    });
  }

  // Modes (count, width) of the copies in `order`, all zero where none are given
  void place_modes(nb::handle modes, const std::vector<long>& order) {
    Dense given;
    if (plan || !modes.is_none()) given = Dense(modes, "modes", {npy_intp(order.size()), x.mode_width});
    for (size_t j = 0; j < order.size(); ++j) {
      if (given.data)
        std::copy_n(given.data + j * x.mode_width, x.mode_width, x.mode(order[j]));
      else
        std::fill_n(x.mode(order[j]), x.mode_width, 0.0);
    }
  }

  // Steps first + 1 ... last of all copies that are fine. given: (u, K, q, v), out: (q, v, u, every)
  void advance(long first, long last, nb::tuple given, nb::tuple out, int threads) {
    long count = last - first;
    auto goes_on = [&](nb::handle x) { return !x.is_none() && length_of(x, 1) == last - first + 1; };
    if (std::any_of(given.begin(), given.end(), goes_on))
      ++count;  // with the row of the next step, which begins in the last state
    CallInputs call = {count,
                       {given[0], "u", x.n, count, x.nu},
                       {given[1], "K", x.n, count, 2 * x.nv * x.nu},
                       {given[2], "q", x.n, count, x.nq},
                       {given[3], "v", x.n, count, x.nv}};
    npy_intp rows = length_of(out[0], 1);
    auto writable = [&](int i, npy_intp width) {
      auto* data = data_of<double>(out[i], {x.n, rows, width});
      if (!data) throw nb::value_error("records must be float64 arrays (copies, rows, width)");
      return const_cast<double*>(data);
    };
    Records records = {writable(0, x.nq), writable(1, x.nv), writable(2, x.nu), rows, nb::cast<long>(out[3])};
    {
      nb::gil_scoped_release free;
      if (k.size() == 1 && make_lanes().exist())
        advance_lanes(call, first, last, records, threads);
      else
        advance_single(call, first, last, records, threads);
    }
    drives.known.clear();
  }
  LanesOfCopies make_lanes() const { return {k[0]->tables, k[0]->m, plan, touch, o}; }
  void advance_single(const CallInputs& call, long first, long last, const Records& records, int threads) {
    std::vector<long> order(x.n);
    std::iota(order.begin(), order.end(), 0);
    each(&call, first, order, threads, [&](long i, long, Run& run, CopyInputs& source) {
      run.end_at(time(last));
      if (!x.restore(i, time(first), run)) return take_back(i, first, records);
      std::vector<double> room;
      for (long step = first; step < last && source.usable; ++step) {
        store_inputs(i, step, source.u.data(), records);
        begin_step(i, run.state().a, source.u.data(), room);
        long changes = run.mode_changes();
        if (!advance_one(run, time(step + 1))) return;
        if (run.mode_changes() != changes) x.note_change(i, run.state());
        x.carried[i].alone += 1;
        end_step(i, run.state(), step + 1, room);
        x.look(i, run.state(), step + 1, source.u.data());
        store_state(i, step + 1, run.state(), records);
      }
      if (!source.usable) x.carried[i].unusable = true;
    });
  }
  // The same where copies fit into lanes.
  void advance_lanes(const CallInputs& call, long first, long last, const Records& records, int threads) {
    long part = x.mode_width ? MODAL_PART : PART;
    in_parallel(x.n, part, threads, [&](long begin, long end) {
      CopyInputs source = inputs(&call, first);
      std::unique_ptr<Run> run(make(begin, source));
      LanesOfCopies lanes = make_lanes();
      LaneGroup group(x, lanes, *run, source, plan, part);
      run->end_at(time(last));
      for (; begin < end; begin += part) advance_group(group, {begin, end}, {first, last}, records);
    });
  }
  void advance_group(LaneGroup& group, Span copies, Span steps, const Records& records) {
    std::vector<double> room;
    group.begin(copies, steps.first, time(steps.first), [&](long i) { take_back(i, steps.first, records); });
    for (long step = steps.first; step < steps.last && group.any_active(); ++step) {
      group.stop_unusable();
      group.each_active([&](Member& one) {
        store_inputs(one.id, step, one.inputs.u.data(), records);
        begin_step(one.id, one.a, one.inputs.u.data(), room);
      });
      group.step({step, time(step), time(step + 1), step + 1 == steps.last},
                 [&](Member& one, const RunState& s) {
                   end_step(one.id, s, step + 1, room);
                   x.look(one.id, s, step + 1, one.inputs.u.data());
                   store_state(one.id, step + 1, s, records);
                 });
    }
    group.stop_unusable();
  }
  // What fixed steps lose is summed up; others have chosen their size by it.   room: (5 nv + 3 nd)
  void begin_step(long i, const double* a, const double* u, std::vector<double>& room) {
    if (o.method.adaptive) return;
    room.resize(5 * x.nv + 3 * model(i).nd);
    x.begin_step(i, a, u, {model(i), k[0]->tables, dt, room.data()});
    if (plan || touch)
      x.carried[i].sampled = false, x.carried[i].error.jumps = 0;  // (2) would need the rows of the mode
  }
  void end_step(long i, const RunState& s, long step, std::vector<double>& room) {
    if (o.method.adaptive) return;
    const ModelD& m = model(i);
    const Tables& tables = k[0]->tables;
    auto accelerate = [&](const double* u, double* a) {
      double *tau = room.data() + x.nv, *drive = tau + x.nv;
      std::fill_n(tau, x.nv, 0.0);
      for (int j = 0; j < x.nu; ++j) tau[columns[j]] += u[j];
      if (m.nd) drives.at(time(step), 3 * m.nd, drive);
      int rank = 0, status = 0;
      tables.batches.forward(m, {1, s.q, s.v, drive, nullptr}, tau, x.carried[i].before.largest_rank,
                             {a, nullptr, nullptr, nullptr, &rank, &status});
    };
    x.end_step(i, s, {m, tables, dt, room.data()}, accelerate);
  }
  bool advance_one(Run& run, double target) const {
    while (run.state().t < target)
      if (!run.step(o.method.adaptive ? run.state().step : target - run.state().t, target)) return false;
    return true;
  }
  // A state without an acceleration is not one that a copy has reached, except the first one.
  void take_back(long i, long step, const Records& to) {
    if (x.carried[i].fresh) return;
    x.carried[i].steps = step - 1;
    if (step % to.every) return;
    std::fill_n(to.q + (i * to.rows + step / to.every) * x.nq, x.nq, NAN);
    std::fill_n(to.v + (i * to.rows + step / to.every) * x.nv, x.nv, NAN);
  }
  void store_inputs(long i, long step, const double* u, const Records& to) const {
    if (step % to.every == 0) std::copy_n(u, x.nu, to.u + (i * to.rows + step / to.every) * x.nu);
  }
  void store_state(long i, long step, const RunState& s, const Records& to) const {
    if (step % to.every) return;
    std::copy_n(s.q, x.nq, to.q + (i * to.rows + step / to.every) * x.nq);
    std::copy_n(s.v, x.nv, to.v + (i * to.rows + step / to.every) * x.nv);
  }

  // One number of each copy
  template <class T>
  New<T> column(T (*get)(const Carried&)) const {
    New<T> found({x.n});
    std::transform(x.carried.begin(), x.carried.end(), found.data(), get);
    return found;
  }
  // (copies, 7): the numbers of FixedStepError
  NewArray step_errors() const {
    NewArray found({x.n, 7});
    double* to = found.data();
    for (const Carried& c : x.carried) {
      const FixedStepError& e = c.error;
      for (double value : {e.moved, e.faster, e.sampled, e.jumps, e.samples, e.speed, e.quickest})
        *to++ = value;
    }
    return found;
  }
  // States at which a singular pose may have been passed since the last call, with their neighbours (count, 3, width)
  NewArray passes() {
    NewArray found({npy_intp(x.passed.size()) / (3 * (4 + x.wide())), 3, 4 + x.wide()}, x.passed.data());
    x.passed.clear();
    return found;
  }
};

}  // namespace

void bind_copies(nb::module_& m) {
  nb::class_<Copies>(m, "Copies")
      .def(nb::init<nb::list, const RunOptions&, nb::tuple, nb::handle, nb::object, nb::object, nb::object,
                    bool>(),
           "kernels"_a, "options"_a, "time"_a, "actuated"_a, "drives"_a.none(), "plan"_a.none() = nb::none(),
           "evaluator"_a.none() = nb::none(), "contacts"_a = false)
      .def("start", &Copies::start, "q"_a, "v"_a, "which"_a.none(), "step"_a, "threads"_a,
           "modes"_a.none() = nb::none(), "inputs"_a.none() = nb::none())
      .def_prop_ro("modes",
                   [](const Copies& c) { return NewArray({c.x.n, c.x.mode_width}, c.x.modes.data()); })
      .def("advance", &Copies::advance, "first"_a, "last"_a, "inputs"_a, "out"_a, "threads"_a)
      .def("passes", &Copies::passes)
      .def_prop_ro("step_errors", &Copies::step_errors)
      .def_prop_ro("q", [](const Copies& c) { return NewArray({c.x.n, c.x.nq}, c.x.q.data()); })
      .def_prop_ro("v", [](const Copies& c) { return NewArray({c.x.n, c.x.nv}, c.x.v.data()); })
      .def_prop_ro("status",
                   [](const Copies& c) { return c.column<int>([](auto& x) { return int(x.status); }); })
      .def_prop_ro(
          "steps",
          [](const Copies& c) { return c.column<long long>([](auto& x) { return (long long)x.steps; }); })
      .def_prop_ro(
          "single",
          [](const Copies& c) { return c.column<long long>([](auto& x) { return (long long)x.alone; }); })
      .def_prop_ro("drift", [](const Copies& c) { return c.column<double>([](auto& x) { return x.drift; }); })
      .def_prop_ro("velocity_drift", [](const Copies& c) {
        return c.column<double>([](auto& x) { return x.velocity_drift; });
      });
  m.def("all_cores", &all_cores);
}

}  // namespace sarrus
