"""Mutated MJCF, URDF, SDF, USD, JSON and trajectory files: each must be loaded or be a SarrusError, soon.

`python -m bench.fuzz --what files` runs this. Run k of seed s is always the same file.
"""

from __future__ import annotations

import io
import json
import random
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data"
KINDS = ("mjcf", "urdf", "json", "sdf", "npz", "usd")
SUFFIX = {"json": "json", "npz": "npz", "usd": "usda"}
NUMBERS = "0 -1 1e308 -1e308 1e-320 nan inf -0.0 1e50 99999999999 0x10 1,5 3e 0.000001 1.570796 1e400".split()
WORDS = ("ground", "world", "", " ", "a", "\u00e9", "\0", "a" * 300, "&amp;", "../..", "base", "free", "ball")
SNIPPETS = {
    "mjcf": """<joint type="ball"/>
        <freejoint/>
        <body name="x"/>
        <worldbody/>
        <equality><weld body1="base"/></equality>
        <geom type="mesh" mesh="m"/>
        <include file="gripper.xml"/>
        <replicate count="1000"><geom size="1"/></replicate>
        <option gravity="0 0 0"/>
        <composite type="cable" count="500 1 1"/>
        <!-- -->
        <?pi?>
        <![CDATA[x]]>""",
    "urdf": """<link name="extra"/>
        <joint name="j" type="floating"><parent link="base"/><child link="extra"/></joint>
        <mimic joint="elbow"/>
        <axis xyz="0 0 0"/>
        <inertial/>
        <!-- -->
        <!DOCTYPE r [<!ENTITY a "b">]>
        <loop_joint name="l" type="fixed"><link1 link="rod"/><link2 link="base"/></loop_joint>
        &a;
        <sarrus_declarations>{"joints": {"elbow": {"armature": 1}}, "forces": []}</sarrus_declarations>
        <sarrus_declarations>{"balls": {"b": ["shoulder", "elbow", "j"]}}</sarrus_declarations>
        <?pi?>""",
    "json": """null
        []
        {}
        true
        "x"
        1e999
        -1
        {"type": "Free"}
        ["a", 1.0]
        [1, 2]""",
    "sdf": """<link name="extra"/>
        <joint name="x" type="ball"><parent>crank</parent><child>extra</child></joint>
        <frame name="f" attached_to="f"/>
        <pose relative_to="f">1 2 3 4 5 6</pose>
        <pose degrees="true">0 0 0 90 0 0</pose>
        <model name="inner"><link name="l"/></model>
        <include><uri>model://nothing</uri></include>
        <static>true</static>
        <axis2><xyz>0 1 0</xyz></axis2>
        <mimic joint="crank_joint"/>
        <gravity>false</gravity>
        <sarrus:position>1 2</sarrus:position>
        <sarrus:declarations>{"constraints": [{"name": "c", "type": "Coupling"}]}</sarrus:declarations>
        <!DOCTYPE r [<!ENTITY a "b">]>
        <![CDATA[x]]>""",
    "usd": """def Sphere "ball" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"]) {}
        def PhysicsSphericalJoint "s" { rel physics:body1 = </linkage/crank> }
        def PhysicsDistanceJoint "d" { rel physics:body1 = </linkage/rocker> }
        float3 xformOp:scale = (2, 0, 1)
        (references = @four_bar.usda@)
        uniform bool physics:kinematicEnabled = true""",
}
NESTED = """<sdf version="1.9"><world name="w"><gravity>0 0 -3</gravity>
<model name="m"><pose>1 0 0 0 0 1</pose>
<link name="a"><inertial><mass>1</mass></inertial></link>
<frame name="f" attached_to="a"><pose degrees="true">0 0 1 0 90 0</pose></frame>
<model name="in"><pose relative_to="f">0 0 1 0 0 0</pose><link name="b"/></model>
<joint name="u" type="universal"><parent>a</parent><child>in::b</child>
<axis><xyz>1 0 0</xyz><limit><lower>-1</lower><upper>1</upper><effort>3</effort></limit></axis>
<axis2><xyz>0 1 0</xyz></axis2></joint>
<joint name="s" type="screw"><parent>world</parent><child>a</child><axis><xyz>0 0 1</xyz></axis>
<thread_pitch>-20</thread_pitch></joint>
</model></world></sdf>
"""


# ---------------------------------------------------------------------- files


def originals(kind: str) -> list[Any]:
    """Sound files of one kind: text, or the arrays of a trajectory."""
    if kind == "npz":
        return [trajectory_arrays(name) for name in ("four_bar", "rolling_disk", "pendulum")]
    if kind == "mjcf":
        return [(DATA / name).read_text() for name in ("gripper.xml", "leg.xml")] + written_robots("xml")
    if kind == "urdf":
        return [(DATA / "arm.urdf").read_text(), *written_robots("urdf")]
    if kind == "usd":
        return [(DATA / "four_bar.usda").read_text()]
    if kind == "sdf":
        return [NESTED, *written_robots("sdf")]
    import sarrus as sr
    from sarrus.formats.json import spec_of

    names = ("four_bar", "slider_crank", "stewart", "pantograph_leg", "rolling_disk")
    return [json.dumps(spec_of(sr.library.MECHANISMS[name]()).to_dict(), indent=1) for name in names]


def written_robots(suffix: str) -> list[str]:
    """Mechanisms of the library with loops, as `save` writes them."""
    import sarrus as sr

    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        names = ("four_bar", "stewart", "slider_crank", "flyball_governor", "dual_planar_arms")
        robots = {name: sr.library.MECHANISMS[name]() for name in names} | {"kept": with_kept_declarations()}
        files = [sr.save(mech, Path(folder) / f"{name}.{suffix}") for name, mech in robots.items()]
        return [file.read_text() for file in files]


def with_kept_declarations() -> Any:
    """A mechanism with much that URDF and SDF have no words for."""
    import sarrus as sr

    spec = sr.MechanismSpec.from_model(sr.library.MECHANISMS["four_bar"]().model)
    a, b, c = [name for body in spec.bodies for name in body.coordinate_names][:3]
    spec.body("ball", joint=sr.Spherical(), mass=1.0, inertia=(0.1, 0.1, 0.1), armature=0.1)
    spec.force("spring", sr.JointSpring(a, 1.0, 0.1)).force("table", sr.JointSpringTable(b, (0, 1), (0, 2)))
    spec.force("lift", sr.ConstantWrench("ball", (0, 0, 1, 0, 0, 0)))
    spec.constrain("tendon", sr.Coupling({a: 1.0, b: -1.0, c: 0.5}))
    return spec.compile()


def mutated(text: str, kind: str, rng: random.Random) -> bytes:
    """The file after one to six changes, most of them small enough to leave the rest meaningful."""
    for _ in range(1 + int(rng.expovariate(0.7))):
        text = rng.choice(CHANGES)(text, kind, rng)
    data = text.encode("utf-8", errors="replace")
    if rng.random() < 0.1 and data:
        k = rng.randrange(len(data))
        data = data[:k] + bytes([rng.randrange(256)]) + data[k + 1 :]
    return data


def _spans(text: str, characters: str) -> list[tuple[int, int]]:
    """Where maximal runs of the given characters are."""
    found, start = [], None
    for i, c in enumerate(text + "\n"):
        if c in characters:
            start = i if start is None else start
        elif start is not None:
            found.append((start, i))
            start = None
    return found


def _number(text: str, kind: str, rng: random.Random) -> str:
    spans = _spans(text, "0123456789.-+e")
    spans = [s for s in spans if any(c.isdigit() for c in text[slice(*s)])]
    if not spans:
        return text
    a, b = rng.choice(spans)
    value = rng.choice(NUMBERS) if rng.random() < 0.6 else repr(rng.uniform(-2, 2))
    return text[:a] + value + text[b:]


def _word(text: str, kind: str, rng: random.Random) -> str:
    spans = _spans(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789")
    if len(spans) < 2:
        return text
    (a, b), (c, d) = rng.choice(spans), rng.choice(spans)
    value = text[c:d] if rng.random() < 0.7 else rng.choice(WORDS)
    return text[:a] + value + text[b:]


def _cut(text: str, kind: str, rng: random.Random) -> str:
    a = rng.randrange(len(text) + 1)
    return text[:a] + text[a + int(rng.expovariate(0.02)) :]


def _repeat_line(text: str, kind: str, rng: random.Random) -> str:
    lines = text.splitlines(keepends=True) or [""]
    k = rng.randrange(len(lines))
    n = 1 + int(rng.expovariate(0.5))
    return "".join(lines[: k + n] + lines[k:])


def _drop_line(text: str, kind: str, rng: random.Random) -> str:
    lines = text.splitlines(keepends=True) or [""]
    k = rng.randrange(len(lines))
    return "".join(lines[:k] + lines[k + 1 + int(rng.expovariate(1.0)) :])


def _swap_lines(text: str, kind: str, rng: random.Random) -> str:
    lines = text.splitlines(keepends=True) or [""]
    i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[i], lines[j] = lines[j], lines[i]
    return "".join(lines)


def _insert(text: str, kind: str, rng: random.Random) -> str:
    ends = [i + 1 for i, c in enumerate(text) if c in ">,:["]
    k = rng.choice(ends) if ends else 0
    return text[:k] + rng.choice(SNIPPETS[kind].splitlines()).strip() + text[k:]


def _truncate(text: str, kind: str, rng: random.Random) -> str:
    return text[: rng.randrange(len(text) + 1)] if rng.random() < 0.1 else text


SMALL, LINES = (_number, _number, _number, _word, _word), (_repeat_line, _drop_line, _swap_lines)
CHANGES = (*SMALL, *LINES, _cut, _insert, _truncate)


def trajectory_arrays(name: str) -> dict[str, Any]:
    """What the file of a short run holds."""
    import sarrus as sr
    from sarrus.simulation.trajectory.stored_arrays import read_arrays

    run = sr.simulate(
        sr.library.MECHANISMS[name](), (0.0, 0.03), method="rk4", dt=1e-3, events=lambda t, q, v: t - 0.02
    )
    with tempfile.TemporaryDirectory() as folder:
        return read_arrays(run.save(Path(folder) / "run.npz"))


def mutated_arrays(arrays: dict[str, Any], rng: random.Random) -> bytes:
    """A trajectory with a changed head, changed arrays, or changed bytes."""
    arrays, way = dict(arrays), rng.random()
    head = arrays["head"].tobytes().decode()
    if way < 0.4:
        changed = mutated(head, "json", rng)
        arrays["head"] = np.frombuffer(changed, dtype=np.uint8)
    elif way < 0.7:
        name = rng.choice(sorted(arrays))
        arrays[name] = rng.choice(ARRAY_CHANGES)(arrays[name])
        if rng.random() < 0.2:
            del arrays[rng.choice(sorted(arrays))]
    file = io.BytesIO()
    (np.savez if rng.random() < 0.5 else np.savez_compressed)(file, **arrays)
    data = bytearray(file.getvalue())
    for _ in range(0 if way < 0.7 else rng.choice((1, 2, 20))):
        data[rng.randrange(len(data))] = rng.randrange(256)
    return bytes(data[: rng.randrange(len(data))] if rng.random() < 0.05 else data)


ARRAY_CHANGES = (
    lambda x: x[..., None],
    lambda x: x.ravel()[:-1],
    lambda x: x.astype(np.int8),
    lambda x: np.full(x.shape, np.nan),
    lambda x: np.full(x.shape, 1e300),
    lambda x: -x.astype(float),
    lambda x: np.atleast_1d(x)[:0],
    lambda x: np.zeros((0, 3)),
    lambda x: np.array("text"),
    lambda x: x.T,
)


def case(run: int, seed: int, texts: dict[str, list[Any]]) -> tuple[str, bytes]:
    """Kind and content of one run."""
    rng = random.Random(f"{seed}/{run}")
    kind = KINDS[run % len(KINDS)]
    if kind == "npz":
        return kind, mutated_arrays(rng.choice(texts[kind]), rng)
    return kind, mutated(rng.choice(texts[kind]), kind, rng)


# ---------------------------------------------------------------------- one run


class Fuzzer:
    """Makes and loads the files of one seed."""

    def __init__(self, seed: int) -> None:
        self.seed, self.originals = seed, {kind: originals(kind) for kind in KINDS}

    def content(self, run: int) -> bytes:
        """The file of one run."""
        return case(run, self.seed, self.originals)[1]

    def __call__(self, run: int) -> tuple[str, str]:
        """The kind of file and "result", or the class of the error; a wrong outcome begins with "BAD"."""
        import sarrus as sr

        kind, data = case(run, self.seed, self.originals)
        path = Path(f"case.{SUFFIX.get(kind, 'xml')}")
        path.write_bytes(data)
        try:
            if kind == "npz":
                found = sr.Trajectory.load(path)
                _ = str(found), found.at(found.t[:1]) if found.system is not None and len(found) else None
                if found._outcome.checkpoint is not None and found.t[-1] < 0.2:
                    found.resume(found.t[-1] + 1e-3)
            else:
                _ = sr.load(path).default
        except sr.SarrusError as error:
            return kind, type(error).__name__ if str(error).strip() else "BAD error without a message"
        except BaseException as error:
            return kind, f"BAD {type(error).__name__}: {error}"[:300]
        return kind, "result"
