"""MeasureEvent: the function g(t, q, v) whose zeros are where a measure has a value."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...arrays import Array
from ...errors import InputError, unknown_name
from ..describe.measure import Measure
from ..describe.measured_states import MeasuredStates

if TYPE_CHECKING:
    from ..mechanism import Mechanism

ENTRY = re.compile(r"(.+)\[(\d+)\]$")


@dataclass(frozen=True)
class MeasureEvent:
    """An event of a run: a measure reaches a value. Made by `mech.event`.

    Attributes:
        name: of the event, such as "height = 0.5".
        terminal: whether it ends the run, or after how many times.
        direction: 1, -1 or 0: in which direction crossings count.
        period: of the measure where it is an angle [rad], else 0.
    """

    name: str
    terminal: bool | int
    direction: float
    period: float
    _mech: Mechanism
    _measure: Measure
    _entry: int | None
    _value: float
    _control: Callable[..., Any] | None

    def __call__(self, t: float, q: Array, v: Array) -> float:
        """The measure less the value, angles between -pi and pi."""
        u = None if self._control is None else self._control(t, q, v)
        tau = np.zeros(self._mech.nv) if u is None else self._mech._applied(q, None, u, None)
        states = MeasuredStates(self._mech, q[None], v[None], np.array([t]), tau[None])
        found = np.ravel(self._measure.values(states)[0])
        _check_entry(self.name, self._entry, len(found))
        d = float(found[self._entry or 0]) - self._value
        return d - self.period * round(d / self.period) if self.period else d


def measure_event(
    mech: Mechanism,
    name: str,
    value: float,
    how: tuple[bool | int, float],
    control: Callable[..., Any] | None,
) -> MeasureEvent:
    """The event at which a measure, or an entry of it ("tip[1]"), has a value; see `Mechanism.event`."""
    measures = dict(mech.model.measures)
    entry, plain = None, name
    if isinstance(name, str) and name not in measures and (match := ENTRY.match(name)):
        plain, entry = match[1], int(match[2])
    if not isinstance(plain, str) or plain not in measures:
        raise unknown_name("measure", name, measures, "event")
    measure = measures[plain]
    if measure.unit:  # of a function of the user's nobody knows
        _check_entry(name, entry, len(measure.columns) or 1)
    period = 2.0 * math.pi if measure.continues else 0.0
    how_often, direction = how
    return MeasureEvent(
        name=f"{name} = {value:g}",
        terminal=how_often,
        direction=direction,
        period=period,
        _mech=mech,
        _measure=measure,
        _entry=entry,
        _value=value,
        _control=control,
    )


def _check_entry(name: str, entry: int | None, width: int) -> None:
    """Refuse an entry that does not exist, and none where there are several."""
    if entry is None and width > 1:
        entries = ", ".join(f"'{name}[{i}]'" for i in range(width))
        raise InputError(f"event {name!r}: the measure has {width} numbers; name one of them: {entries}.")
    if (entry or 0) >= width:
        raise InputError(f"event {name!r}: the measure has {width} number(s), the first one is [0].")
