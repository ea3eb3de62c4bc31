// Calls for one state, straight from NumPy vectors through NumPy's own C interface. acceleration_of and
// derivatives_of return None for anything unusual (another type, shape or stride, a NaN, drives, user rows):
// the caller then takes the slower path, which checks each argument and explains what is wrong.
#pragma once

#include "../kernel_object.hpp"

namespace sarrus {

void import_numpy();
nb::object acceleration_of(const Kernel& k, nb::handle q, nb::handle v, nb::handle tau);
// (da[3,nv,nv], dlam[3,nc,nv], d(Jv - b)/dq[nc,nv], rank); axis 0: q, v, tau. Vector coordinates only.
nb::object derivatives_of(const Kernel& k, nb::handle q, nb::handle v, nb::handle tau);

// Without the check of every number, for controllers, which have checked them: (M, h, phi, J, b, gamma);
// (R, p, V, A) of all bodies, A at zero acceleration of the coordinates; J (6, nv) of a point of a body; x,
// V, A, J of it and R of the body at once.
nb::tuple terms_of(const Kernel& k, nb::handle q, nb::handle v, nb::handle drive, nb::handle user);
nb::tuple frames_of(const Kernel& k, nb::handle q, nb::handle v);
nb::tuple point_of(const Kernel& k, nb::handle q, nb::handle v, int body, nb::handle point);
nb::object jacobian_of(const Kernel& k, nb::handle q, int body, nb::handle point);

}  // namespace sarrus
