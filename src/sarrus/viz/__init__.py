"""Pictures: a mechanism at a pose, a trajectory over time or in motion, a scene in the browser,
a page that plays in any browser, a studio in which the mechanism is taken with the hand.

Draws what other rooms computed. Matplotlib, Pillow and viser are imported when something is drawn; nothing
here needs a display except windows.
"""

from .browser import show
from .figures.animation import animate
from .figures.branches import draw_cone, draw_path
from .figures.mechanism import draw
from .figures.trajectory import plot
from .notebook import animation
from .pages import export
from .report import report
from .scenes.picture import picture
from .studios import studio

__all__ = [
    "animate", "animation", "draw", "draw_cone", "draw_path", "export", "picture", "plot", "report", "show",
    "studio",
]  # fmt: skip


def __dir__() -> list[str]:
    return __all__
