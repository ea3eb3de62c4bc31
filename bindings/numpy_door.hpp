// The fast door: one state straight from three NumPy vectors, through NumPy's own C interface. Anything
// unusual (another type, shape or stride, a NaN, drives, rows from outside) answers None, and the caller
// takes the careful path, which can explain what is wrong.
#pragma once

#include "kernel.hpp"

namespace sarrus {

void open_numpy_door();
nb::object acceleration_door(const Kernel& k, nb::handle q, nb::handle v, nb::handle tau);
// (da[3,nv,nv], dlam[3,nc,nv], d(Jv - b)/dq[nc,nv], rank); axis 0: q, v, tau. Vector coordinates only.
nb::object derivatives_door(const Kernel& k, nb::handle q, nb::handle v, nb::handle tau);

// The same without the look at every number, for controllers, which have looked: (M, h, phi, J, b, gamma);
// (R, p, V, A) of all bodies, A at zero acceleration of the coordinates; J (6, nv) of a point of a body; x,
// V, A, J of it and R of the body at once.
nb::tuple terms_door(const Kernel& k, nb::handle q, nb::handle v, nb::handle drive, nb::handle user);
nb::tuple frames_door(const Kernel& k, nb::handle q, nb::handle v);
nb::tuple point_door(const Kernel& k, nb::handle q, nb::handle v, int body, nb::handle point);
nb::object jacobian_door(const Kernel& k, nb::handle q, int body, nb::handle point);

}  // namespace sarrus
