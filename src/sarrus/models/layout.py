"""Arrays: the flat model, field for field the table `SARRUS_MODEL_FIELDS` of `kernels/tree/model.hpp`.

Each field carries the name of its count and the shape of one entry. A test compares this list with the header
and with the compiled module, so that there is one truth in two languages.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import FloatArray, IntArray, frozen


def _ints(count: str) -> Any:
    return field(metadata={"count": count, "shape": (), "dtype": np.int32})


def _floats(count: str, *shape: int) -> Any:
    return field(metadata={"count": count, "shape": shape, "dtype": np.float64})


@dataclass(frozen=True, eq=False, kw_only=True)
class Arrays:
    """Read-only arrays of a model; see `kernels/tree/model.hpp` for what each one means.

    Shapes are (count, *entry); fields counted by "one" have the shape of their entry.
    """

    # nodes
    parent: IntArray = _ints("nn")
    joint: IntArray = _ints("nn")
    iq: IntArray = _ints("nn")
    iv: IntArray = _ints("nn")
    R_PJ: FloatArray = _floats("nn", 3, 3)
    p_PJ: FloatArray = _floats("nn", 3)
    pitch: FloatArray = _floats("nn")
    mass: FloatArray = _floats("nn")
    com: FloatArray = _floats("nn", 3)
    inertia: FloatArray = _floats("nn", 6)
    # coordinates
    armature: FloatArray = _floats("nv")
    damping: FloatArray = _floats("nv")
    friction: FloatArray = _floats("nv")
    friction_speed: FloatArray = _floats("nv")
    unit: FloatArray = _floats("nv")
    # bodies
    body_node: IntArray = _ints("nb")
    R_NB: FloatArray = _floats("nb", 3, 3)
    p_NB: FloatArray = _floats("nb", 3)
    # closures
    cl_a: IntArray = _ints("ncl")
    cl_b: IntArray = _ints("ncl")
    cl_row: IntArray = _ints("ncl")
    cl_linear: IntArray = _ints("ncl")
    cl_angular: IntArray = _ints("ncl")
    cl_R_aA: FloatArray = _floats("ncl", 3, 3)
    cl_p_aA: FloatArray = _floats("ncl", 3)
    cl_R_bB: FloatArray = _floats("ncl", 3, 3)
    cl_p_bB: FloatArray = _floats("ncl", 3)
    cl_directions: FloatArray = _floats("ncl", 3, 3)
    cl_across_a: FloatArray = _floats("ncl", 2, 3)
    cl_across_b: FloatArray = _floats("ncl", 2, 3)
    cl_axis_b: FloatArray = _floats("ncl", 3)
    cl_pitch: FloatArray = _floats("ncl")
    cl_pitch_row: IntArray = _ints("ncl")
    cl_length: FloatArray = _floats("ncl")
    cl_sup_begin: IntArray = _ints("ncl")
    cl_sup_end: IntArray = _ints("ncl")
    sup_col: IntArray = _ints("nsup")
    sup_sign: FloatArray = _floats("nsup")
    # couplings and drives
    k_row: IntArray = _ints("nk")
    k_begin: IntArray = _ints("nk")
    k_end: IntArray = _ints("nk")
    k_offset: FloatArray = _floats("nk")
    k_drive: IntArray = _ints("nk")
    kt_q: IntArray = _ints("nkt")
    kt_v: IntArray = _ints("nkt")
    kt_coef: FloatArray = _floats("nkt")
    # rows computed by the user
    u_row: IntArray = _ints("nu")
    # rolling discs
    ro_node: IntArray = _ints("nro")
    ro_row: IntArray = _ints("nro")
    ro_centre: FloatArray = _floats("nro", 3)
    ro_axis: FloatArray = _floats("nro", 3)
    ro_normal: FloatArray = _floats("nro", 3)
    ro_point: FloatArray = _floats("nro", 3)
    ro_radius: FloatArray = _floats("nro")
    row_unit: FloatArray = _floats("nc")
    # joint springs
    js_q: IntArray = _ints("njs")
    js_v: IntArray = _ints("njs")
    js_stiffness: FloatArray = _floats("njs")
    js_rest: FloatArray = _floats("njs")
    # point springs
    ps_a: IntArray = _ints("nps")
    ps_b: IntArray = _ints("nps")
    ps_p_a: FloatArray = _floats("nps", 3)
    ps_p_b: FloatArray = _floats("nps", 3)
    ps_stiffness: FloatArray = _floats("nps")
    ps_rest: FloatArray = _floats("nps")
    ps_damping: FloatArray = _floats("nps")
    # wrenches
    w_node: IntArray = _ints("nw")
    w_local: IntArray = _ints("nw")
    w_point: FloatArray = _floats("nw", 3)
    w_wrench: FloatArray = _floats("nw", 6)
    # stops
    st_q: IntArray = _ints("nst")
    st_v: IntArray = _ints("nst")
    st_lower: FloatArray = _floats("nst")
    st_upper: FloatArray = _floats("nst")
    st_stiffness: FloatArray = _floats("nst")
    st_damping: FloatArray = _floats("nst")
    # the whole
    gravity: FloatArray = _floats("one", 3)
    origin: FloatArray = _floats("one", 3)
    length: FloatArray = _floats("one")
    rank_tol: FloatArray = _floats("one")


SIZES: tuple[str, ...] = ("nn", "nb", "nq", "nv", "nc", "ncl", "nsup", "nk", "nkt", "nd", "nu")
SIZES += ("nro", "njs", "nps", "nw", "nst", "one")
TABLE = {f.name: f.metadata for f in fields(Arrays)}


def shaped(name: str, values: Any) -> NDArray[Any]:
    """Values of one field as the read-only array that the table asks for; no values give (0, *entry)."""
    entry = TABLE[name]
    shape = entry["shape"] if entry["count"] == "one" else (-1, *entry["shape"])
    array = np.asarray(values, dtype=entry["dtype"])
    if array.size == 0:
        shape = (0, *entry["shape"])
    return frozen(array.reshape(shape), entry["dtype"])


def filled(columns: dict[str, Any]) -> dict[str, NDArray[Any]]:
    """Every field of the table: those given, and empty arrays for the others."""
    return {name: shaped(name, columns.get(name, [])) for name in TABLE}
