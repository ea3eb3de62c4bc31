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
    # elements with rows
    el_kind: IntArray = _ints("ne")
    el_a: IntArray = _ints("ne")
    el_b: IntArray = _ints("ne")
    el_row: IntArray = _ints("ne")
    el_rows: IntArray = _ints("ne")
    el_begin: IntArray = _ints("ne")
    el_values: FloatArray = _floats("nev")
    el_sup_begin: IntArray = _ints("ne")
    el_sup_end: IntArray = _ints("ne")
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
    u_row: IntArray = _ints("n_user_rows")
    # rows
    row_unit: FloatArray = _floats("nc")
    row_holonomic: IntArray = _ints("nc")
    # forces between nodes
    fo_kind: IntArray = _ints("nf")
    fo_a: IntArray = _ints("nf")
    fo_b: IntArray = _ints("nf")
    fo_begin: IntArray = _ints("nf")
    fo_values: FloatArray = _floats("nfv")
    # forces on coordinates
    cf_kind: IntArray = _ints("ncf")
    cf_q: IntArray = _ints("ncf")
    cf_v: IntArray = _ints("ncf")
    cf_begin: IntArray = _ints("ncf")
    cf_values: FloatArray = _floats("ncfv")
    # the whole
    gravity: FloatArray = _floats("one", 3)
    origin: FloatArray = _floats("one", 3)
    length: FloatArray = _floats("one")
    rank_tol: FloatArray = _floats("one")


SIZES: tuple[str, ...] = ("nn", "nb", "nq", "nv", "nc", "ne", "nev", "nsup", "nk", "nkt", "nd", "n_user_rows")
SIZES += ("nf", "nfv", "ncf", "ncfv", "one")
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
