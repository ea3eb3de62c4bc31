"""ModalBody: a part of a finite-element code, by its matrices and nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import Array, is_finite, nonnegative, numbers, whole
from ...errors import InputError
from ..base.kind import Checks
from ..base.pose import Pose
from .craig_bampton import FiniteElements, is_negative, reduced
from .flexible_part import Element, FlexiblePart

__all__ = ["ModalBody"]

SYMMETRIC = 1e-8  # of the largest entry
RIGID = 1e-6  # of the forces that its elements resist with: what rigid motions may leave
FLAT = 1e-6  # second largest extent over the largest, of nodes that hold a frame


def _matrix(value: Any, what: str) -> Any:
    """A sparse matrix from one, an array or a file (.npy, .npz, .mtx)."""
    from scipy import sparse

    if isinstance(value, (str, Path)):
        value = _file(Path(value), what)
    if not sparse.issparse(value):
        value = sparse.csr_array(numbers(value, what, 2))
    found = sparse.csr_array(value, dtype=np.float64)
    if found.shape[0] != found.shape[1]:
        raise InputError(f"{what} must be square, got shape {found.shape}.")
    if not is_finite(found.data):
        raise InputError(f"{what} must be finite, got NaN or infinite entries.")
    size = float(abs(found.data).max(initial=0.0))
    worst = float(abs((found - found.T).tocsr().data).max(initial=0.0))
    if worst > SYMMETRIC * size:
        raise InputError(
            f"{what} must be symmetric, got entries that differ by {worst:.3g} from their mirror image, of"
            f" {size:.3g}; codes that write one triangle only need the other one added."
        )
    return (0.5 * (found + found.T)).tocsr()


def _file(path: Path, what: str) -> Any:
    from scipy import io, sparse

    readers = {".npy": np.load, ".npz": sparse.load_npz, ".mtx": io.mmread}
    if path.suffix not in readers:
        raise InputError(f"{what} must be a file {', '.join(readers)}, got {path.name!r}.")
    try:
        return readers[path.suffix](path)
    except (OSError, ValueError) as error:
        raise InputError(f"{what} cannot be read from {path}: {error}.") from None


def _nodes(value: object, what: str) -> Array:
    found = numbers(value, what, 2)
    if found.shape[1:] != (3,) or not len(found) or not is_finite(found):
        raise InputError(f"{what} must be places (N, 3) [m], finite, got shape {found.shape}.")
    return found


def _interface(value: object, what: str) -> dict[str, tuple[int, ...]]:
    """Nodes of each interface by name."""
    if isinstance(value, Mapping):
        pairs = list(value.items())
    elif isinstance(value, Sequence) and not isinstance(value, str):
        pairs = [(str(one if np.isscalar(one) else k), one) for k, one in enumerate(value)]
    else:
        raise InputError(f"{what} must be numbers of nodes, or a mapping of them by name, got {value!r}.")
    found = {}
    for name, one in pairs:
        group = [one] if np.isscalar(one) else list(one)
        found[str(name)] = tuple(whole(node, f"node of {what} {name!r}") for node in group)
    if len(found) < 2 or len(found) < len(pairs):
        raise InputError(f"{what} must be two nodes or more with different names, got {value!r}.")
    return found


@dataclass(frozen=True, eq=False)
class ModalBody(FlexiblePart):
    """A part of a finite-element code, reduced to a few deflections.

    Its frame is that of the coordinates in `nodes`, carried by the first interface. Geometric stiffening
    is not contained in M and K: this body has none.

    Args:
        M: Mass matrix [kg, kg m^2] (3 N, 3 N), or (6 N, 6 N) for nodes that turn (x, y, z, rx, ry, rz): an
            array, a SciPy sparse matrix or a file (.npy, .npz, .mtx).
        K: Stiffness matrix [N/m, N m] of the part without supports, likewise.
        nodes: Where they stand [m], (N, 3).
        interface: Where joints, loops and forces hold on: numbers of nodes, or lists of nodes that are held
            together as a rigid frame, or such by name. Nodes that do not turn need three that are not on a
            line. Nodes of the body are called NAME.NUMBER, of lists NAME.0, NAME.1, ..., or by their names.
        modes: Number of modes with all interfaces held, beside six deflections of each.
        damping: Of every mode while the first interface is held: part of its critical damping.
    """

    checks: ClassVar[Checks] = {
        "M": _matrix, "K": _matrix, "nodes": _nodes, "interface": _interface, "modes": whole,
        "damping": nonnegative,
    }  # fmt: skip
    M: Any
    K: Any
    nodes: ArrayLike
    interface: Any
    modes: int = 6
    damping: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        count = len(self._nodes)
        if self.M.shape != self.K.shape or self.M.shape[0] not in (3 * count, 6 * count):
            raise InputError(
                f"M and K of ModalBody must have 3 or 6 rows for each of its {count} nodes, got shapes"
                f" {self.M.shape} and {self.K.shape}."
            )
        self._check_interface(count)
        self._check_matrices()

    @property
    def _nodes(self) -> Array:
        return np.asarray(self.nodes)

    @property
    def _model(self) -> FiniteElements:
        width = self.M.shape[0] // len(self._nodes)
        return FiniteElements(self.M, self.K, self._nodes, width, tuple(self.interface.values()))

    def _check_interface(self, count: int) -> None:
        taken: dict[int, str] = {}
        for name, group in self.interface.items():
            for node in group:
                if node >= count:
                    raise InputError(
                        f"interface {name!r} of ModalBody names node {node}, and its nodes are 0 to"
                        f" {count - 1}."
                    )
                if node in taken:
                    raise InputError(
                        f"node {node} of ModalBody belongs to the interfaces {taken[node]!r} and {name!r}."
                    )
                taken[node] = name
            places = self._nodes[list(group)]
            extent = np.linalg.svd(places - places.mean(axis=0), compute_uv=False)
            holds = len(group) >= 3 and extent[1] > FLAT * extent[0]
            if self.M.shape[0] == 3 * count and not holds:
                raise InputError(
                    f"interface {name!r} of ModalBody must be three nodes or more that are not on a line,"
                    f" since nodes with three freedoms do not turn, got {list(group)}."
                )

    def _check_matrices(self) -> None:
        for name, matrix in (("M", self.M), ("K", self.K)):
            if is_negative(matrix):
                raise InputError(
                    f"{name} of ModalBody must be positive semidefinite, got negative eigenvalues: such a"
                    " part would give energy away. Is the order of its rows that of its nodes?"
                )
        self._check_rigid()
        if not (self.M.diagonal() > 0.0).any():
            raise InputError("M of ModalBody must have mass, got a diagonal of zeros.")

    def _check_rigid(self) -> None:
        """A part without supports does not resist when it is moved as a whole."""
        for k, field in enumerate(np.hstack(self._model.rigid).T):
            left, elements = np.abs(self.K @ field), abs(self.K) @ np.abs(field)
            if left.max() > RIGID * elements.max():
                motion = f"a {'translation along' if k < 3 else 'turn about'} {'xyz'[k % 3]}"
                raise InputError(
                    f"rigid-body modes of ModalBody are missing: K resists {motion} with"
                    f" {left.max():.3g}. Leave supports out of the matrices, give all freedoms of a node in"
                    " the order x, y, z (rx, ry, rz), and lengths in metres; joints hold the part instead."
                )

    def cut(self) -> tuple[Element, ...]:
        model, names = self._model, tuple(self.interface)
        constants = reduced(model, self.modes)
        if constants.mass <= 0.0 or np.linalg.eigvalsh(constants.K)[0] <= 0.0:
            raise InputError(
                "a ModalBody must have mass and resist every deflection while its first interface is held; K"
                " leaves one free: is it one connected part?"
            )
        if self.damping:
            constants = constants.damped(self.damping)
        centres = [model.centre(k) for k in range(len(names))]
        places = tuple(
            Pose(p - before) for before, p in zip([np.zeros(3), *centres[1:]], centres[1:], strict=False)
        )
        return (Element("", names[1:], places, np.eye(3), self.modes, constants),)
