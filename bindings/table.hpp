// The functions of the kernel as one table of pointers, built once per instruction set. Arrays are
// C-contiguous doubles with the batch axis n first; shapes are those of docs/notation.md.
#pragma once

#include "../kernels/model.hpp"

namespace sarrus {

using ModelD = Model<double>;

// One state, or n of them: positions, velocities, and what drives and outside rows contribute.
struct States {
  int n;
  const double *q, *v, *drive, *user;
};

struct Table {
  const char* isa;
  void (*mass_matrix)(const ModelD&, States, double* M);
  void (*rnea)(const ModelD&, States, const double* a, double* f);
  void (*aba)(const ModelD&, States, const double* tau, double* a);
  void (*energy)(const ModelD&, States, double* kinetic_potential);
  void (*poses)(const ModelD&, States, double* R, double* p);
  void (*body_motion)(const ModelD&, States, const double* a, double* V, double* A);
  void (*jacobian)(const ModelD&, States, int body, const double* point, double* J);
  void (*constraints)(const ModelD&, States, double* phi, double* J, double* b, double* gamma);
  void (*terms)(const ModelD&, States, double* M, double* h, double* phi, double* J, double* b, double* gamma);
  void (*integrate)(const ModelD&, int n, const double* q, const double* dv, double* out);
  void (*difference)(const ModelD&, int n, const double* q0, const double* q1, double* dv);
  // status 0 where fine, 1 where the inertia seen by the free motion is not positive definite
  void (*forward)(const ModelD&, States, const double* tau, const int* hold, double* a, double* force, double* lam,
                  unsigned char* unique, int* rank, int* status);
  // one state, nothing but the acceleration; false where the careful path should look
  bool (*acceleration)(const ModelD&, const double* q, const double* v, const double* tau, double* a);
};

}  // namespace sarrus
