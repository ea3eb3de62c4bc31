"""Tables for steps of one copy by a team of threads (`kernels/team/`): what is computed in which order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ..models.model import Model
from .elimination_rounds import (
    AHEAD,
    RECIPROCAL,
    Elimination,
    Task,
    Tasks,
    back_tasks,
    factor_tasks,
    forward_tasks,
    least_degree,
    rounds_of,
)

IntArray = npt.NDArray[np.int64]
FREE, BALL, HINGE = 5, 4, 1  # joints of kernels/tree/model.hpp
INERTIA = 10  # numbers of the inertia of a node, which lie where entries come to
COUNTS = {FREE: 6, BALL: 3}  # coordinates of joints that have not one


@dataclass(frozen=True)
class TeamPlan:
    """Tables of `SARRUS_TEAM_SIZES` and `SARRUS_TEAM_FIELDS` in `kernels/team/tables.hpp`.

    Attributes:
        sizes: numbers of entries, in the order of the header.
        fields: integer arrays, in the order of the header.
        updates: rounds (rounds, width, 4) of the factorization, of its substitution, of a solution.
        kept: rows that are eliminated.
        order: order of elimination of coordinates and kept rows.
    """

    sizes: dict[str, int]
    fields: dict[str, IntArray]
    updates: IntArray
    kept: IntArray
    order: list[int]


def team_plan(model: Model, kept: IntArray, width: int, newton_steps: int, turning: Any) -> TeamPlan:
    """The tables of a mechanism.

    Args:
        model: of the mechanism.
        kept: rows of J that are independent.
        width: threads of a team.
        newton_steps: of a step, onto the constraints.
        turning: positions that are kept between -pi and pi (nq,).
    """
    branches, node_of = _branches(model)
    columns = row_columns(model)
    unknown = np.full(model.nc, -1)
    unknown[kept] = model.nv + np.arange(len(kept))
    plan = _elimination(model, branches, [columns[r] for r in kept])
    entries, unknowns = plan.inverse, len(plan.order)
    updates, counts = _rounds(plan, entries, width)
    levels = _levels(model)
    fields: dict[str, Any] = levels | {
        "node_of": node_of,
        "branch_of": [k for k, one in enumerate(branches) for _ in one],
        "branch_column": [j for one in branches for j in one],
        "branch_place": [plan.entry(k, j) for k, one in enumerate(branches) for j in one],
        "diagonal": [plan.entry(k, k) for k in range(model.nv)],
        "kept_row": kept,
        "kept_begin": _begins([columns[r] for r in kept]),
        "kept_of": [r for r in kept for _ in columns[r]],
        "kept_source": _sources(model, kept, columns),
        "kept_place": [plan.entry(int(unknown[r]), j) for r in kept for j in columns[r]],
        "kept_column": [j for r in kept for j in columns[r]],
        "turning": np.asarray(turning, dtype=int),
    }
    sizes = {
        "levels": len(levels["level_begin"]) - 1,
        "shares": len(levels["share_begin"]) - 1,
        "branches": sum(map(len, branches)),
        "kept_entries": sum(len(columns[r]) for r in kept),
        "unknowns": unknowns,
        "entries": entries,
        "width": width,
        **counts,
        "newton_steps": newton_steps,
    }
    tables = {name: np.asarray(one, dtype=np.int64).reshape(-1) for name, one in fields.items()}
    return TeamPlan(sizes, tables, updates, kept, plan.order)


def row_columns(model: Model) -> list[list[int]]:
    """Columns that each row of J can have entries in."""
    found: list[set[int]] = [set() for _ in range(model.nc)]
    for i in range(model.sizes["ne"]):
        for row in range(model.el_row[i], model.el_row[i] + model.el_rows[i]):
            found[row].update(model.sup_col[model.el_sup_begin[i] : model.el_sup_end[i]].tolist())
    for c in range(model.sizes["nk"]):
        found[model.k_row[c]].update(model.kt_v[model.k_begin[c] : model.k_end[c]].tolist())
    return [sorted(one) for one in found]


def used_kinds(model: Model) -> tuple[int, int, int, int]:
    """Joints, elements, forces, forces on coordinates of a model, as bits: `UsedKinds` of the kernel."""
    parts = model.joint[1:], model.el_kind, model.fo_kind, model.cf_kind
    joints, elements, forces, on_coordinates = (
        sum(1 << int(kind) for kind in np.unique(part)) for part in parts
    )
    return joints, elements, forces, on_coordinates


def turning_positions(model: Model) -> npt.NDArray[np.bool_]:
    """Which entries of q are angles of which sines and cosines alone are taken (nq,).

    Hinges that no coupling, force or moving distance reads.
    """
    found = np.zeros(model.nq, dtype=bool)
    found[model.iq[1:][model.joint[1:] == HINGE]] = True
    found[model.kt_q] = False
    found[model.cf_q] = False
    for i in np.flatnonzero(model.el_kind == MOVING):
        entry = int(model.el_values[model.el_begin[i] + MOVED_ENTRY])
        found[entry] &= entry < 0
    return found


MOVING = 4  # MovingDistance of kernels/constraints/kinds.hpp
MOVED_ENTRY, MOVED_COLUMN = 8, 9  # places of its coordinate in q and in v, among its parameters
ALONG, AGAINST, MOVED, COUPLED = range(4)  # of kernels/team/tables.hpp


def _begins(parts: list[Any]) -> list[int]:
    return [0, *np.cumsum([len(one) for one in parts]).astype(int).tolist()]


def _flat(lists: list[list[int]]) -> list[int]:
    return [i for one in lists for i in one]


def _levels(model: Model) -> dict[str, Any]:
    """Nodes but the ground by their distance from it, first children of each parent before second ones."""
    depth, rank = [0] * model.sizes["nn"], [0] * model.sizes["nn"]
    children = [0] * model.sizes["nn"]
    shares: dict[tuple[int, int], list[int]] = {}
    for i in range(1, model.sizes["nn"]):
        parent = int(model.parent[i])
        depth[i], rank[i] = depth[parent] + 1, children[parent]
        children[parent] += 1
        shares.setdefault((depth[i], rank[i]), []).append(i)
    ordered = [shares[key] for key in sorted(shares)]
    nodes = _flat(ordered)
    return {
        "level_begin": _begins([[i for i in nodes if depth[i] == d] for d in range(1, max(depth) + 1)]),
        "share_begin": _begins(ordered),
        "level_node": nodes,
        "level_parent": [int(model.parent[i]) for i in nodes],
    }


def _branches(model: Model) -> tuple[list[list[int]], list[int]]:
    """Of each coordinate: itself, then those before it on its branch of the tree; and its node."""
    columns: list[list[int]] = [[] for _ in range(model.sizes["nn"])]
    node_of = [0] * model.nv
    branches: list[list[int]] = [[] for _ in range(model.nv)]
    for i in range(1, model.sizes["nn"]):
        first = int(model.iv[i])
        own = list(range(first, first + COUNTS.get(int(model.joint[i]), 1)))
        above = columns[model.parent[i]]
        columns[i] = above + own
        for k in own:
            node_of[k] = i
            branches[k] = [k, *range(first, k), *above]
    return branches, node_of


def _elimination(model: Model, branches: list[list[int]], rows: list[list[int]]) -> Elimination:
    """Coordinates, then kept rows, each after the coordinates that it has entries in."""
    neighbours: list[set[int]] = [set() for _ in range(model.nv + len(rows))]
    for k, one in [*enumerate(branches), *enumerate(rows, start=model.nv)]:
        for j in one:
            neighbours[k].add(j)
            neighbours[j].add(k)
    least = max(INERTIA * model.sizes["nn"], model.nc)
    return least_degree(neighbours, [*[[]] * model.nv, *rows], least)


def _rounds(plan: Elimination, entries: int, width: int) -> tuple[IntArray, dict[str, int]]:
    unknowns = len(plan.order)
    right, free = entries + unknowns, entries + 2 * unknowns

    def idle(k: int) -> Task:
        return free + k, free + k, free + k, free + k

    factor, back, solve = (Tasks() for _ in range(3))
    for tasks in (factor, solve):
        forward_tasks(plan, right, tasks)
    factor_tasks(plan, factor)
    back_tasks(plan, right, back)
    parts = [rounds_of(one, width, idle) for one in (factor, back, solve, back)]
    counts = {
        "factor_rounds": len(parts[0]),
        "back_rounds": len(parts[1]),
        "solve_rounds": len(parts[2]) + len(parts[3]),
    }
    idle_rounds = [[idle(k) for k in range(width)]] * AHEAD  # read beforehand, after the last one
    return np.concatenate([*parts, idle_rounds]), counts


def _sources_of_element(model: Model, i: int) -> dict[tuple[int, int], int]:
    """Where the entries of the rows of an element come from, by row and column."""
    known: dict[tuple[int, int], int] = {}
    support = range(model.el_sup_begin[i], model.el_sup_end[i])
    for row in range(model.el_row[i], model.el_row[i] + model.el_rows[i]):
        for s in support:
            known[row, int(model.sup_col[s])] = ALONG if model.sup_sign[s] > 0 else AGAINST
    if model.el_kind[i] == MOVING:
        column = int(model.el_values[model.el_begin[i] + MOVED_COLUMN])
        if column >= 0:
            known[int(model.el_row[i]), column] = MOVED
    return known


def _sources(model: Model, kept: IntArray, columns: list[list[int]]) -> list[int]:
    """Where each entry of a kept row comes from, as in the header."""
    known: dict[tuple[int, int], int] = {}
    for i in range(model.sizes["ne"]):
        known |= _sources_of_element(model, i)
    for c in range(model.sizes["nk"]):
        for k in range(model.k_begin[c], model.k_end[c]):
            known[int(model.k_row[c]), int(model.kt_v[k])] = COUPLED + c
    return [known[int(r), j] for r in kept for j in columns[r]]


def packed_updates(plan: TeamPlan, size: int) -> npt.NDArray[Any]:
    """The updates as the kernel reads them: indices of numbers of `size` bytes, in the smallest type."""
    kind = np.uint16 if plan.updates.max(initial=0) * size < np.iinfo(np.uint16).max else np.uint32
    found = plan.updates * size
    found[plan.updates == RECIPROCAL] = np.iinfo(kind).max
    return found.astype(kind)


def smallest_pivot(model: Model, J: Array, kept: int) -> tuple[float, IntArray]:
    """Of J (nc, nv), most independent rows first: pivot number `kept`, and the rows up to there in order.

    [Golub2013] sec. 5.4.
    """
    from scipy.linalg import qr

    if not kept:
        return 1.0, np.zeros(0, dtype=np.int64)
    without = J / np.asarray(model.row_unit)[:, None] * np.asarray(model.unit)
    R, order = qr(without.T, mode="r", pivoting=True)
    return float(abs(R[kept - 1, kept - 1])), np.sort(order[:kept]).astype(np.int64)
