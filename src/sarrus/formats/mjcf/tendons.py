"""Tendons of a compiled MuJoCo model.

A fixed tendon, a sum of coordinates, that something pulls at becomes a coordinate of its own: a slide without
mass, held by a Coupling to the sum, with the tendon's name, or NAME_tendon where a joint has that name. Its
actuator, spring, damping, friction and limits are then those of that coordinate. A spatial tendon between two
sites is a PointSpring, or a Distance where an equality holds its length. Other spatial tendons are listed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sarrus.constraints.couplings import Coupling
from sarrus.constraints.points import Distance
from sarrus.formats.reading.link_frames import GROUND
from sarrus.formats.reading.messages import Omitted
from sarrus.mechanism.spec import MechanismSpec
from sarrus.models.kinds.forces import JointSpring, PointSpring
from sarrus.models.tree.coordinates import claim
from sarrus.models.tree.joints import Prismatic

SHOWN = 4  # names of tendons before "..."
NEGLIGIBLE = 1e-12  # inertia of a tendon's coordinate, times the smallest of the joints


class Tendons:
    """Reads tendons, and knows afterwards what became of them.

    Attributes:
        coordinates: Name of the coordinate of a tendon that has one, by its index.
    """

    def __init__(
        self, spec: MechanismSpec, model: Any, bodies: list[str], joints: dict[int, str], omitted: Omitted
    ) -> None:
        self.spec, self.model, self.bodies, self.joints = spec, model, bodies, joints
        self.omitted = omitted
        self.coordinates: dict[int, str] = {}

    def read(self, taken: set[str]) -> None:
        """Add springs and coordinates; `taken` are the names of bodies."""
        held, limited = self._held(), list[str]()
        for i in range(self.model.ntendon):
            name, terms = self.model.tendon(i).name or f"tendon{i + 1}", self.terms(i)
            driven = self._has_actuator(i)
            acting = driven or self._is_pulled(i)
            if terms and acting:
                called = f"{name}_tendon" if name in taken else name
                self._add_coordinate(i, claim(called, taken), terms)
                limited += [called] if self.model.tendon_limited[i] and len(terms) > 1 else []
            elif not terms and i not in held:  # an equality may name others
                self._read_spatial(i, name, driven, acting)

        if limited:
            shown = ", ".join(map(repr, limited[:SHOWN])) + (", ..." if len(limited) > SHOWN else "")
            self.omitted.remark(
                f"limits of tendons that couple joints act in runs with stops=True, others only report them:"
                f" {shown}"
            )

    def _read_spatial(self, i: int, name: str, driven: bool, acting: bool) -> None:
        """Add a tendon in space as a spring, or say that it is left out."""
        ends = None if driven or not self._is_spring(i) else self.sites(i)
        if ends is not None:
            self._add_spring(i, name, ends)
        elif acting:
            self.omitted.drop("spatial tendon", name)
        else:
            self.omitted.add("tendon without any force", name)

    def terms(self, i: int) -> dict[str, float]:
        """Coefficients of the coordinates of a fixed tendon; {} where it is not one."""
        import mujoco

        model, first = self.model, int(self.model.tendon_adr[i])
        found: dict[str, float] = {}
        for k in range(first, first + int(model.tendon_num[i])):
            if int(model.wrap_type[k]) != int(mujoco.mjtWrap.mjWRAP_JOINT):
                return {}
            name = self.joints[int(model.wrap_objid[k])]
            found[name] = found.get(name, 0.0) + float(model.wrap_prm[k])
        return {name: c for name, c in found.items() if c != 0.0}

    def sites(self, i: int) -> list[tuple[str, Any]] | None:
        """Body and point of the two sites of a tendon that runs straight between them; else None."""
        import mujoco

        model, first = self.model, int(self.model.tendon_adr[i])
        ends = slice(first, first + int(model.tendon_num[i]))
        if model.wrap_type[ends].tolist() != [int(mujoco.mjtWrap.mjWRAP_SITE)] * 2:
            return None
        sites = model.wrap_objid[ends].tolist()
        a, b = model.site_bodyid[sites].tolist()
        if a == b:
            return None
        return [
            (self.bodies[a], model.site_pos[sites[0]].copy()),
            (self.bodies[b], model.site_pos[sites[1]].copy()),
        ]

    def hold(self, name: str, i: int, offset: float) -> bool:
        """Keep the length of a tendon that an equality names; False where that is not modelled."""
        terms, sites = self.terms(i), self.sites(i)
        length = float(self.model.tendon_length0[i]) + offset
        if terms:
            self.spec.constrain(name, Coupling(terms, offset=length))
        elif sites is not None and length > 0.0:
            (a, p_a), (b, p_b) = sites
            self.spec.constrain(name, Distance(a, p_a, b, p_b, length))
        else:
            return False
        return True

    def _held(self) -> set[int]:
        """Tendons that equalities name."""
        import mujoco

        kind = int(mujoco.mjtEq.mjEQ_TENDON)
        equalities = [i for i in range(self.model.neq) if int(self.model.eq_type[i]) == kind]
        ids = (self.model.eq_obj1id, self.model.eq_obj2id)
        return {int(column[i]) for i in equalities for column in ids}

    def _is_pulled(self, i: int) -> bool:
        model = self.model
        parts = (
            model.tendon_stiffness,
            model.tendon_damping,
            model.tendon_frictionloss,
            model.tendon_limited,
        )
        armature = getattr(model, "tendon_armature", np.zeros(i + 1))
        return any(float(part[i]) != 0.0 for part in (*parts, armature))

    def _has_actuator(self, i: int) -> bool:
        import mujoco

        model, kind = self.model, int(mujoco.mjtTrn.mjTRN_TENDON)
        return bool(np.any((model.actuator_trntype == kind) & (model.actuator_trnid[:, 0] == i)))

    def _is_spring(self, i: int) -> bool:
        model = self.model
        lower, upper = model.tendon_lengthspring[i].tolist()
        return not (model.tendon_frictionloss[i] or model.tendon_limited[i]) and lower == upper >= 0.0

    def _add_spring(self, i: int, name: str, ends: list[tuple[str, Any]]) -> None:
        (a, p_a), (b, p_b) = ends
        stiffness, damping = float(self.model.tendon_stiffness[i]), float(self.model.tendon_damping[i])
        if stiffness or damping:
            rest = float(self.model.tendon_lengthspring[i, 0])
            self.spec.force(name, PointSpring(a, p_a, b, p_b, stiffness, rest=rest, damping=damping))
        else:
            self.omitted.add("tendon without any force", name)

    def _add_coordinate(self, i: int, name: str, terms: dict[str, float]) -> None:
        model = self.model
        least = NEGLIGIBLE * float(np.min(model.dof_M0, initial=1.0))
        properties: dict[str, Any] = {
            "armature": max(float(getattr(model, "tendon_armature", np.zeros(i + 1))[i]), least),
            "damping": float(model.tendon_damping[i]),
            "friction": float(model.tendon_frictionloss[i]),
        }
        if model.tendon_limited[i]:
            properties["limits"] = tuple(model.tendon_range[i].tolist())
        self.spec.body(name, GROUND, joint=Prismatic("z"), **properties)
        self.spec.constrain(name, Coupling({name: 1.0} | {joint: -c for joint, c in terms.items()}))
        self.coordinates[i] = name
        stiffness = float(model.tendon_stiffness[i])
        lower, upper = model.tendon_lengthspring[i].tolist()
        if stiffness and lower == upper:
            self.spec.force(f"{name}.spring", JointSpring(name, stiffness, lower))
        elif stiffness:
            self.omitted.add("tendon spring with a dead band", name)
