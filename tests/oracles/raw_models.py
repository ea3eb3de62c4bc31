"""Random flat models, array by array, without the library's own lowering.

The field table is read from kernels/tree/model.hpp: a field that is added there and forgotten here shows up.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sarrus._kernel import KINDS

from .lie import exponential, twist_matrix
from .twin import BALL, FREE, HINGE, SCREW, SLIDE, WIDTH_Q, WIDTH_V
from .twin_constraints import ACROSS, ANY, COSINE, ROTATION

Array = npt.NDArray[np.float64]
Raw = tuple[dict[str, int], dict[str, npt.NDArray[np.generic]]]
HEADER = Path(__file__).parents[2] / "kernels" / "tree" / "model.hpp"

# what each closure of the library asks for: mask of linear rows, angular kind, helical
CLOSURES = {
    "fixed": (7, ROTATION),
    "prismatic": (3, ROTATION),
    "revolute": (7, ACROSS),
    "cylindrical": (5, ACROSS),
    "helical": (7, ACROSS),
    "universal": (7, COSINE),
    "spherical": (7, ANY),
    "planar": (4, ACROSS),
    "distance": (0, ANY),
    "point_on_line": (6, ANY),
    "point_on_plane": (2, ANY),
}
ANGULAR_ROWS = {ANY: 0, ACROSS: 2, ROTATION: 3, COSINE: 1}


def size_names() -> list[str]:
    """Names of the model's sizes, in the order of the table."""
    table = HEADER.read_text().split("SARRUS_MODEL_SIZES(X)")[1].split("#define")[0]
    return re.findall(r"X\((\w+)\)", table)


def field_table() -> list[tuple[str, str, str, int]]:
    """(type, name, count, width) of the model's arrays, in the order of the table."""
    rows = re.findall(r"X\((I|F), (\w+), (\w+), (\d+)\)", HEADER.read_text())
    return [(t, name, count, int(width)) for t, name, count, width in rows]


def blank(**sizes: int) -> Raw:
    """All sizes zero but those given, all arrays zero, frames the identity."""
    size = {**dict.fromkeys(size_names(), 0), "one": 1, **sizes}
    fields = {
        name: np.zeros(size[count] * width, dtype=np.int32 if kind == "I" else np.float64)
        for kind, name, count, width in field_table()
    }
    for name in ("R_PJ", "R_NB"):
        fields[name][:] = np.tile(np.eye(3).ravel(), len(fields[name]) // 9)
    for name in ("unit", "row_unit", "friction_speed", "length"):
        fields[name][:] = 1.0
    fields["k_drive"][:] = -1
    fields["rank_tol"][:] = 1e-9
    return size, fields


def rotations(rng: np.random.Generator, n: int) -> Array:
    """n random rotations (n, 3, 3)."""
    turns = [exponential(twist_matrix(np.append(np.zeros(3), rng.uniform(-2, 2, 3)))) for _ in range(n)]
    return np.array([X[:3, :3] for X in turns]).reshape(n, 3, 3)


def random_model(seed: int, kinds: tuple[str, ...] = tuple(CLOSURES), nodes: int = 7) -> Raw:
    """A tree of all primitive joints with closures of the given kinds, couplings, drives, forces, a disc."""
    rng = np.random.default_rng(seed)
    joints = [0, *rng.permutation([HINGE, SLIDE, SCREW, BALL, FREE]), *rng.integers(1, 6, max(0, nodes - 5))]
    joints = joints[: nodes + 1]
    closure_rows = [_rows(k) for k in kinds]
    nc = sum(closure_rows) + 2 + 1 + 3
    elements = [*(_kind(k) for k in kinds), "Rolling"]
    forces, on_coordinates = ["PointSpring", "ConstantWrench", "ConstantWrench"], ["JointSpring", "JointStop"]
    nq, nv = sum(WIDTH_Q[j] for j in joints), sum(WIDTH_V[j] for j in joints)
    size, f = blank(
        nn=len(joints), nb=len(joints), nq=nq, nv=nv, nc=nc, nk=2, nkt=3, nd=1, n_user_rows=1,
        ne=len(elements), nev=_width("elements", elements), nf=len(forces), nfv=_width("forces", forces),
        ncf=2, ncfv=_width("coordinate_forces", on_coordinates),
    )  # fmt: skip
    for prefix, family, names in (
        ("el", "elements", elements),
        ("fo", "forces", forces),
        ("cf", "coordinate_forces", on_coordinates),
    ):
        f[f"{prefix}_kind"][:] = [list(KINDS[family]).index(name) for name in names]
        f[f"{prefix}_begin"][:] = np.cumsum([0, *(_width(family, [name]) for name in names)])[:-1]
    _fill_tree(rng, size, f, [int(j) for j in joints])
    _fill_elements(rng, size, f, kinds, closure_rows)
    _fill_rows(rng, size, f, sum(closure_rows))
    _fill_forces(rng, size, f)
    return size, f


def random_state(raw: Raw, seed: int, batch: int = 1) -> tuple[Array, Array]:
    """q [B, nq] with unit quaternions, v [B, nv]."""
    size, f = raw
    rng = np.random.default_rng([seed, 1])
    q = rng.uniform(-1.5, 1.5, (batch, size["nq"]))
    for joint, i in zip(f["joint"], f["iq"], strict=True):
        if joint in (BALL, FREE):
            first = i + (3 if joint == FREE else 0)
            quat = rng.normal(size=(batch, 4))
            q[:, first : first + 4] = quat / np.linalg.norm(quat, axis=1, keepdims=True)
    return q, rng.normal(size=(batch, size["nv"]))


def random_inputs(raw: Raw, seed: int, batch: int = 1) -> tuple[Array, Array]:
    """drive [B, nd, 3] and user [B, number of rows, 3 + nv]."""
    rng = np.random.default_rng([seed, 2])
    size = raw[0]
    drive = rng.normal(size=(batch, size["nd"], 3))
    return drive, rng.normal(size=(batch, size["n_user_rows"], 3 + size["nv"]))


def _kind(closure: str) -> str:
    return "Distance" if closure == "distance" else "Closure"


def _width(family: str, names: list[str]) -> int:
    """Number of parameters of elements of these kinds together."""
    return sum(sum(KINDS[family][name].values()) for name in names)


def _rows(kind: str) -> int:
    linear, angular = CLOSURES[kind]
    return 1 if kind == "distance" else linear.bit_count() + ANGULAR_ROWS[angular]


def write(f: dict[str, Array], prefix: str, family: str, i: int, **values: npt.ArrayLike) -> None:
    """Parameters of element i of a family, by name."""
    names = KINDS[family][list(KINDS[family])[int(f[f"{prefix}_kind"][i])]]
    assert set(values) == set(names)
    flat = np.concatenate([np.ravel(np.asarray(values[name], dtype=float)) for name in names])
    begin = int(f[f"{prefix}_begin"][i])
    f[f"{prefix}_values"][begin : begin + len(flat)] = flat


def _fill_tree(
    rng: np.random.Generator, size: dict[str, int], f: dict[str, Array], joints: list[int]
) -> None:
    n = len(joints)
    f["joint"][:] = joints
    f["parent"][1:] = [rng.integers(0, i) for i in range(1, n)]
    f["iq"][1:] = np.cumsum([WIDTH_Q[j] for j in joints])[:-1]
    f["iv"][1:] = np.cumsum([WIDTH_V[j] for j in joints])[:-1]
    f["R_PJ"][9:] = rotations(rng, n - 1).ravel()
    f["p_PJ"][3:] = rng.uniform(-0.7, 0.7, 3 * (n - 1))
    f["pitch"][1:] = rng.uniform(0.05, 0.3, n - 1)
    f["mass"][1:] = rng.uniform(0.3, 2.0, n - 1)
    f["com"][3:] = rng.uniform(-0.3, 0.3, 3 * (n - 1))
    for i in range(1, n):
        points = rng.normal(scale=0.2, size=(6, 3))
        I = sum(p @ p * np.eye(3) - np.outer(p, p) for p in points)
        f["inertia"].reshape(-1, 6)[i] = I[np.triu_indices(3)]
    f["armature"][:] = rng.uniform(0, 0.1, size["nv"])
    f["damping"][:] = rng.uniform(0, 0.5, size["nv"])
    f["friction"][:] = rng.choice([0.0, 0.4], size["nv"])
    f["friction_speed"][:] = 0.1
    f["unit"][:] = rng.choice([1.0, 0.7], size["nv"])
    f["body_node"][:] = np.arange(n)
    f["R_NB"][9:] = rotations(rng, n - 1).ravel()
    f["p_NB"][3:] = rng.uniform(-0.3, 0.3, 3 * (n - 1))
    f["gravity"][:] = rng.normal(size=3) * 5
    f["origin"][:] = rng.normal(size=3)
    f["length"][:] = 0.7


def _fill_elements(
    rng: np.random.Generator,
    size: dict[str, int],
    f: dict[str, Array],
    kinds: tuple[str, ...],
    rows: list[int],
) -> None:
    """Closures and rods of these kinds; the disc, whose rows come behind the couplings, has its ends only."""
    ends = [(0, size["nn"] - 1)]
    f["el_rows"][:] = [*rows, 3]
    f["el_row"][:] = [*np.cumsum([0, *rows])[:-1], sum(rows) + 3]
    for c, kind in enumerate(kinds):
        a, b = (int(i) for i in rng.choice(size["nn"], 2, replace=False))
        ends.insert(c, (a, b))
        A, B = rotations(rng, 2)
        p_a, p_b = rng.uniform(-0.5, 0.5, (2, 3))
        linear, angular = CLOSURES[kind]
        if kind == "distance":
            write(f, "el", "elements", c, p_a=p_a, p_b=p_b, length=0.4)
            continue
        write(
            f, "el", "elements", c, p_a=p_a, p_b=p_b, R_aA=A, R_bB=B, directions=A.T, across_a=A.T[:2],
            across_b=B.T[:2], axis_b=B.T[2], pitch=0.1, pitch_row=2 if kind == "helical" else -1,
            linear=linear, angular=angular,
        )  # fmt: skip
    f["el_a"][:], f["el_b"][:] = np.array(ends).T
    support: list[tuple[int, float]] = []
    for c, (a, b) in enumerate(ends):
        f["el_sup_begin"][c] = len(support)
        support += closure_support(f, a, b)
        f["el_sup_end"][c] = len(support)
    size["nsup"] = len(support)
    f["sup_col"] = np.array([k for k, _ in support], dtype=np.int32)
    f["sup_sign"] = np.array([s for _, s in support], dtype=float)


def closure_support(f: dict[str, Array], a: int, b: int) -> list[tuple[int, float]]:
    """Columns that move b but not a (+1) and a but not b (-1), ascending."""

    def above(i: int) -> set[int]:
        return set() if i == 0 else {i} | above(int(f["parent"][i]))

    def columns(nodes: set[int]) -> set[int]:
        return {int(f["iv"][i]) + j for i in nodes for j in range(WIDTH_V[int(f["joint"][i])])}

    on_a, on_b = columns(above(a) - above(b)), columns(above(b) - above(a))
    return sorted([(k, -1.0) for k in on_a] + [(k, 1.0) for k in on_b])


def _fill_rows(rng: np.random.Generator, size: dict[str, int], f: dict[str, Array], first: int) -> None:
    """Two couplings (one driven), one user row, one rolling disc; what all rows have."""
    scalar = [i for i in range(1, size["nn"]) if f["joint"][i] in (HINGE, SLIDE, SCREW)]
    f["k_row"][:], f["k_begin"][:], f["k_end"][:] = [first, first + 1], [0, 2], [2, 3]
    f["k_offset"][:], f["k_drive"][:] = [0.3, 0.0], [-1, 0]
    chosen = [scalar[0], scalar[1], scalar[0]]
    f["kt_q"][:], f["kt_v"][:] = f["iq"][chosen], f["iv"][chosen]
    f["kt_coef"][:] = rng.normal(size=3)
    f["u_row"][:] = first + 2
    centre, (axis, normal) = rng.uniform(-0.2, 0.2, 3), rotations(rng, 2)[:, 0]
    point = rng.normal(size=3)
    write(f, "el", "elements", -1, p_a=point, p_b=centre, axis=axis, normal=normal, radius=0.3)
    f["row_unit"][:] = rng.choice([1.0, 0.7], size["nc"])
    f["row_holonomic"][:] = 1
    f["row_holonomic"][first + 4 : first + 6] = 0


def _fill_forces(rng: np.random.Generator, size: dict[str, int], f: dict[str, Array]) -> None:
    """A joint spring, a stop, a point spring, a wrench in world axes and one in the node's."""
    scalar = next(i for i in range(1, size["nn"]) if f["joint"][i] in (HINGE, SLIDE, SCREW))
    f["cf_q"][:], f["cf_v"][:] = f["iq"][scalar], f["iv"][scalar]
    write(f, "cf", "coordinate_forces", 0, stiffness=20.0, rest=0.2)
    write(f, "cf", "coordinate_forces", 1, lower=-0.5, upper=0.5, stiffness=300.0, damping=15.0)
    f["fo_a"][:], f["fo_b"][:] = 0, [size["nn"] - 1, 1, size["nn"] - 1]
    p_a, p_b = rng.normal(size=(2, 3))
    write(f, "fo", "forces", 0, p_a=p_a, p_b=p_b, stiffness=30.0, rest=0.5, damping=2.0)
    for i in (1, 2):
        point, force, moment = rng.normal(size=(3, 3))
        write(f, "fo", "forces", i, p_a=np.zeros(3), p_b=point, force=force, moment=moment, follows=i - 1)
