"""A mechanism on axes of matplotlib: in its plane if it has one, in space otherwise; it can be moved."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ...arrays import Array
from ...errors import InputError
from ...mechanism.mechanism import Mechanism
from ...models.shapes.drawing import Rail
from ...models.tree.bodies import GROUND
from ..scenes import style
from ..scenes.boxes import Box, body_boxes
from ..scenes.loads import arrow_scales, given_loads
from ..scenes.shown_parts import body_colors
from ..scenes.skeleton import Part, Skeleton, skeleton
from ..scenes.view import PARALLEL, Placed, Plane, find_plane

COILS = 5
RAIL_MARGIN = 0.35  # of the mechanism's length
MANY_PINS = 16  # from which on marks become smaller
SLIDER_HALF = 0.07
MARGIN = 0.08
TOUCHING = 1e-3  # of the length L: surfaces nearer than that touch in pictures
LEAST_DEPTH = 0.45  # of the largest extent, in space


class Drawing:
    """A mechanism on axes, at the first of several poses; `move` takes it to another one.

    Args:
        mech: The mechanism.
        q: Poses, (nq,) or (n, nq); rails are long enough for all of them.
        ax: Axes; default new ones.
        **options: As in `draw`.
    """

    def __init__(
        self,
        mech: Mechanism,
        q: npt.ArrayLike,
        ax: Any = None,
        *,
        color: Any = None,
        alpha: float = 1.0,
        ground: bool = True,
        masses: bool = True,
        labels: bool = False,
        loads: bool = True,
        frames: bool = False,
        look: str | None = None,
    ) -> None:
        self.mech = mech
        self.placed = Placed(mech, q)
        self.plane: Plane | None = find_plane(mech, np.atleast_2d(np.asarray(q, dtype=float))[0])
        self.ax = _axes_for(self.plane) if ax is None else style.given_or_new_axes(ax)
        self.flat = self.plane is not None and not hasattr(self.ax, "get_zlim")
        self.artists: list[Any] = []
        self._moves: list[tuple[Callable[[Array], None], Array]] = []
        self._alpha = alpha
        self.solid = _is_solid(look, color, alpha)
        self._colors = {name: color or one for name, one in body_colors(mech).items()}
        self._colors[GROUND] = color or style.FAINT
        if self.plane is None and not hasattr(self.ax, "get_zlim"):
            raise InputError(
                f"mechanism {mech.name!r} moves in space: draw it on axes made with projection='3d', or on"
                " none to get new ones."
            )
        figure = skeleton(mech)
        if self.solid:
            self._solids(np.atleast_2d(np.asarray(q, dtype=float)), color)
        if ground:
            self._ground(figure)
        self._bodies(figure)
        self._joints(figure)
        if masses:
            self._masses(figure)
        if labels:
            self._names(figure)
        if loads:
            self._loads()
        if frames:
            self._triads()
        self._frame("datalim" if ax is None else "box")

    def _bodies(self, figure: Skeleton) -> None:
        """Bodies with a box as boxes, others by their bars and plates."""
        owners, boxes = {part.owner for part in figure.parts}, body_boxes(self.mech)
        for part in figure.parts:
            if part.owner not in boxes:
                self._part(part)
        for box in boxes.values():
            if box.body in owners:
                self._box(box)

    def move(self, i: int) -> list[Any]:
        """Show pose number i; returns the artists that changed."""
        for put, points in self._moves:
            put(points[i])
        if self.solid:
            self._machine.pose = i
        return self.artists

    def fit(self) -> None:
        """Choose limits that hold all poses."""
        every = np.concatenate([np.reshape(points, (-1, points.shape[-1])) for _, points in self._moves])
        if self.solid:
            every = np.concatenate([every, self._seen(self._outline)])
        low, high = every.min(axis=0), every.max(axis=0)
        room = MARGIN * max(float((high - low).max()), self.mech.length)
        if self.flat:
            self.ax.set_aspect("equal", adjustable="box")
        for axis, start, end in zip("xyz", low - room, high + room, strict=False):
            getattr(self.ax, f"set_{axis}lim")(start, end)
        if not self.flat:
            _fill_box(self.ax)

    def trace(self, body: str, point: npt.ArrayLike) -> Callable[[int], Any]:
        """A line along the path of a point (3,) of a body; call the result with a pose number."""
        self.mech.model.body_index(body, "trace")
        path = self._seen(self.placed.points([(body, np.asarray(point, dtype=float))]))[:, 0]
        (line,) = self.ax.plot(*path[:1].T, **style.TRACE)

        def show(i: int) -> Any:
            (line.set_data if self.flat else line.set_data_3d)(*path[: i + 1].T)
            return line

        return show

    def mark_contacts(self, q: Array) -> None:
        """Dots where surfaces touch at q (nq,)."""
        found = self.mech.contacts(q)
        points = found.point_b[found.gap < TOUCHING * self.mech.length]
        if len(points):
            look: dict[str, Any] = {"marker": "o", "linestyle": "none", "color": style.CONTACT, "zorder": 7}
            self.ax.plot(*self._seen(points).T, markersize=5, **look)

    # ------------------------------------------------------------------ pieces

    def _solids(self, q: Array, color: Any) -> None:
        """Bodies as a machine; the lines of the stick figure become thin."""
        from ..scenes.scene import Scene
        from .solid_artist import add_solids

        scene = Scene(self.mech, q)
        self._outline = scene.outline
        self._machine = add_solids(scene, self.ax, color, self._alpha)
        self.artists.append(self._machine)

    def _loads(self) -> None:
        """Arrows that end where forces act or turn about moments, with their values."""
        loads = given_loads(self.mech, self.placed)
        size = max(float(np.ptp(self.placed.p[0], axis=0).max()), self.mech.length)
        scale = arrow_scales(loads, size)
        for load in loads:
            lines = np.array([load.line(scale[load.unit], i) for i in range(len(load.tips))])
            look = {"color": load.color, "linewidth": 2.0, "zorder": 5.5}
            end: dict[str, Any] = {} if load.is_moment else {"marker": "o", "markevery": [1], "markersize": 5}
            self._line(lines, **end, **look)
            where = self._seen(lines[:, 0])[0]
            self.ax.text(*where, load.text(), color=load.color, fontsize=8, zorder=6)

    def _triads(self) -> None:
        """Axes of all bodies: x red, y green, z blue."""
        for name in self.mech.body_names:
            tips = 0.35 * self.mech.length * np.eye(3)
            for tip, color in zip(tips, style.TRIAD, strict=True):
                self._line(self.placed.points([(name, np.zeros(3)), (name, tip)]), color=color, linewidth=1.4)

    def _ground(self, figure: Skeleton) -> None:
        supports = list(figure.supports)
        for rail in figure.rails:
            if self._is_pin(rail):
                supports += [rail.at] if rail.at[0] == GROUND else []
                continue
            for ends in self._rail(rail):
                self._line(ends, **style.RAIL, zorder=1)
        if supports:
            marks: dict[str, Any] = {"marker": "^", "linestyle": "none", "color": style.INK, "markersize": 6}
            if self.flat:
                marks = {**style.SUPPORT, "markeredgecolor": style.INK, "marker": style.support_marker()}
            self._line(self.placed.points(supports), **marks, zorder=1.5)

    def _is_pin(self, rail: Rail) -> bool:
        """A line that one looks along is a pin."""
        if self.plane is None or rail.is_plane:
            return False
        along = self.placed.along(rail.at[0], rail.direction)[0]
        return bool(np.linalg.norm(np.cross(along, self.plane.normal)) <= PARALLEL)

    def _rail(self, rail: Rail) -> list[Array]:
        """End points of the lines that show a guide, (n, 2, 3) each, long enough for the follower."""
        at, run = (self.placed.points([anchor])[:, 0] for anchor in (rail.at, rail.follower))
        normal = self.placed.along(rail.at[0], rail.direction)
        if not rail.is_plane:
            ways = [normal]
        elif self.plane is not None:
            ways = [np.cross(self.plane.normal, normal)]
        else:
            first = np.cross(normal, np.eye(3)[int(np.argmin(np.abs(normal[0])))])
            ways = [first, np.cross(normal, first)]
        lines = []
        for way in ways:
            way = way / np.linalg.norm(way, axis=-1, keepdims=True)
            travel = np.sum((run - at) * way, axis=-1)
            margin = RAIL_MARGIN * self.mech.length if rail.at[0] == GROUND or rail.is_plane else 0.0
            low, high = float(travel.min()) - margin, float(travel.max()) + margin
            if not rail.is_plane:
                low, high = min(low, 0.0), max(high, 0.0)
            lines.append(np.stack([at + low * way, at + high * way], axis=1))
        return lines

    def _part(self, part: Part) -> None:
        points = self.placed.points(part.anchors)
        if part.kind == "spring":
            self._line(_zigzag(points, self.plane), **style.SPRING, zorder=2.5)
        elif part.kind == "rod":
            self._line(points, **style.ROD, zorder=2.5)
        elif part.kind == "plate":
            self._face(points, self._colors[part.owner])
        else:
            width = {} if part.kind == "link" else {"linewidth": 2.0}
            look = {**style.LINK, **width, "color": self._colors[part.owner]}
            self._line(points, **(style.CENTRE_LINE if self.solid else look), zorder=3)

    def _box(self, box: Box) -> None:
        """All edges; two faces, the nearest and the farthest as a rule."""
        corners = self.placed.points([(box.body, corner) for corner in box.corners()])
        color = self._colors[box.body]
        for face in ((0, 1, 3, 2), (4, 5, 7, 6)):
            self._face(corners[:, face], color)
        self._line(self.placed.points(box.edges()), color=color, linewidth=1.5, zorder=2.4)

    def _joints(self, figure: Skeleton) -> None:
        half = SLIDER_HALF * self.mech.length
        for rail in figure.rails:
            if rail.is_block:
                way = self.placed.along(rail.at[0], rail.direction)[:, None]
                ends = self.placed.points([rail.follower]) + way * np.array([[-half], [half]])
                wide = 1.0 if self.solid else 12
                self._line(ends, color=style.INK, linewidth=wide, solid_capstyle="butt", zorder=3.2)
        if figure.pins:
            scale = _mark_scale(figure)
            look = {**style.PIN, "markersize": scale * style.PIN["markersize"]}
            edge = {"markeredgecolor": style.INK, "markeredgewidth": 1.2 * scale}
            self._line(self.placed.points(figure.pins), **look, **edge, zorder=5)

    def _masses(self, figure: Skeleton) -> None:
        heaviest = max((mass for _, mass in figure.masses), default=1.0)
        for anchor, mass in figure.masses:
            size = _mark_scale(figure) * (5.0 + 4.0 * (mass / heaviest) ** (1 / 3))
            points = self.placed.points([anchor])
            common = {"linestyle": "none", "markersize": size, "zorder": 4}
            self._line(points, marker="o", markerfacecolor="white", markeredgecolor=style.INK, **common)
            self._line(points, marker=style.mass_marker(), color=style.INK, markeredgewidth=0, **common)

    def _names(self, figure: Skeleton) -> None:
        paper = {"facecolor": "white", "alpha": 0.7, "edgecolor": "none", "pad": 0.5}
        named = set()
        for part in figure.parts:
            if part.kind in ("link", "plate") and part.owner not in named:
                named.add(part.owner)
                ends = part.anchors[:2] if part.kind == "link" else part.anchors
                where = self._seen(self.placed.points(ends))[0].mean(axis=0)
                look = {"color": self._colors[part.owner], "fontsize": 8, "zorder": 6, "va": "bottom"}
                self.ax.text(*where, part.owner, bbox=paper, **look)

    # ------------------------------------------------------------------ artists

    def _seen(self, points: Array) -> Array:
        return self.plane.project(points) if self.flat and self.plane is not None else points

    def _line(self, points: Array, **look: Any) -> None:
        if points.shape[-1] == 3:
            points = self._seen(points)
        (line,) = self.ax.plot(*points[0].T, alpha=self._alpha, **look)
        self.artists.append(line)
        put = line.set_data if self.flat else line.set_data_3d
        self._moves.append((lambda now: put(*now.T), points))

    def _face(self, points: Array, color: Any) -> None:
        """A filled outline."""
        seen = self._seen(points)
        clear = 0.0 if self.solid else 0.35 * self._alpha
        look = {"facecolor": color, "alpha": clear, "edgecolor": "none", "zorder": 2}
        if self.flat:
            from matplotlib.patches import Polygon

            face: Any = Polygon(seen[0], closed=True, **look)
            self.ax.add_patch(face)
            self._moves.append((face.set_xy, seen))
        else:
            from mpl_toolkits.mplot3d.art3d import Poly3DCollection

            face = Poly3DCollection([seen[0]], **look)
            self.ax.add_collection3d(face)
            self._moves.append((lambda now: face.set_verts([now]), seen))
        self.artists.append(face)
        closed = np.concatenate([seen, seen[:, :1]], axis=1)
        rim = {**style.LINK, "linewidth": 2.5, "color": color}
        self._line(closed, **(style.CENTRE_LINE if self.solid else rim), zorder=2.2)

    def _frame(self, adjustable: str) -> None:
        """Room for everything, equal scales and names on the axes."""
        if self.solid and self.flat:
            self.ax.update_datalim(self._seen(self._outline))
            self.ax.autoscale_view()
        elif self.solid:
            self.ax.auto_scale_xyz(*self._outline.T, had_data=True)
        self.ax.set_axisbelow(True)
        if self.flat and self.plane is not None:
            self.ax.set_aspect("equal", adjustable=adjustable)
            self.ax.margins(0.12)
            across, up = self.plane.labels()
            self.ax.set(xlabel=across, ylabel=up)
            return
        for axis in "xyz":
            self.ax.locator_params(axis=axis, nbins=4)
        self.ax.set(xlabel="x [m]", ylabel="y [m]", zlabel="z [m]")
        _fill_box(self.ax)


def _is_solid(look: str | None, color: Any, alpha: float) -> bool:
    """Whether bodies are solids: by default unless they are drawn in one colour, or can be seen through."""
    if look not in (None, "solid", "sticks"):
        raise InputError(f"look must be 'solid' or 'sticks', got {look!r}.")
    return look == "solid" or (look is None and color is None and alpha >= 1.0)


def _fill_box(ax: Any) -> None:
    """Equal scales in space; thin mechanisms get some room around them, so that one can read the axes."""
    limits = np.array([ax.get_xlim(), ax.get_ylim(), ax.get_zlim()])
    size = np.diff(limits)[:, 0]
    grow = np.maximum(LEAST_DEPTH * size.max() - size, 0.0)[:, None] * np.array([-0.5, 0.5])
    ax.set(**dict(zip(("xlim", "ylim", "zlim"), map(tuple, limits + grow), strict=True)))
    ax.set_aspect("equal")


def _axes_for(plane: Plane | None) -> Any:
    return style.new_axes() if plane is not None else style.new_axes(projection="3d", proj_type="ortho")


def _mark_scale(figure: Skeleton) -> float:
    """Size of the marks of pins and masses: robots of fifty joints would be hidden behind them."""
    return float(min(1.0, (MANY_PINS / max(len(figure.pins), 1)) ** 0.75))


def _zigzag(ends: Array, plane: Plane | None) -> Array:
    """A spring between two points (n, 2, 3) as a line of coils seen from the side."""
    a, b = ends[:, 0], ends[:, 1]
    line = b - a
    eye = plane.normal if plane is not None else np.array([0.3, 0.5, 0.8])
    across = np.cross(eye, line)
    size = np.linalg.norm(across, axis=-1, keepdims=True)
    across = np.divide(across, size, out=np.zeros_like(across), where=size > 0.0)
    width = 0.06 * np.linalg.norm(line, axis=-1, keepdims=True)
    s = np.concatenate([[0.0], np.linspace(0.15, 0.85, 2 * COILS + 1), [1.0]])
    side = np.concatenate([[0.0], [0.0], np.tile([1.0, -1.0], COILS)[:-1], [0.0], [0.0]])
    return np.asarray(a[:, None] + s[:, None] * line[:, None] + side[:, None] * (width * across)[:, None])
