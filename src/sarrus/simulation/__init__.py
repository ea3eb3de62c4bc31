"""Simulation: `simulate` and `study`; integration, events, charts, switches, and the Trajectory of a run."""

from .events.events import Event
from .run.outcome import Status
from .simulate import simulate
from .study import Study, study
from .switching.switched_trajectory import SwitchedTrajectory
from .switching.switches import Contact, Switch
from .system.custom_system import CustomSystem
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
