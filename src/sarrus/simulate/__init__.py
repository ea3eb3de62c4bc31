"""Time: compiled integration, drift correction, charts, events, switches, and the Trajectory of a run."""

from .custom import CustomSystem
from .events import Event
from .run import simulate
from .study import Study, study
from .switched_trajectory import SwitchedTrajectory
from .switches import Contact, Switch
from .trajectory import Sample, Status, Trajectory

__all__ = [
    "Contact",
    "CustomSystem",
    "Event",
    "Sample",
    "Status",
    "Study",
    "Switch",
    "SwitchedTrajectory",
    "Trajectory",
    "simulate",
    "study",
]
