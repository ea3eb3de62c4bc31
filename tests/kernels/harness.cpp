// C entry points around the headers for tests/kernels: the same templates for double, dual numbers and
// packs, without the bindings in between.
#include <cstdlib>
#include <cstring>
#include <vector>

#include "algebra/box_problem.hpp"
#include "algebra/pack.hpp"
#include "solve/forward_dynamics.hpp"
#include "tree/body_frames.hpp"

using namespace sarrus;

namespace {

constexpr int W = 4;  // lanes of the packs tested here

Model<double> view(const int* sizes, const void* const* fields) {
  Model<double> m;
  using I = int;
  using F = double;
  int k = 0;
#define SIZE(name) m.name = sizes[k++];
  SARRUS_MODEL_SIZES(SIZE)
  k = 0;
#define FIELD(type, name, count, width) m.name = static_cast<const type*>(fields[k++]);
  SARRUS_MODEL_FIELDS(FIELD)
  return m;
}

struct Memory {
  void* at;
  template <class Thing>
  static Memory for_(const Model<double>& m) {
    Arena ruler(nullptr);
    Thing measured(m, ruler);
    size_t bytes = (ruler.used + 4095) / 4096 * 4096;
    void* at = std::aligned_alloc(4096, bytes);
    std::memset(at, 0xff, bytes);  // NaN everywhere: reading before writing shows
    return {at};
  }
  ~Memory() { std::free(at); }
};

template <class T>
struct TreeWork {
  Tree<T> tree;
  Bodies<T> bodies;
  TreeWork(const Model<real<T>>& m, Arena& arena) {
    tree.bind(arena, m);
    bodies.bind(arena, m);
  }
};

template <class T>
std::vector<T> lift(const double* x, int n) {
  return std::vector<T>(x, x + n);
}

template <class T>
void copy_rows(const T* x, int rows, int cols, int ld, double* out, double (*part)(const T&)) {
  for (int r = 0; r < rows; ++r)
    for (int j = 0; j < cols; ++j) out[r * cols + j] = part(x[r * ld + j]);
}

double itself(const double& x) { return x; }
double slope(const Dual<double>& x) { return x.b; }

template <int LDC>
int forward(const Model<double>& m, const double* q, const double* v, const double* tau, const double* drive,
            const double* user, bool limits, double by_entries, double* a, double* lam) {
  Memory room = Memory::for_<Workspace<double, LDC>>(m), spare = Memory::for_<Tangent<double, LDC>>(m);
  Arena arena(room.at), second(spare.at);
  Workspace<double, LDC> w(m, arena);
  Tangent<double, LDC> d(m, second);
  w.factor.by_entries = by_entries;
  evaluate(m, {q, v, drive, user}, w);
  prepare(m, {q, v, drive, user}, -1, limits ? &d : nullptr, w);
  accelerate(m, tau, w);
  multipliers(m, w, lam);
  std::memcpy(a, w.a, sizeof(double) * m.nv);
  return w.factor.sparse == (by_entries > 0) ? w.factor.rank_rows : -1;
}

}  // namespace

extern "C" {

// M, h, phi, J, b, gamma at one state
void terms_double(const int* sizes, const void* const* fields, const double* q, const double* v,
                  const double* drive, const double* user, double* M, double* h, double* phi, double* J,
                  double* b, double* gamma) {
  Model<double> m = view(sizes, fields);
  Memory room = Memory::for_<Workspace<double, 0>>(m);
  Arena arena(room.at);
  Workspace<double, 0> w(m, arena);
  evaluate(m, {q, v, drive, user}, w);
  copy_rows(w.M, m.nv, m.nv, w.ld, M, itself);
  copy_rows(w.rows.J, m.nc, m.nv, w.ld, J, itself);
  std::memcpy(h, w.h, sizeof(double) * m.nv);
  std::memcpy(phi, w.rows.phi, sizeof(double) * m.nc);
  std::memcpy(b, w.rows.b, sizeof(double) * m.nc);
  std::memcpy(gamma, w.rows.gamma, sizeof(double) * m.nc);
}

// Derivatives of M, h, phi, J, gamma along the direction (dq, dv), by dual numbers
void terms_dual(const int* sizes, const void* const* fields, const double* q, const double* v,
                const double* drive, const double* user, const double* dq, const double* dv, double* M,
                double* h, double* phi, double* J, double* gamma) {
  using D = Dual<double>;
  Model<double> m = view(sizes, fields);
  Memory room = Memory::for_<Workspace<D, 0>>(m);
  Arena arena(room.at);
  Workspace<D, 0> w(m, arena);
  std::vector<D> q0 = lift<D>(q, m.nq), step(m.nv), moved(m.nq), speed(m.nv);
  std::vector<D> f = lift<D>(drive, 3 * m.nd), u = lift<D>(user, m.n_user_rows * (3 + m.nv));
  for (int j = 0; j < m.nv; ++j) step[j] = D(0, dq[j]), speed[j] = D(v[j], dv[j]);
  integrate(m, q0.data(), step.data(), moved.data());
  evaluate(m, {moved.data(), speed.data(), f.data(), u.data()}, w);
  copy_rows(w.M, m.nv, m.nv, w.ld, M, slope);
  copy_rows(w.rows.J, m.nc, m.nv, w.ld, J, slope);
  copy_rows(w.h, 1, m.nv, 0, h, slope);
  copy_rows(w.rows.phi, 1, m.nc, 0, phi, slope);
  copy_rows(w.rows.gamma, 1, m.nc, 0, gamma, slope);
}

// Derivatives of the tree's inverse dynamics, energies, and origin of its last body along (dq, dv)
void tree_dual(const int* sizes, const void* const* fields, const double* q, const double* v,
               const double* a_, const double* dq, const double* dv, double* df, double* de, double* dp) {
  using D = Dual<double>;
  Model<double> m = view(sizes, fields);
  Memory room = Memory::for_<TreeWork<D>>(m);
  Arena arena(room.at);
  TreeWork<D> w(m, arena);
  std::vector<D> q0 = lift<D>(q, m.nq), step(m.nv), moved(m.nq), speed(m.nv), a = lift<D>(a_, m.nv), f(m.nv);
  for (int j = 0; j < m.nv; ++j) step[j] = D(0, dq[j]), speed[j] = D(v[j], dv[j]);
  integrate(m, q0.data(), step.data(), moved.data());
  place(m, moved.data(), w.tree);
  move(m, speed.data(), w.tree);
  D e[2], R[9], p[3];
  energy(m, moved.data(), speed.data(), w.tree, e);
  body_pose(m, m.nb - 1, w.tree, R, p);
  rnea(m, moved.data(), speed.data(), a.data(), w.tree, w.bodies, f.data());
  copy_rows(f.data(), 1, m.nv, 0, df, slope);
  copy_rows(e, 1, 2, 0, de, slope);
  copy_rows(p, 1, 3, 0, dp, slope);
}

// Acceleration and multipliers, with a stride that is a compile-time constant (if it fits) or not, with
// the rows that replace lost ones at a singular pose or without
int forward_double(const int* sizes, const void* const* fields, const double* q, const double* v,
                   const double* tau, const double* drive, const double* user, int compile_time, int limits,
                   double* a, double* lam) {
  Model<double> m = view(sizes, fields);
  auto run = !compile_time ? forward<0> : m.nv <= 8 ? forward<8> : m.nv <= 16 ? forward<16> : forward<32>;
  return run(m, q, v, tau, drive, user, limits, 0, a, lam);
}

// The same by entries, however many reflectors get. Returns -1 if it was not.
int forward_entries(const int* sizes, const void* const* fields, const double* q, const double* v,
                    const double* tau, const double* drive, const double* user, int limits, double* a,
                    double* lam) {
  return forward<0>(view(sizes, fields), q, v, tau, drive, user, limits, 10, a, lam);
}

// Whether that is worth it for a model
int worth_entries(const int* sizes, const void* const* fields, double* J) {
  Model<double> m = view(sizes, fields);
  Memory room = Memory::for_<Workspace<double, 0>>(m);
  Arena arena(room.at);
  Workspace<double, 0> w(m, arena);
  bool yes = stays_sparse(m, w.ld, w.rows.J, w.factor);
  copy_rows(w.rows.J, m.nc, m.nv, w.ld, J, itself);
  return yes;
}

// Directional derivative of the acceleration along (dq, dv, dtau)
void forward_dual(const int* sizes, const void* const* fields, const double* q, const double* v,
                  const double* tau, const double* drive, const double* user, const double* dq,
                  const double* dv, const double* dtau, double* da) {
  using D = Dual<double>;
  Model<double> m = view(sizes, fields);
  Memory room = Memory::for_<Workspace<D, 0>>(m);
  Arena arena(room.at);
  Workspace<D, 0> w(m, arena);
  std::vector<D> q0 = lift<D>(q, m.nq), step(m.nv), moved(m.nq), speed(m.nv), force(m.nv);
  std::vector<D> f = lift<D>(drive, 3 * m.nd), u = lift<D>(user, m.n_user_rows * (3 + m.nv));
  for (int j = 0; j < m.nv; ++j)
    step[j] = D(0, dq[j]), speed[j] = D(v[j], dv[j]), force[j] = D(tau[j], dtau[j]);
  integrate(m, q0.data(), step.data(), moved.data());
  evaluate(m, {moved.data(), speed.data(), f.data(), u.data()}, w);
  prepare(m, {moved.data(), speed.data(), f.data(), u.data()}, -1, static_cast<Tangent<D, 0>*>(nullptr), w);
  accelerate(m, force.data(), w);
  copy_rows(w.a, 1, m.nv, 0, da, slope);
}

// W states at once; arrays are (W, n)
void forward_pack(const int* sizes, const void* const* fields, const double* q, const double* v,
                  const double* tau, const double* drive, const double* user, double* a) {
  using P = Pack<W>;
  Model<double> m = view(sizes, fields);
  Memory room = Memory::for_<Workspace<P, 0>>(m);
  Arena arena(room.at);
  Workspace<P, 0> w(m, arena);
  auto load = [](const double* x, int n) {
    std::vector<P> out(n);
    for (int j = 0; j < n; ++j)
      for (int l = 0; l < W; ++l) out[j].set(l, x[l * n + j]);
    return out;
  };
  std::vector<P> pq = load(q, m.nq), pv = load(v, m.nv), pt = load(tau, m.nv), pd = load(drive, 3 * m.nd),
                 pu = load(user, m.n_user_rows * (3 + m.nv));
  evaluate(m, {pq.data(), pv.data(), pd.data(), pu.data()}, w);
  prepare(m, {pq.data(), pv.data(), pd.data(), pu.data()}, -1, static_cast<Tangent<P, 0>*>(nullptr), w);
  accelerate(m, pt.data(), w);
  for (int l = 0; l < W; ++l)
    for (int j = 0; j < m.nv; ++j) a[l * m.nv + j] = w.a[j][l];
}

// Forces, rates (n), and which forces are unique (n, 1 or 0); bounds without end are infinite
void box_minimum(int n, const double* G, const double* g, const double* low, const double* high, double* f,
                 double* rate, double* unique) {
  Arena ruler(nullptr);
  BoxProblem measured;
  measured.bind(ruler, n);
  std::vector<char> room(ruler.used + 64);
  Arena arena(room.data() + (-reinterpret_cast<unsigned long long>(room.data()) & 63));
  BoxProblem box;
  box.bind(arena, n);
  box.n = n;
  std::memcpy(box.G, G, n * n * sizeof(double));
  for (int i = 0; i < n; ++i) box.g[i] = g[i], box.low[i] = low[i];
  for (int i = 0; i < n; ++i) box.high[i] = high[i] < BOX_UNBOUNDED ? high[i] : BOX_UNBOUNDED;
  solve_box(box);
  for (int i = 0; i < n; ++i) f[i] = box.f[i], rate[i] = box.rate[i], unique[i] = box.unique[i];
}

}  // extern "C"
