"""What MuJoCo counts in its data while it steps: states that it gave up, contacts that found no memory."""

from __future__ import annotations

from typing import Any

from sarrus.bridge.plant_run import diverged


class MujocoTrouble:
    """Notices that MuJoCo reset itself, or left something out.

    MuJoCo sets its data back to qpos0 and t = 0 where a position, speed or acceleration is not finite or
    above 1e10, and goes on from there; with autoreset off it goes on with that state.

    Args:
        model: The `mujoco.MjModel`.
        data: The `mujoco.MjData` that is stepped from now on.
    """

    def __init__(self, model: Any, data: Any) -> None:
        import mujoco

        kinds = mujoco.mjtWarning
        self._data, self._step = data, float(model.opt.timestep)
        self._ends = (kinds.mjWARN_BADQPOS, kinds.mjWARN_BADQVEL, kinds.mjWARN_BADQACC)
        self._wrong = (kinds.mjWARN_INERTIA, kinds.mjWARN_CONTACTFULL, kinds.mjWARN_CNSTRFULL)
        self._refused = int(kinds.mjWARN_BADCTRL)  # all controls were set to zero
        self._known = self._counts()
        self._time = float(data.time)

    def ended(self) -> str:
        """Why the last step ended the motion; empty where it did not. To be asked after each step."""
        counts, before = self._counts(), self._time
        if counts[self._refused] != self._known[self._refused]:
            return f"MuJoCo took no controls at t = {before:.9g} s: {self._said(self._refused)}"
        self._time = float(self._data.time)
        grown = [kind for kind in self._ends if counts[int(kind)] != self._known[int(kind)]]
        if not grown and self._went_on(before):
            return ""
        return self._divergence(before, grown)

    def _went_on(self, before: float) -> bool:
        """Whether the last step led on from this time, to numbers that are finite."""
        return self._time > before and not diverged(self._data.qpos, self._data.qvel)

    def _divergence(self, before: float, grown: list[Any]) -> str:
        """A step from this time that diverged, in words, with the first of the warnings that it raised."""
        what = f": {self._said(grown[0])}" if grown else ""
        reset = " and reset its state" if self._time < before + 0.5 * self._step else ""
        return f"MuJoCo diverged in the step from t = {before:.9g} s{reset}{what}"

    def left_out(self) -> str:
        """What MuJoCo could not do in a run that went to its end; empty where it did all."""
        counts = self._counts()
        grown = [kind for kind in self._wrong if counts[int(kind)] > self._known[int(kind)]]
        return "; ".join(f"MuJoCo: {self._said(kind)}" for kind in grown)

    def _counts(self) -> list[int]:
        return [int(warning.number) for warning in self._data.warning]

    def _said(self, kind: Any) -> str:
        import mujoco

        text = mujoco.mju_warningText(int(kind), int(self._data.warning[int(kind)].lastinfo))
        return str(text).strip().rstrip(".")
