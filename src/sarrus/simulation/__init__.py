"""Simulation: `simulate`, `rollout`, `study`; integration, events, charts, switches, Trajectory of a run."""

from .copies.linear_feedback import LinearFeedback
from .copies.result import Rollout
from .events.events import Event
from .events.switches import Contact, Switch
from .rollout import rollout
from .run.outcome import Status
from .simulate import simulate
from .study import Study, study
from .system.custom_system import CustomSystem
from .trajectory.switched_trajectory import SwitchedTrajectory
from .trajectory.trajectory import Sample, Trajectory

__all__ = [
    "Contact",
    "CustomSystem",
    "Event",
    "LinearFeedback",
    "Rollout",
    "Sample",
    "Status",
    "Study",
    "Switch",
    "SwitchedTrajectory",
    "Trajectory",
    "rollout",
    "simulate",
    "study",
]
