"""Pickles that outlive the layout of the library.

A pickle of a declaration, a model or a mechanism names one function, `sarrus.restore`, and holds plain data:
the arguments of public classes and what was declared, not arrays. Modules and classes may move, and arrays
may be laid out anew: pickles written before still load. Python functions (drives, user rows) pickle by their
own modules, as do classes of other packages.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any

from ...errors import require_known

MAKERS: dict[str, Callable[..., Any]] = {}  # by the name in the pickle
# modules that older pickles name, which lay in their room itself, by room and the folder where they lie now
MOVED = {
    "models": {
        "base": "expressions pose pose_error",
        "shapes": "surface_mesh visual",
        "tree": "bodies coordinates joint joints",
        "kinds": "actuator_law bushing coulomb_friction end_stop forces table_forces user_force",
    },
    "mechanism": {
        "describe": "measures recipe",
        "core": "access arguments modes",
        "variants": "parameter_derivatives state_slopes variant_template",
        "query": "kinematics measure_event sweeps",
    },
}


def restore(name: str, data: Any) -> Any:
    """The object that a pickle holds. Only pickle calls this; name, place and arguments never change.

    Args:
        name: What it is, such as "Mechanism" or "Revolute".
        data: What it is made from.
    """
    require_known("class", name, MAKERS, "a pickle, perhaps of a later version of sarrus")
    return MAKERS[name](data)


restore.__module__ = "sarrus"  # where pickles look for it


class Restored:
    """Base of declarations: dataclasses that pickle as their name and their arguments."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if _is_ours(cls):
            MAKERS[cls.__name__] = lambda data: cls(**data)

    def data(self) -> dict[str, Any]:
        """Arguments of the class, by name; of one made of parameters, these."""
        made_of = vars(self).get("_made_of")
        return dict(vars(self) if made_of is None else made_of[1])

    def __reduce_ex__(self, protocol: Any) -> Any:
        if not _is_ours(type(self)):
            return super().__reduce_ex__(protocol)
        return restore, (type(self).__name__, self.data())


def _is_ours(cls: type) -> bool:
    return cls.__module__.startswith("sarrus.")


class _Moved(ModuleType):
    """A module by its name of before: its names are those of the module of today."""

    def __init__(self, name: str, today: str) -> None:
        super().__init__(name)
        self._today = today

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(import_module(self._today), name)


for _room, _folders in MOVED.items():
    for _folder, _names in _folders.items():
        for _name in _names.split():
            _before = f"sarrus.{_room}.{_name}"
            sys.modules[_before] = _Moved(_before, f"sarrus.{_room}.{_folder}.{_name}")
