"""Collision geometry of MJCF as surfaces and pairs: which, how far apart, with which friction."""

from __future__ import annotations

import warnings

import mujoco
import numpy as np
import pytest

import sarrus as sr

MJCF = """<mujoco><worldbody><geom name="floor" type="plane" size="0 0 1" euler="5 0 0" friction="0.4"/>
 <body name="a" pos="0 0 1"><freejoint/>
  <geom name="ball" type="sphere" size=".1" pos=".2 0 0" friction="0.7 0.01 0.002" condim="6"/>
  <geom name="box" type="box" size=".1 .2 .05" euler="10 20 0" friction="0.1" priority="1"/>
  <geom type="sphere" size=".1" contype="0" conaffinity="0"/>
  <body name="b" pos="0.5 0 0"><joint axis="0 1 0"/><geom name="capsule" type="capsule" size=".05 .2"/>
   <geom name="cylinder" type="cylinder" size=".06 .1" pos="0 .3 0" condim="1"/></body></body>
 <body name="d" pos="0 1 1"><freejoint/><geom name="egg" type="ellipsoid" size=".1 .2 .15"/>
  <geom name="wheel" type="sphere" size=".1" contype="2" conaffinity="4"/></body></worldbody>
 <contact><pair geom1="wheel" geom2="ball" friction="0.25 0.25 0 0 0"/><exclude body1="world" body2="d"/>
 </contact></mujoco>"""


def loaded() -> sr.Mechanism:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.SarrusWarning)
        return sr.load(MJCF, contacts=True)


def test_pairs_are_those_that_mujoco_filters_out_least() -> None:
    """Not parent and child, not excluded, only with bits in common, and those that are named."""
    mech = loaded()
    pairs = {frozenset((one.a, one.b)) for one in mech.model.contacts}
    floor = {frozenset(("floor", name)) for name in ("ball", "box", "capsule", "cylinder")}
    eggs = {frozenset(("egg", name)) for name in ("ball", "box", "capsule", "cylinder")}
    wheel = {frozenset(("wheel", "ball"))}
    assert floor | wheel <= pairs <= floor | wheel | eggs
    said = " ".join(mech.omitted)
    for pair in eggs - pairs:  # of shapes without points of contact here
        a, b = pair
        assert f"{a}/{b}" in said or f"{b}/{a}" in said
    assert "contact of geoms" not in said
    friction = {one.name: one.friction for one in mech.model.contacts}
    assert friction["floor/ball"] == 0.7  # the larger, as MuJoCo takes it
    assert friction["floor/box"] == 0.1  # that of higher priority
    assert friction[next(name for name in friction if "wheel" in name)] == 0.25
    surfaces = {one.name: one for one in mech.model.surfaces}
    assert (surfaces["ball"].torsion, surfaces["ball"].rolling) == (0.01, 0.002)
    assert surfaces["cylinder"].torsion == 0.0


def test_gaps_are_mujoco_s() -> None:
    mech, model = loaded(), mujoco.MjModel.from_xml_string(MJCF)
    data, bridge = mujoco.MjData(model), sr.bridge.mujoco(mech, model)
    rng, ends = np.random.default_rng(0), np.zeros(6)
    for _ in range(3):
        q = mech.integrate(mech.default.q, 0.3 * rng.standard_normal(mech.nv))
        bridge.to_mujoco(data, q)
        found = mech.contacts(q)
        for pair in mech.model.contacts:
            gaps = [
                gap
                for name, gap in zip(found.names, found.gap, strict=True)
                if name.startswith(f"{pair.name}.")
            ]
            ids = [model.geom(name).id for name in (pair.a, pair.b)]
            there = mujoco.mj_geomDistance(model, data, *ids, 100.0, ends)
            assert min(gaps) == pytest.approx(there, abs=1e-6), pair.name


def test_without_being_asked_for_it_is_listed() -> None:
    with pytest.warns(sr.SarrusWarning, match=r"contact of geoms \(7\)"):
        assert not sr.load(MJCF).model.surfaces
    ground = '<asset><hfield name="h" nrow="3" ncol="3" size="1 1 .1 .1"/></asset><worldbody>'
    field = MJCF.replace("<worldbody>", ground)
    field = field.replace('type="plane" size="0 0 1"', 'type="hfield" hfield="h"')
    with pytest.raises(sr.SarrusError, match=r"strict=True.*contact of a height field"):
        sr.load(field, contacts=True, strict=True)


def test_names_that_stand_for_others_are_changed() -> None:
    """Menagerie's ALOHA calls its bodies left/base_link."""
    text = MJCF.replace('"ball"', '"left/ball*"')
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.SarrusWarning)
        mech = sr.load(text, contacts=True)
    assert "left_ball_" in {one.name for one in mech.model.surfaces}
    assert any(one.name == "floor/left_ball_" for one in mech.model.contacts)


def test_pairs_friction_and_directions_are_those_of_mujoco_s_contacts() -> None:
    """With a margin of 100 m MuJoCo lists a contact for each pair that may touch, but for ellipsoids."""
    mech, model = loaded(), mujoco.MjModel.from_xml_string(MJCF)
    model.geom_margin[:] = 100.0
    model.pair_margin[:] = 100.0
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    theirs = {
        frozenset(model.geom(int(g)).name for g in one.geom): one.friction[0] if one.dim > 1 else 0.0
        for one in data.contact
    }
    ours = {frozenset((one.a, one.b)): one.friction for one in mech.model.contacts}
    dropped = " ".join(mech.omitted)
    assert {pair for pair in ours if "egg" not in pair} <= set(theirs)
    for pair in set(theirs) - set(ours):
        a, b = pair
        assert f"{a}/{b}" in dropped or f"{b}/{a}" in dropped
    assert all(ours[pair] == pytest.approx(theirs[pair]) for pair in set(ours) & set(theirs))
