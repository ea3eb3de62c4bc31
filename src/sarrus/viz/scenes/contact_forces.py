"""Contacts of a run, as pages, plots and reports show them."""

from __future__ import annotations

import numpy as np

from ...errors import InputError
from ...simulation.contacts.contact_record import ContactRecord
from ...simulation.trajectory.trajectory import Trajectory


def record_of(run: Trajectory) -> ContactRecord | None:
    """Contacts of surfaces along a run; None where nothing could touch, or of a run read from a file."""
    try:
        return run.contacts
    except InputError:
        return None


def contact_rows(record: ContactRecord) -> list[tuple[str, str, str, float, float]]:
    """Of points that have closed: name, states closed, sliding, largest force [N], work [J]."""
    size = np.linalg.norm(record.force, axis=2)
    closed, slides = record.mode != "open", record.mode == "slip"
    return [
        (
            record.names[k], f"{closed[:, k].mean():.0%}", f"{slides[:, k].mean():.0%}",
            float(size[:, k].max()), float(record.work[k]),
        )
        for k in np.flatnonzero(closed.any(axis=0))
    ]  # fmt: skip
