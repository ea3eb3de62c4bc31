# /// script
# requires-python = ">=3.11"
# dependencies = ["sarrus"]
# ///
"""The picture of the README: four mechanisms with closed loops, side by side, to docs/static/machines.png."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import sarrus as sr
from sarrus.viz.scenes.picture import png

PICTURE = Path(__file__).parents[1] / "docs" / "static" / "machines.png"
SHOWN = ("excavator", "double_wishbone", "stewart", "dual_arm_box")
SIZE = (360, 300)  # pixels of each


def main(picture: Path = PICTURE) -> Path:
    """Paint it; returns the path."""
    parts = [sr.viz.picture(sr.library.MECHANISMS[name](), size=SIZE, background="white") for name in SHOWN]
    picture.write_bytes(png(np.concatenate(parts, axis=1)))
    return picture


if __name__ == "__main__":
    print(main())
