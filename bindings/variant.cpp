// The kernel instantiated for one instruction set (SARRUS_ISA): batch loops over kernel functions. Sizes
// are compile-time constants up to 32 coordinates, runtime values beyond.
#include "../kernels/aba.hpp"
#include "../kernels/derivative.hpp"
#include "../kernels/forward.hpp"
#include "../kernels/frames.hpp"
#include "control.hpp"
#include "run.hpp"
#include "scratch.hpp"
#include "table.hpp"

SARRUS_BEGIN
namespace {

template <int LD, class F>
inline void with_workspace(const ModelD& m, F body) {
  with_arena([&](Arena& arena, bool ready) {
    Workspace<double, LD> w(m, arena);
    Tangent<double, LD> d(m, arena);
    if (m.sparse) w.factor.by_entries = BY_ENTRIES;
    if (ready) body(w, d);
  });
}

// The tree alone, for functions without constraints.
template <class F>
inline void with_tree(const ModelD& m, F body) {
  with_arena([&](Arena& arena, bool ready) {
    Tree<double> t;
    t.bind(arena, m);
    Bodies<double> b;
    b.bind(arena, m);
    ArticulatedWork<double> w;
    w.bind(arena, m);
    double* M = arena.take<double>(m.nv * Stride<0>(m.nv));
    if (ready) body(t, b, w, M);
  });
}

// States i of a batch
struct At {
  const double *q, *v, *drive, *user;
  At(const ModelD& m, const States& s, int i)
      : q(s.q + static_cast<long>(i) * m.nq),
        v(s.v ? s.v + static_cast<long>(i) * m.nv : nullptr),
        drive(s.drive ? s.drive + static_cast<long>(i) * 3 * m.nd : nullptr),
        user(s.user ? s.user + static_cast<long>(i) * m.nu * (3 + m.nv) : nullptr) {}
};

// Rows of nv entries (stride ld) into an array without padding.
void store_matrix(const ModelD& m, const double* from, int rows, int ld, double* to) {
  unpad(from, ld, Stride<0>(m.nv), rows, m.nv, 1, to);
}

void mass_matrix_n(const ModelD& m, States s, double* out) {
  with_tree(m, [&](auto& t, auto& b, auto&, double* M) {
    Stride<0> ld(m.nv);
    for (int i = 0; i < s.n; ++i) {
      place(m, At(m, s, i).q, t);
      weigh(m, t, b.I);
      inertia_matrix(m, t, b, ld, M);
      store_matrix(m, M, m.nv, ld, out + static_cast<long>(i) * m.nv * m.nv);
    }
  });
}

void rnea_n(const ModelD& m, States s, const double* a, double* f) {
  with_tree(m, [&](auto& t, auto& b, auto&, double*) {
    for (int i = 0; i < s.n; ++i) {
      At x(m, s, i);
      place(m, x.q, t);
      rnea(m, x.q, x.v, a + static_cast<long>(i) * m.nv, t, b, f + static_cast<long>(i) * m.nv);
    }
  });
}

void aba_n(const ModelD& m, States s, const double* tau, double* a) {
  with_tree(m, [&](auto& t, auto& b, auto& w, double*) {
    for (int i = 0; i < s.n; ++i) {
      At x(m, s, i);
      place(m, x.q, t);
      move(m, x.v, t);
      aba(m, x.q, x.v, tau + static_cast<long>(i) * m.nv, t, b, w, a + static_cast<long>(i) * m.nv);
    }
  });
}

void energy_n(const ModelD& m, States s, double* out) {
  with_tree(m, [&](auto& t, auto&, auto&, double*) {
    for (int i = 0; i < s.n; ++i) {
      At x(m, s, i);
      place(m, x.q, t);
      move(m, x.v, t);
      energy(m, x.q, x.v, t, out + 2L * i);
    }
  });
}

void poses_n(const ModelD& m, States s, double* R, double* p) {
  with_tree(m, [&](auto& t, auto&, auto&, double*) {
    for (int i = 0; i < s.n; ++i) {
      place(m, At(m, s, i).q, t);
      for (int b = 0; b < m.nb; ++b) {
        long k = static_cast<long>(i) * m.nb + b;
        body_pose(m, b, t, R + 9 * k, p + 3 * k);
      }
    }
  });
}

void body_motion_n(const ModelD& m, States s, const double* a, double* V, double* A) {
  with_tree(m, [&](auto& t, auto&, auto&, double*) {
    for (int i = 0; i < s.n; ++i) {
      At x(m, s, i);
      place(m, x.q, t);
      accelerate_tree(m, x.v, a + static_cast<long>(i) * m.nv, t);
      for (int b = 0; b < m.nb; ++b) {
        long k = static_cast<long>(i) * m.nb + b;
        body_motion(m, b, t, V + 6 * k, A + 6 * k);
      }
    }
  });
}

void frames_n(const ModelD& m, States s, double* R, double* p, double* V, double* A) {
  with_arena([&](Arena& arena, bool ready) {
    Tree<double> t;
    t.bind(arena, m);
    double* a = arena.take<double>(m.nv);
    if (!ready) return;
    fill(a, m.nv);
    for (int i = 0; i < s.n; ++i) {
      At x(m, s, i);
      place(m, x.q, t);
      accelerate_tree(m, x.v, a, t);
      for (long k = static_cast<long>(i) * m.nb, b = 0; b < m.nb; ++b, ++k) {
        body_pose(m, static_cast<int>(b), t, R + 9 * k, p + 3 * k);
        body_motion(m, static_cast<int>(b), t, V + 6 * k, A + 6 * k);
      }
    }
  });
}

void jacobian_n(const ModelD& m, States s, int body, const double* point, double* J) {
  with_tree(m, [&](auto& t, auto&, auto&, double*) {
    for (int i = 0; i < s.n; ++i) {
      place(m, At(m, s, i).q, t);
      body_jacobian(m, body, point, t, J + static_cast<long>(i) * 6 * m.nv);
    }
  });
}

void point_1(const ModelD& m, States s, int body, const double* point, double* x, double* V, double* A,
             double* J, double* R) {
  with_arena([&](Arena& arena, bool ready) {
    Tree<double> t;
    t.bind(arena, m);
    double* a = arena.take<double>(m.nv);
    if (!ready) return;
    fill(a, m.nv);
    place(m, s.q, t);
    accelerate_tree(m, s.v, a, t);
    body_pose(m, body, t, R, x);
    body_motion(m, body, t, V, A);
    move_point(R, point, x, V, A);
    body_jacobian(m, body, point, t, J);
  });
}

void integrate_n(const ModelD& m, int n, const double* q, const double* dv, double* out) {
  for (long i = 0; i < n; ++i) integrate(m, q + i * m.nq, dv + i * m.nv, out + i * m.nq);
}

void difference_n(const ModelD& m, int n, const double* q0, const double* q1, double* dv) {
  for (long i = 0; i < n; ++i) difference(m, q0 + i * m.nq, q1 + i * m.nq, dv + i * m.nv);
}

void store_rows(const ModelD& m, const Rows<double>& r, int ld, long i, double* phi, double* J, double* b,
                double* gamma) {
  for (int k = 0; k < m.nc; ++k) {
    phi[i * m.nc + k] = r.phi[k];
    b[i * m.nc + k] = r.b[k];
    gamma[i * m.nc + k] = r.gamma[k];
  }
  store_matrix(m, r.J, m.nc, ld, J + i * m.nc * m.nv);
}

void constraints_n(const ModelD& m, States s, double* phi, double* J, double* b, double* gamma) {
  with_workspace<0>(m, [&](auto& w, auto&) {
    for (int i = 0; i < s.n; ++i) {
      At x(m, s, i);
      place(m, x.q, w.tree);
      move(m, x.v, w.tree);
      constraints(m, x.q, x.drive, x.user, w.tree, w.ld, w.rows);
      store_rows(m, w.rows, w.ld, i, phi, J, b, gamma);
    }
  });
}

void pivots_n(const ModelD& m, States s, int rank, double* least) {
  with_workspace<0>(m, [&](auto& w, auto&) {
    for (int i = 0; i < s.n; ++i) {
      At x(m, s, i);
      place(m, x.q, w.tree);
      move(m, x.v, w.tree);
      constraints(m, x.q, x.drive, x.user, w.tree, w.ld, w.rows);
      factorize(m, w.rows.J, static_cast<const double*>(nullptr), w.ld, rank, w.factor);
      least[i] = w.factor.rank_rows < rank ? 0 : smallest_pivot(w);
    }
  });
}

void terms_n(const ModelD& m, States s, double* M, double* h, double* phi, double* J, double* b,
             double* gamma) {
  with_workspace<0>(m, [&](auto& w, auto&) {
    for (long i = 0; i < s.n; ++i) {
      At x(m, s, static_cast<int>(i));
      evaluate(m, x.q, x.v, x.drive, x.user, w);
      store_matrix(m, w.M, m.nv, w.ld, M + i * m.nv * m.nv);
      for (int k = 0; k < m.nv; ++k) h[i * m.nv + k] = w.h[k];
      store_rows(m, w.rows, w.ld, i, phi, J, b, gamma);
    }
  });
}

template <int LD>
void forward_sized(const ModelD& m, States s, const double* tau, const int* hold, double* a, double* force,
                   double* lam, unsigned char* unique, int* rank, int* status) {
  with_workspace<LD>(m, [&](auto& w, auto& d) {
    for (long i = 0; i < s.n; ++i) {
      At x(m, s, static_cast<int>(i));
      evaluate(m, x.q, x.v, x.drive, x.user, w);
      prepare(m, x.q, x.v, x.drive, x.user, hold ? hold[i] : -1, &d, w);
      accelerate(m, tau + i * m.nv, w);
      multipliers(m, w, lam + i * m.nc);
      uniqueness(m, w, unique + i * m.nc);
      for (int k = 0; k < m.nv; ++k) a[i * m.nv + k] = w.a[k], force[i * m.nv + k] = w.force[k];
      rank[i] = w.factor.rank_rows;
      status[i] = w.factor.spd ? 0 : 1;
    }
  });
}

template <int LD>
bool acceleration_sized(const ModelD& m, const double* q, const double* v, const double* tau, double* a) {
  bool fine = false;
  with_workspace<LD>(m, [&](auto& w, auto& d) {
    evaluate<double>(m, q, v, nullptr, nullptr, w);
    prepare<double>(m, q, v, nullptr, nullptr, -1, &d, w);
    accelerate(m, tau, w);
    double sum = 0;
    for (int k = 0; k < m.nv; ++k) a[k] = w.a[k], sum += w.a[k] * 0;
    fine = w.factor.spd && sum == 0;
  });
  return fine;
}

// State i of the batch, differentiated one way or the other; without multipliers where dlam is null.
template <class F>
void each_derivative(const ModelD& m, const States& s, double* da, double* dlam, double* dJv, F one) {
  long vv = static_cast<long>(m.nv) * m.nv, cv = static_cast<long>(m.nc) * m.nv;
  for (long i = 0; i < s.n; ++i) {
    double *a = da + 3 * i * vv, *l = dlam ? dlam + 3 * i * cv : nullptr;
    Derivatives<double> out = {a, a + vv, a + 2 * vv, nullptr, nullptr, nullptr, dJv + i * cv};
    if (l) out.dlam_dq = l, out.dlam_dv = l + cv, out.dlam_dtau = l + 2 * cv;
    one(i, At(m, s, static_cast<int>(i)), out);
  }
}

void dual_derivatives(const ModelD& m, States s, const double* tau, double* da, double* dlam, double* dJv,
                      int* rank, int* status) {
  with_arena([&](Arena& arena, bool ready) {
    Workspace<double, 0> w(m, arena);
    Directional<double, 0> d(m, arena);
    if (!ready) return;
    each_derivative(m, s, da, dlam, dJv, [&](long i, const At& x, const Derivatives<double>& out) {
      evaluate(m, x.q, x.v, x.drive, x.user, w);
      prepare(m, x.q, x.v, x.drive, x.user, -1, static_cast<Tangent<double, 0>*>(nullptr), w);
      rank[i] = w.factor.rank_rows;
      status[i] = w.factor.spd ? 0 : 1;
      differentiate_by_duals(m, x.q, x.v, tau + i * m.nv, x.drive, x.user, rank[i], out, d);
    });
  });
}

template <int LD>
void recursive_derivatives(const ModelD& m, States s, const double* tau, double* da, double* dlam,
                           double* dJv, int* rank, int* status) {
  with_arena([&](Arena& arena, bool ready) {
    Recursive<double, LD> r(m, arena);
    if (!ready) return;
    each_derivative(m, s, da, dlam, dJv, [&](long i, const At& x, const Derivatives<double>& out) {
      differentiate_recursively(m, x.q, x.v, tau + i * m.nv, x.drive, x.user, out, r);
      rank[i] = r.w.factor.rank_rows;
      status[i] = r.w.factor.spd ? 0 : 1;
    });
  });
}

bool sparse(const ModelD& m) {
  bool yes = false;
  if (m.nv > 16)
    with_workspace<0>(m, [&](auto& w, auto&) { yes = stays_sparse(m, w.ld, w.rows.J, w.factor); });
  return yes;
}

// Compile-time strides for small mechanisms.
template <class F>
auto sized(const ModelD& m, F call) {
  if (m.nv <= 8) return call(Stride<8>(0));
  if (m.nv <= 16) return call(Stride<16>(0));
  if (m.nv <= 32) return call(Stride<32>(0));
  return call(Stride<0>(0));
}
void forward_n(const ModelD& m, States s, const double* tau, const int* hold, double* a, double* force,
               double* lam, unsigned char* unique, int* rank, int* status) {
  sized(m, [&](auto ld) {
    constexpr int LD = decltype(ld)::width;
    forward_sized<LD>(m, s, tau, hold, a, force, lam, unique, rank, status);
  });
}

void derivatives_n(const ModelD& m, States s, const double* tau, bool dual, double* da, double* dlam,
                   double* dJv, int* rank, int* status) {
  if (dual) return dual_derivatives(m, s, tau, da, dlam, dJv, rank, status);
  sized(m,
        [&](auto ld) { recursive_derivatives<decltype(ld)::width>(m, s, tau, da, dlam, dJv, rank, status); });
}

bool acceleration_1(const ModelD& m, const double* q, const double* v, const double* tau, double* a) {
  return sized(m, [&](auto ld) { return acceleration_sized<decltype(ld)::width>(m, q, v, tau, a); });
}

Run* make_run(const ModelD& m, const RunOptions& o, const Outside& outside) {
  if (o.method == 3 && outside.supplies_inertia)
    return new ImplicitRun<0, Called<true, false>>(m, o, outside);
  if (o.method == 3)
    return sized(m, [&](auto ld) -> Run* {
      return new ImplicitRun<decltype(ld)::width, Called<false, false>>(m, o, outside);
    });
  if (outside.supplies_inertia && outside.acceleration)
    return new SizedRun<0, Called<true, true>>(m, o, outside);
  if (outside.supplies_inertia) return new SizedRun<0, Called<true, false>>(m, o, outside);
  if (outside.acceleration) return new SizedRun<0, Called<false, true>>(m, o, outside);
  return sized(m, [&](auto ld) -> Run* {
    return new SizedRun<decltype(ld)::width, Called<false, false>>(m, o, outside);
  });
}

}  // namespace

#define SARRUS_TEXT2(x) #x
#define SARRUS_TEXT(x) SARRUS_TEXT2(x)
#define SARRUS_JOIN2(a, b) a##b
#define SARRUS_JOIN(a, b) SARRUS_JOIN2(a, b)

const Table* table() {
  static const Table t = {SARRUS_TEXT(SARRUS_ISA),
                          sparse,
                          mass_matrix_n,
                          rnea_n,
                          aba_n,
                          energy_n,
                          poses_n,
                          body_motion_n,
                          frames_n,
                          jacobian_n,
                          constraints_n,
                          pivots_n,
                          terms_n,
                          integrate_n,
                          difference_n,
                          forward_n,
                          derivatives_n,
                          acceleration_1,
                          make_run,
                          respond_1,
                          least_1,
                          program_1,
                          limited_1,
                          reach_1,
                          levels_1,
                          limit_rows_1,
                          eigenvalues_1,
                          point_1};
  return &t;
}

SARRUS_END

extern "C" const sarrus::Table* SARRUS_JOIN(sarrus_table_, SARRUS_ISA)() {
  return sarrus::SARRUS_ISA::table();
}
