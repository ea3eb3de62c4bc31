"""Public names work as the first thing that a process uses: nothing depends on what else was imported before.

Each use (first_uses.py, first_kinds.py) runs in a fork of an interpreter that has done `import sarrus` and no
more.
"""

from __future__ import annotations

import inspect
import json
import os
import re
import subprocess
import sys

import pytest

import sarrus as sr
import sarrus.gym
from tests.studio_kernel import KERNEL

from .first_kinds import USES as KINDS
from .first_uses import USES
from .sources import hold, public_rooms

PROGRAMS = KINDS | USES
PROGRAMS |= {
    f"library.{name}": f"m = sr.library.{name}(); m.mass_matrix(m.default.q)"
    for name in sr.library.MECHANISMS
}
# Reads programs from standard input and runs each in a fork, two at a time; prints what fails.
SERVER = """
import json, os, sys, tempfile, traceback, warnings
import sarrus as sr
warnings.simplefilter("ignore")
children = {}

def wait():
    child, status = os.wait()
    name = children.pop(child)
    if os.WIFSIGNALED(status):
        print(f"{name}: ended by signal {os.WTERMSIG(status)}", flush=True)

for name, code in json.load(sys.stdin).items():
    if len(children) == 2:
        wait()
    if not (child := os.fork()):
        with tempfile.TemporaryDirectory() as folder:
            try:
                exec(code, {"sr": sr, "folder": folder})
                failed = ""
            except BaseException:
                failed = traceback.format_exc(limit=-2)
        if failed:
            os.write(1, f"{name}: {failed}".encode())
        os._exit(0 if not failed else 1)
    children[child] = name
while children:
    wait()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_public_names_work_as_the_first_thing_used() -> None:
    uses = {name: use for name, use in PROGRAMS.items() if KERNEL.is_file() or "studio" not in name}
    done = subprocess.run(
        [sys.executable, "-c", SERVER], input=json.dumps(uses), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 and not done.stdout, done.stdout + done.stderr


def test_every_public_name_has_a_use() -> None:
    """Under any of its paths: `sr.Pose` is `sr.results.Pose`."""
    text, used, paths = "\n".join(PROGRAMS.values()), set(), {}
    for room in (*public_rooms(), sarrus.gym):
        short = room.__name__.removeprefix("sarrus").removeprefix(".")
        owner = {"": r"sr", "control": r"(?:sr\.control|C)", "gym": r"gym"}.get(short, rf"sr\.{short}")
        for name in room.__all__:
            thing = getattr(room, name)
            if inspect.ismodule(thing) and room is sr:
                continue
            paths.setdefault(id(thing), f"{room.__name__}.{name}")
            if re.search(rf"\b{owner}\.{name}\b", text):
                used.add(id(thing))
    hold(
        "Every public name is used by a process that imported nothing else",
        [path for thing, path in paths.items() if thing not in used],
        [],
        "give it a program in tests/gates/first_uses.py or first_kinds.py",
    )
