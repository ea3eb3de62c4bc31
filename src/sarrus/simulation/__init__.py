"""Time: compiled integration, drift correction, charts, events, switches, and the Trajectory of a run."""

from .run.custom_system import CustomSystem
from .run.outcome import Status
from .run.simulate import simulate
from .study import Study, study
from .switching.switched_trajectory import SwitchedTrajectory
from .switching.switches import Contact, Switch
from .trajectory.events import Event
from .trajectory.trajectory import Sample, Trajectory

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
