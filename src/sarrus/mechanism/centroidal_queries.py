"""Queries of Mechanism about its centre of mass and its momentum.

All bodies count that move; those fixed to the ground do not, and neither does the inertia of drives
(`armature`). Vectors are in world axes, momenta [linear; angular about the centre of mass]. Every array
argument may have leading batch axes, which the results then have too.
"""

from __future__ import annotations

from functools import cached_property

import numpy.typing as npt

from .._kernel import Queries
from ..arrays import Array
from .body_queries import BodyQueries


class CentroidalQueries(BodyQueries):
    """Centre of mass c, centroidal momentum h = A v, and their derivatives. [Orin2013]"""

    @cached_property
    def _centroidal(self) -> Queries:
        """The compiled calls; refused where no body that moves has mass."""
        self._arguments.check_mass()
        return self._queries

    def center_of_mass(self, q: npt.ArrayLike) -> Array:
        """Centre of mass c (3,) [m] in the world, at q (nq,)."""
        return self._centroidal.center_of_mass(q)

    def center_of_mass_jacobian(self, q: npt.ArrayLike) -> Array:
        """J (3, nv) at q (nq,): c' = J v. Its columns are also the derivatives of c by increments of q."""
        return self._centroidal.center_of_mass_jacobian(q)

    def center_of_mass_velocity(self, q: npt.ArrayLike, v: npt.ArrayLike) -> Array:
        """c' (3,) [m/s] at q (nq,), v (nv,)."""
        return self._centroidal.center_of_mass_velocity(q, v)

    def center_of_mass_acceleration(self, q: npt.ArrayLike, v: npt.ArrayLike, a: npt.ArrayLike) -> Array:
        """c'' (3,) [m/s^2] at q (nq,), v (nv,), a (nv,)."""
        return self._centroidal.center_of_mass_acceleration(q, v, a)

    def centroidal_momentum(self, q: npt.ArrayLike, v: npt.ArrayLike) -> Array:
        """Momentum h (6,) [kg m/s; kg m^2/s] at q (nq,), v (nv,)."""
        return self._centroidal.centroidal_momentum(q, v)

    def centroidal_momentum_rate(self, q: npt.ArrayLike, v: npt.ArrayLike, a: npt.ArrayLike) -> Array:
        """h' = A a + A' v (6,) [N; N m] at q (nq,), v (nv,), a (nv,): the wrench of all external forces."""
        return self._centroidal.centroidal_momentum_rate(q, v, a)

    def centroidal_momentum_matrix(self, q: npt.ArrayLike) -> Array:
        """A (6, nv) at q (nq,): h = A v. It is also the derivative of h by v."""
        return self._centroidal.centroidal_momentum_matrix(q)

    def centroidal_momentum_matrix_rate(self, q: npt.ArrayLike, v: npt.ArrayLike) -> Array:
        """A' (6, nv) along the motion, at q (nq,), v (nv,)."""
        return self._centroidal.centroidal_momentum_matrix_rate(q, v)

    def centroidal_momentum_derivative(self, q: npt.ArrayLike, v: npt.ArrayLike) -> Array:
        """Derivative (6, nv) of h by increments of q (`integrate`), at q (nq,) and constant v (nv,)."""
        return self._centroidal.centroidal_momentum_derivative(q, v)
