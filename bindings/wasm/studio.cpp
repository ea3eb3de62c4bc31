// The kernel as a WebAssembly module without imports: one mechanism, loaded from a table of numbers, whose
// arrays lie in the memory of the module under names. No function allocates after load().
//
// Built by bindings/wasm/build.py (`make setup`), called by src/sarrus/viz/studio/kernel.js.
#include <cstdlib>
#include <cstring>

#include "../batches/constraint_batches.hpp"
#include "../batches/front_batches.hpp"
#include "../batches/project_batches.hpp"
#include "../batches/solve_batches.hpp"
#include "../runs/run.hpp"
#include "constraints/drive_table.hpp"
#include "control/pull_and_hold.hpp"
#include "solve/search/drag.hpp"

#define EXPORT(name) extern "C" __attribute__((export_name(#name)))

SARRUS_BEGIN
namespace {

// X(name, count): arrays of doubles that both sides read and write
// clang-format off
#define SARRUS_STUDIO_ARRAYS(X) \
  /* state, acceleration, applied force, pose to compare with, increment */ \
  X(q, m.nq) X(v, m.nv) X(a, m.nv) X(tau, m.nv) X(q1, m.nq) X(dq, m.nv) \
  /* inputs and what holds coordinates (control/pull_and_hold.hpp); limits of inputs and of coordinates */ \
  X(u, m.nv) X(hold_stiffness, m.nv) X(hold_damping, m.nv) X(hold_value, m.nv) \
  X(lower_input, m.nv) X(upper_input, m.nv) X(lower, m.nv) X(upper, m.nv) \
  /* the hand: point (3), target (3), stiffness, damping */ \
  X(hand, 8) \
  /* rows: values, J, right sides, multipliers, constraint force, singular values, V, R of SplitArrays */ \
  X(phi, m.nc) X(J, m.nc * m.nv) X(b, m.nc) X(gamma, m.nc) X(lam, m.nc) X(force, m.nv) \
  X(singular_values, most) X(right_vectors, m.nv * m.nv) X(left_vectors, m.nc * most) \
  /* bodies: rotations, origins, twists, accelerations */ \
  X(rotations, 9 * m.nb) X(origins, 3 * m.nb) X(twists, 6 * m.nb) X(accelerations, 6 * m.nb) \
  /* wrenches of unit multipliers and of forces between bodies, and where they act */ \
  X(row_wrenches, 6 * m.nc) X(row_points, 3 * m.ne) X(force_wrenches, 6 * m.nf) X(force_points, 3 * m.nf) \
  /* kinetic and potential energy; drives; time, |phi|, |J v - b|, smallest pivot, step, gap, rank, work */ \
  X(energy, 2) X(drive, 3 * m.nd) X(report, 8)
// clang-format on

enum Report { TIME, DRIFT, VELOCITY_DRIFT, PIVOT, STEP, GAP, RANK, EVALUATIONS };

// Names of the sizes, fields and kinds, a space after each. Python finds this text in the module
// (sarrus/viz/studios.py): a module of other sources writes no page.
#define SARRUS_NAME(name) #name " "
#define SARRUS_FIELD(type, name, count, width) #type #name #count #width " "
constexpr const char* LAYOUT = "sarrus layout: " SARRUS_MODEL_SIZES(SARRUS_NAME)
    SARRUS_MODEL_FIELDS(SARRUS_FIELD) SARRUS_ELEMENT_KINDS(SARRUS_NAME) SARRUS_FORCE_KINDS(SARRUS_NAME)
        SARRUS_COORDINATE_FORCE_KINDS(SARRUS_NAME);
#undef SARRUS_NAME
#undef SARRUS_FIELD

// A table that was written for another layout is refused.
constexpr unsigned layout_hash() {
  unsigned h = 2166136261u;
  for (const char* text = LAYOUT; *text; ++text) h = (h ^ static_cast<unsigned char>(*text)) * 16777619u;
  return h;
}

struct Studio {
  ModelD m;
  char* table = nullptr;
  int most = 0, dragged = -1;
  int* position = nullptr;  // (nv) entry of q of each coordinate, or -1
#define SARRUS_ARRAY(name, count) double* name = nullptr;
  SARRUS_STUDIO_ARRAYS(SARRUS_ARRAY)
#undef SARRUS_ARRAY
  unsigned char* unique = nullptr;  // (nc)
  DriveTable drives;
  PullWork<double>* pull = nullptr;
  Run* run = nullptr;
  Options options;

  States states() { return {1, q, v, drive, nullptr}; }
  void set_drives(double t, double* out) const {
    if (m.nd) drives_at(drives, m.nd, t, out);
  }
  void apply(const double* at_q, const double* at_v, double* out) const {
    Holding<double> h{u, hold_stiffness, hold_damping, hold_value, lower_input, upper_input, position};
    Pull<double> p{dragged, hand, hand + 3, hand[6], hand[7]};
    pull_and_hold(m, h, p, at_q, at_v, *pull, out);
  }
};

constexpr int METHOD_COUNT = sizeof METHODS / sizeof METHODS[0];

Studio studio;
unsigned table_size = 0;

// The arrays of the model, where they lie in the table: a hash, the sizes, the fields, each from a multiple
// of eight bytes on. False: the table is not one of this layout.
bool read_table(Studio& s) {
  unsigned at = 0, hash = 0;
  auto have = [&](unsigned long long bytes) { return at + bytes <= table_size; };
  if (!have(4)) return false;
  std::memcpy(&hash, s.table, 4), at = 4;
  if (hash != layout_hash()) return false;
#define SARRUS_SIZE(name)                           \
  if (!have(4)) return false;                       \
  std::memcpy(&s.m.name, s.table + at, 4), at += 4; \
  if (s.m.name < 0) return false;
  SARRUS_MODEL_SIZES(SARRUS_SIZE)
#undef SARRUS_SIZE
#define SARRUS_FIELD(type, name, count, width)                                                            \
  {                                                                                                       \
    at = (at + 7) & ~7u;                                                                                  \
    unsigned long long bytes = sizeof(ModelD::type) * static_cast<unsigned long long>(s.m.count) * width; \
    if (!have(bytes)) return false;                                                                       \
    s.m.name = reinterpret_cast<const ModelD::type*>(s.table + at);                                       \
    at += static_cast<unsigned>(bytes);                                                                   \
  }
  SARRUS_MODEL_FIELDS(SARRUS_FIELD)
#undef SARRUS_FIELD
  return at == table_size;
}

template <class T>
T* zeroed(int n) {
  return static_cast<T*>(std::calloc(n > 0 ? n : 1, sizeof(T)));
}

void take_arrays(Studio& s) {
  ModelD& m = s.m;
  s.most = m.nc < m.nv ? m.nc : m.nv;
  int most = s.most;
#define SARRUS_ARRAY(name, count) s.name = zeroed<double>(count);
  SARRUS_STUDIO_ARRAYS(SARRUS_ARRAY)
#undef SARRUS_ARRAY
  s.unique = zeroed<unsigned char>(m.nc);
  s.position = zeroed<int>(m.nv);
  for (int j = 0; j < m.nv; ++j) s.position[j] = -1;
  for (int i = 1; i < m.nn; ++i)
    if (joint_nv(m.joint[i]) == 1) s.position[m.iv[i]] = m.iq[i];
  for (int i = 1; i < m.nn; ++i)
    if (m.joint[i] == FREE || m.joint[i] == BALL) s.q[m.iq[i] + (m.joint[i] == FREE ? 6 : 3)] = 1;
  for (int j = 0; j < m.nv; ++j) {
    s.lower[j] = s.lower_input[j] = -HUGE_VAL;
    s.upper[j] = s.upper_input[j] = HUGE_VAL;
  }
  m.lengths = false;
  for (int j = 0; j < m.nv; ++j) m.lengths = m.lengths || m.unit[j] != 1;
  m.sparse = sparse(m);
  m.fronts = plan_model(m, {nullptr, [](void*, size_t n) { return zeroed<int>(static_cast<int>(n)); }});
  Arena measure(nullptr);
  PullWork<double> measured(m, measure);
  Arena arena(zeroed<char>(static_cast<int>(measure.used) + 64));
  s.pull = new PullWork<double>(m, arena);
}

void make_run_of(Studio& s) {
  Outside outside;
  outside.context = &s;
  outside.inputs = [](void* c, const Instant<double>& at, const Supplied<double>& to) {
    auto& of = *static_cast<Studio*>(c);
    of.set_drives(at.t, to.drive);
    if (at.stage != ROWS_ONLY) of.apply(at.q, at.v, to.tau);
    return true;
  };
  s.options.atol_in_units = true;
  s.options.jacobian = Jacobian::ANALYTIC_WITH_FEEDBACK;
  s.options.least_step = 1e-12;
  s.run = make_run(s.m, s.options, outside);
}

// What the run has reached
void store_run(Studio& s) {
  RunState x = s.run->state();
  for (int j = 0; j < s.m.nq; ++j) s.q[j] = x.q[j];
  for (int j = 0; j < s.m.nv; ++j) s.v[j] = x.v[j], s.a[j] = x.a[j], s.tau[j] = x.tau[j];
  const double report[] = {x.t, x.drift, x.velocity_drift, x.pivot, x.step};
  std::memcpy(s.report, report, sizeof report);
  s.report[RANK] = x.rank, s.report[EVALUATIONS] = x.evaluations;
}

// (q, v) to the nearest consistent state for the drives as they are set; a value of Projected
int project_state(Studio& s) {
  int status = 0;
  ProjectedArrays out{s.q1, s.dq, s.report + GAP, &status};
  project_n(s.m, s.states(), {nullptr, nullptr, nullptr, nullptr}, out);
  if (status) return status;
  std::memcpy(s.q, s.q1, sizeof(double) * s.m.nq);
  std::memcpy(s.v, s.dq, sizeof(double) * s.m.nv);
  return 0;
}

// Drives stand still where they are at time t: their rates are zero
void hold_drives(Studio& s, double t) {
  s.set_drives(t, s.drive);
  for (int k = 0; k < s.m.nd; ++k) s.drive[3 * k + 1] = s.drive[3 * k + 2] = 0;
}

}  // namespace

Run* make_run(const ModelD& m, const Options& o, const Outside& outside) {
  return sized(m, [&](auto ld) -> Run* {
    return new SizedRun<decltype(ld)::width, Called<false, false>>(m, o, outside);
  });
}

SARRUS_END

using namespace sarrus;

// The module never ends, so nothing is destroyed. The C library would otherwise print messages and ask for
// random numbers, which are imports.
extern "C" int __cxa_thread_atexit(void (*)(void*), void*, void*) { return 0; }
extern "C" void __cxa_pure_virtual() { __builtin_trap(); }
extern "C" unsigned short __wasi_random_get(unsigned char*, size_t) { return 0; }
void* operator new(size_t n) { return std::malloc(n); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, size_t) noexcept { std::free(p); }

// Room for a table of so many bytes, to be written before load()
EXPORT(table) char* table_of(unsigned bytes) {
  table_size = bytes;
  return studio.table = static_cast<char*>(std::calloc(bytes + 8, 1));
}

// 0: the table is not one of this kernel
EXPORT(load) int load() {
  if (!studio.table || !read_table(studio)) return 0;
  take_arrays(studio);
  return 1;
}

// The layout of tables that load() takes
EXPORT(layout) const char* layout() { return LAYOUT; }

// Place and number of entries of array k, in the order of names()
EXPORT(array) double* array_at(int k) {
  Studio& s = studio;
#define SARRUS_ARRAY(name, count) \
  if (k-- == 0) return s.name;
  SARRUS_STUDIO_ARRAYS(SARRUS_ARRAY)
#undef SARRUS_ARRAY
  return nullptr;
}
EXPORT(array_size) int array_size(int k) {
  const ModelD& m = studio.m;
  int most = studio.most;
#define SARRUS_ARRAY(name, count) \
  if (k-- == 0) return count;
  SARRUS_STUDIO_ARRAYS(SARRUS_ARRAY)
#undef SARRUS_ARRAY
  return most - most;
}
EXPORT(names) const char* array_names() {
#define SARRUS_ARRAY(name, count) #name " "
  return SARRUS_STUDIO_ARRAYS(SARRUS_ARRAY);
#undef SARRUS_ARRAY
}
EXPORT(unique) unsigned char* unique_rows() { return studio.unique; }
EXPORT(positions) int* positions() { return studio.position; }
// The gravity of the model (3), which may be changed
EXPORT(gravity) double* gravity() { return const_cast<double*>(studio.m.gravity); }

// Room for drives at `count` times from `first` on, (count, nd, 3)
EXPORT(drives) double* drive_table(double first, double step, int count) {
  auto* values = zeroed<double>(count * studio.m.nd * 3);
  studio.drives = {values, first, step, count};
  return values;
}

// Name of method k of METHODS (kernels/integrate/methods.hpp); null beyond the last
EXPORT(method_name) const char* method_name(int k) { return k < METHOD_COUNT ? METHODS[k].name : nullptr; }

// How runs step: a method of METHODS and tolerances
EXPORT(method) int set_method(int k, double rtol, double atol) {
  if (k < 0 || k >= METHOD_COUNT) return 0;
  studio.options.method = METHODS[k], studio.options.rtol = rtol, studio.options.atol = atol;
  delete studio.run;
  make_run_of(studio);
  return 1;
}

// ---------------------------------------------------------------- states

// (q, v) to the nearest consistent state at time t; a value of Projected
EXPORT(project) int project(double t) {
  studio.set_drives(t, studio.drive);
  return project_state(studio);
}

// q to the nearest pose on the constraints, at rest, drives held at time t; a value of Projected. A velocity
// would decide between branches near a singular pose (solve/search/nearest_state.hpp).
EXPORT(close_pose) int close_pose(double t) {
  Studio& s = studio;
  hold_drives(s, t);
  for (int j = 0; j < s.m.nv; ++j) s.v[j] = 0;
  return project_state(s);
}

// A run from (q, v) at time t; a value of StepStatus
EXPORT(start) int start_run(double t, int rank) {
  Studio& s = studio;
  bool fine = s.run->start(t, s.q, s.v, rank);
  if (fine) store_run(s);
  return fine ? 0 : static_cast<int>(s.run->state().status);
}

// One accepted step of the run of at most h (0: chosen), never past t_end
EXPORT(step) int step_run(double h, double t_end) {
  Studio& s = studio;
  bool fine = s.run->step(h, t_end);
  if (fine) store_run(s);
  return fine ? 0 : static_cast<int>(s.run->state().status);
}

// tau, a, lam, force, unique and rank at (q, v, t); 1: no inertia
EXPORT(accelerate) int accelerate_state(double t) {
  Studio& s = studio;
  int rank = 0, status = 0;
  s.set_drives(t, s.drive);
  s.apply(s.q, s.v, s.tau);
  forward_n(s.m, s.states(), s.tau, -1, {s.a, s.force, s.lam, s.unique, &rank, &status});
  s.report[RANK] = rank;
  return status;
}

// phi, J, b, gamma at (q, v, t)
EXPORT(constraints) void rows(double t) {
  Studio& s = studio;
  s.set_drives(t, s.drive);
  constraints_n(s.m, s.states(), {s.phi, s.J, s.b, s.gamma});
}

// The same with drives held at time t: gamma is quadratic in v
EXPORT(held_constraints) void held_rows(double t) {
  Studio& s = studio;
  hold_drives(s, t);
  constraints_n(s.m, s.states(), {s.phi, s.J, s.b, s.gamma});
}

// Poses, twists and accelerations of bodies at (q, v, a), and where rows and forces act with what wrenches
EXPORT(frames) void frames() {
  Studio& s = studio;
  poses_n(s.m, s.states(), s.rotations, s.origins);
  body_motion_n(s.m, s.states(), s.a, s.twists, s.accelerations);
}
EXPORT(wrenches) void wrenches() {
  Studio& s = studio;
  row_wrenches_n(s.m, s.states(), s.row_wrenches, s.row_points);
  force_wrenches_n(s.m, s.states(), s.force_wrenches, s.force_points);
}
EXPORT(energies) void energies() { energy_n(studio.m, studio.states(), studio.energy); }

// J without units, its singular values, gap and rank at (q, t)
EXPORT(mobility) void mobility(double t) {
  Studio& s = studio;
  int rank = 0;
  s.set_drives(t, s.drive);
  mobility_n(s.m, s.states(), {s.J, s.singular_values, s.report + GAP, &rank});
  s.report[RANK] = rank;
}

// Singular values and vectors of J as it is, at (q, t): SplitArrays
EXPORT(decompose) int decompose_rows(double t) {
  Studio& s = studio;
  int rank = 0, status = 0;
  s.set_drives(t, s.drive);
  decompose_n(s.m, s.states(), {}, {s.singular_values, s.right_vectors, s.left_vectors, &rank, &status});
  s.report[RANK] = rank;
  return status;
}

// q1 = integrate(q, dq); dq = difference(q, q1)
EXPORT(integrate) void integrate_pose() { integrate(studio.m, studio.q, studio.dq, studio.q1); }
EXPORT(difference) void difference_pose() { difference(studio.m, studio.q, studio.q1, studio.dq); }

// The body that the hand holds, -1: none
EXPORT(hold) void hold_body(int body) { studio.dragged = body < studio.m.nb ? body : -1; }

// At most `steps` steps of a drag of the held point to hand[3..5], all drives at time t; how many were taken
EXPORT(drag) int drag(double t, int steps) {
  Studio& s = studio;
  if (s.dragged < 0) return 0;
  s.set_drives(t, s.drive);
  Dragged<double> d{s.dragged, s.hand, s.hand + 3, s.lower, s.upper, s.position, s.drive};
  return sized(s.m, [&](auto ld) {
    using Work = DragWork<double, decltype(ld)::width>;
    return with_work<Work>(s.m, [&](Work& w) {
      if (s.m.sparse) w.factor.by_entries = BY_ENTRIES;
      int taken = 0;
      while (taken < steps && drag_step(s.m, d, s.q, w)) ++taken;
      return taken;
    });
  });
}
