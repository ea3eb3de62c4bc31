"""Time: compiled integration, drift correction, events, and the Trajectory that comes back."""

from .custom import CustomSystem
from .events import Event
from .run import simulate
from .trajectory import Sample, Status, Trajectory

__all__ = ["CustomSystem", "Event", "Sample", "Status", "Trajectory", "simulate"]
