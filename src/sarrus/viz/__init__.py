"""Pictures: a mechanism at a pose, a trajectory over time or in motion, a scene in the browser,
a page that plays in any browser, a studio in which the mechanism is taken with the hand.

Draws what other rooms computed. Matplotlib, Pillow and viser are imported when something is drawn; nothing
here needs a display except windows.
"""

from .animation import animate
from .branches import draw_cone, draw_path
from .browser import show
from .mechanism import draw
from .notebook import animation
from .pages import export
from .picture import picture
from .report import report
from .studios import studio
from .trajectory import plot

__all__ = [
    "animate", "animation", "draw", "draw_cone", "draw_path", "export", "picture", "plot", "report", "show",
    "studio",
]  # fmt: skip


def __dir__() -> list[str]:
    return __all__
