// One thread per instance: the headers as device code, in float and in double. Compiled, not run.
#include "derivatives/dynamics_derivatives.hpp"
#include "integrate/implicit/implicit_step.hpp"
#include "integrate/step.hpp"
#include "tree/body_frames.hpp"

using namespace sarrus;

template <class T>
__device__ void instance(const Model<T>& m, const T* q, const T* v, const T* tau, void* memory, T* a) {
  Arena arena(memory);
  Workspace<T, 16> w(m, arena);
  evaluate(m, {q, v, nullptr, nullptr}, w);
  prepare(m, {q, v, nullptr, nullptr}, -1, static_cast<Tangent<T, 16>*>(nullptr), w);
  accelerate(m, tau, w);
  for (int j = 0; j < m.nv; ++j) a[j] = w.a[j];
}

// The tree alone, and a Jacobian.
__global__ void tree_double(Model<double> m, const double* q, const double* v, const double* tau,
                            void* memory, double* a, double* J) {
  Arena arena(memory);
  Tree<double> t;
  Bodies<double> b;
  t.bind(arena, m);
  b.bind(arena, m);
  place(m, q, t);
  body_jacobian(m, m.nb - 1, m.p_NB, t, J);
  rnea(m, q, v, tau, t, b, a);
}

__global__ void accelerate_float(Model<float> m, const float* q, const float* v, const float* tau,
                                 char* memory, long bytes, float* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) instance(m, q + i * m.nq, v + i * m.nv, tau + i * m.nv, memory + i * bytes, a + i * m.nv);
}

__global__ void accelerate_double(Model<double> m, const double* q, const double* v, const double* tau,
                                  char* memory, long bytes, double* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) instance(m, q + i * m.nq, v + i * m.nv, tau + i * m.nv, memory + i * bytes, a + i * m.nv);
}

// One step of each kind.
__global__ void step_double(Model<double> m, Options o, const double* tau, void* memory, double h) {
  Arena arena(memory);
  Source<double> source{tau};
  Stepper<double, 16, Source<double>> s(m, o, source, arena);
  Radau<double, 16> r(m, arena, s.w.ld);
  start(s, 0);
  step(s, h, 1);
  implicit_step(s, r, h, 1);
}
