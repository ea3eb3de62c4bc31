"""Models of an SDF file as one flat model: worlds, nested models and included files.

Names inside a nested model get its name in front, "arm::link", as other files refer to them.
"""

from __future__ import annotations

from pathlib import Path

from sarrus.formats.reading.markup import Element, parse
from sarrus.formats.reading.meshes import Places
from sarrus.formats.reading.messages import FormatError, Omitted
from sarrus.formats.sdf.frames import CANONICAL, MODEL, Frames, pose_in
from sarrus.formats.urdf.tree import by_name
from sarrus.formats.writing.kept_declarations import SDF_TAG
from sarrus.models.base.pose import Pose

GRAVITY = (0.0, 0.0, -9.81)
PLACED = "__placed__"  # the frame of a model that is not at the origin, and an attribute of such frames
DEEPEST = 20  # models in models
MOST_INCLUDES = 1000
OLD = "before 1.5"  # attribute of models of files in which axes count in the frame of the model
ROOT = "outermost model"  # attributes of models and of their links: the name of the outermost one,
STATIC = "in a static model"  # whether it is held where it is,
SELVES = "links touch each other"  # and whether its links may touch each other
INHERITED = (ROOT, STATIC)
PARTS = ("link", "joint", "frame", "drake:ball_constraint", "drake:linear_bushing_rpy", "plugin", "gripper")
OTHER_PARTS = ("pose", "static", "model", "include", "self_collide", "allow_auto_disable", "enable_wind")
REFERRING = {"relative_to", "attached_to", "expressed_in", "joint"}  # attributes that name something
NAMING = {"parent", "child", "drake:ball_constraint_body_A", "drake:ball_constraint_body_B"}


def flattened(root: Element, places: Places, omitted: Omitted) -> tuple[Element, tuple[float, float, float]]:
    """One <model> with the links, joints and frames of all, and gravity [m/s^2]."""
    world = root.first("world")
    gravity = GRAVITY
    holder = root
    if world is not None:
        holder = world
        given = world.first("gravity")
        if given is not None:
            x, y, z = given.values(3)
            gravity = (x, y, z)
    loader = _Loader(places, omitted)
    models = [_of_version(one, root) for one in holder.all("model")]
    models += [loader.included(one, 0) for one in holder.all("include")]
    if not models:
        root.fail("an SDF needs a <model>, or a <world> with models")
    whole = Element("model", dict(models[0].attributes), models[0].line, root.source)
    if len(models) > 1:
        whole.attributes["name"] = (world or root).attributes.get("name", "world")
    for model in models:
        prefix = f"{model.text('name')}::" if len(models) > 1 else ""
        link = loader.add(whole, model, prefix, "", 0)
        if model is models[0]:
            whole.attributes[CANONICAL] = link
    if loader.kept > len(whole.all(SDF_TAG)):
        omitted.drop("declarations of sarrus in a model among others")
    return whole, gravity


def says(element: Element, tag: str) -> bool:
    """Whether a child says true."""
    return element.word(tag, "false").strip() in ("true", "1")


def is_static(link: Element) -> bool:
    """Whether a link of the whole is part of a static model."""
    return STATIC in link.attributes


def selves_collide(link: Element) -> bool:
    """Whether a link of the whole is part of a model whose links may touch each other."""
    return SELVES in link.attributes


class _Loader:
    def __init__(self, places: Places, omitted: Omitted) -> None:
        self.omitted, self.places = omitted, places
        self.stack: list[Path] = []
        self.count = self.kept = 0

    def included(self, include: Element, depth: int) -> Element:
        """The model of an <include>, with its name and pose."""
        uri = include.word("uri").strip()
        path = self._find(include, uri)
        self.count += 1
        if path in self.stack or depth > DEEPEST or self.count > MOST_INCLUDES:
            include.fail(f"{uri!r} includes itself, or one of more than {MOST_INCLUDES} files")
        try:
            root = parse(path.read_bytes(), path.name)
        except OSError as error:
            raise FormatError(f"{path.name} cannot be read: {error.strerror}.") from None
        model = root.first("model")
        if model is None:
            root.fail("an included file needs a <model>")
        named = _of_version(model, root)
        if include.first("name") is not None:
            named.attributes["name"] = include.word("name").strip()
        if include.first("pose") is not None:
            named.children = [x for x in named.children if x.tag != "pose"] + [include.one("pose")]
        if include.first("static") is not None:
            named.children.append(include.one("static"))
        named.attributes["file"] = str(path)
        return named

    def _find(self, include: Element, uri: str) -> Path:
        """The SDF that an address means: the file, or model.sdf in the folder."""
        file, refused = self.places.find(uri)
        if file is not None and Path(file).is_dir():
            file, refused = self.places.find(f"{uri.rstrip('/')}/model.sdf")
        if refused:
            include.fail(refused)
        if file is None or not Path(file).is_file():
            include.fail(f"{uri!r} was not found; packages=folder says where to look")
        return Path(file).resolve()

    def add(self, whole: Element, model: Element, prefix: str, base: str, depth: int) -> str:
        """Copy the parts of a model, names beginning with the prefix, placed relative to the frame `base`.

        Returns the link that frames of the model are attached to where they do not say another.
        """
        if depth > DEEPEST:
            model.fail(f"models are nested deeper than {DEEPEST} levels")
        file = model.attributes.get("file")
        if file is not None:
            self.stack.append(Path(file))
        _mark(model)
        at, own = self._placement(model, depth), base
        loose: list[Element] = []
        if prefix or not at.is_identity:
            own = prefix.removesuffix("::") or PLACED
            frame = Element("frame", {"name": own, PLACED: "true"}, model.line, model.source)
            frame.children.append(_pose(at, base, model))
            whole.children.append(frame)
            loose.append(frame)
        for child in model.children:
            if child.tag in PARTS:
                copy = _part(child, prefix, own, model)
                whole.children.append(copy)
                if copy.tag == "frame" and "attached_to" not in copy.attributes:
                    loose.append(copy)
            else:
                self._note_other(whole, child, prefix)
        inner = [
            self.add(whole, one, f"{prefix}{one.text('name')}::", own, depth + 1)
            for one in self._nested(model, depth)
        ]
        links = [model.attributes.get("canonical_link", "").strip(), *by_name(model.all("link"))]
        named = [prefix + name for name in filter(None, links)]
        first = next(filter(None, [*named, *inner]), "")
        for frame in loose:
            frame.attributes[CANONICAL] = first
        if file is not None:
            self.stack.pop()
        return first

    def _nested(self, model: Element, depth: int) -> list[Element]:
        """The models in a model, and those that it includes."""
        nested = [_copied(one, OLD in model.attributes) for one in model.all("model")]
        nested += [self.included(one, depth + 1) for one in model.all("include")]
        for one in nested:
            one.attributes |= _inherited(model)
        return nested

    def _note_other(self, whole: Element, child: Element, prefix: str) -> None:
        """Keep the declarations of this library of the outermost model; list what has no meaning here."""
        if child.tag == SDF_TAG:
            self.kept += 1
            whole.children += [] if prefix else [child]
        elif child.tag not in OTHER_PARTS:
            self.omitted.add(child.tag, child.attributes.get("name", ""), child.line)

    def _placement(self, model: Element, depth: int) -> Pose:
        """The frame of a model where it is put: its placement_frame comes to its pose."""
        wanted = model.attributes.get("placement_frame", "").strip()
        if not wanted:
            return pose_in(model)
        children = [x for x in model.children if x.tag != "pose"]
        alone, flat = (Element("model", {}, model.line, model.source, x) for x in (children, []))
        self.add(flat, alone, "", "", depth + 1)
        parts = {f"{tag}s": by_name(flat.all(tag)) for tag in ("link", "joint", "frame")}
        return pose_in(model) @ Frames(model, **parts).of(wanted, model).inverse()


def _mark(model: Element) -> None:
    """Note in a model what its links and the models in it inherit."""
    model.attributes.setdefault(ROOT, model.attributes.get("name", ""))
    if says(model, "static"):
        model.attributes[STATIC] = "true"


def _inherited(model: Element) -> dict[str, str]:
    return {key: model.attributes[key] for key in INHERITED if key in model.attributes}


def _own(model: Element) -> dict[str, str]:
    """What links of a model get that models in it do not."""
    return {SELVES: "true"} if says(model, "self_collide") else {}


def _copied(model: Element, old: bool) -> Element:
    attributes = model.attributes | ({OLD: "true"} if old else {})
    return Element("model", attributes, model.line, model.source, list(model.children))


def _of_version(model: Element, root: Element) -> Element:
    """A copy of a model that knows whether its file is older than SDF 1.5."""
    given = root.attributes.get("version", "").strip()
    major, _, minor = given.partition(".")
    return _copied(model, major == "1" and minor.isdigit() and int(minor) < 5)


def _axes_expressed(part: Element, old: bool) -> Element:
    """A joint whose axes say that they count in the frame of the model: all of them before SDF 1.5."""
    if part.tag != "joint":
        return part
    children = [_expressed(child) if _counts_in_model(child, old) else child for child in part.children]
    return Element(part.tag, part.attributes, part.line, part.source, children, part.content)


def _counts_in_model(axis: Element, old: bool) -> bool:
    """Whether an element is an axis in the frame of the model."""
    if axis.tag not in ("axis", "axis2"):
        return False
    return old or axis.word("use_parent_model_frame", "false").strip() in ("true", "1")


def _expressed(axis: Element) -> Element:
    """An axis that says so."""
    xyz = axis.first("xyz") or Element("xyz", {}, axis.line, axis.source, content="0 0 1")
    said = Element("xyz", {"expressed_in": MODEL}, xyz.line, xyz.source, content=xyz.content)
    rest = [one for one in axis.children if one.tag != "xyz"]
    return Element(axis.tag, axis.attributes, axis.line, axis.source, [said, *rest], axis.content)


def _pose(pose: Pose, base: str, near: Element) -> Element:
    values = " ".join(repr(float(x)) for x in (*pose.xyz, *pose.quat))
    attributes = {"rotation_format": "quat_xyzw"} | ({"relative_to": base} if base else {})
    return Element("pose", attributes, near.line, near.source, content=values)


def _placed(part: Element, base: str) -> Element:
    """A link or frame whose pose is relative to the model by default: relative to the frame of the model."""
    pose = part.first("pose")
    says_where = pose is not None and "relative_to" in pose.attributes
    if not base or says_where or part.attributes.get("attached_to"):
        return part
    children = [_pose(pose_in(part), base, part), *(x for x in part.children if x.tag != "pose")]
    return Element(part.tag, part.attributes, part.line, part.source, children, part.content)


def _part(child: Element, prefix: str, own: str, model: Element) -> Element:
    """A part of a model as it stands in the whole; `own` is the frame of its model."""
    copy = _renamed(_axes_expressed(child, OLD in model.attributes), prefix, own)
    if child.tag == "link":
        copy.attributes |= _inherited(model) | _own(model)
    return _placed(copy, own) if child.tag in ("link", "frame") else copy


def _renamed(element: Element, prefix: str, own: str, top: bool = True) -> Element:
    """A copy with the names of a nested model made whole; `own` is the frame of the model."""
    if not own and not prefix:
        return element

    def renamed(name: str) -> str:
        if name.strip() in ("", "world"):
            return name
        return own if name.strip() == MODEL else prefix + name.strip()

    attributes = dict(element.attributes)
    for name in (REFERRING | ({"name"} if top else set())) & attributes.keys():
        attributes[name] = renamed(attributes[name])
    content = renamed(element.content) if element.tag in NAMING else element.content
    children = [_renamed(child, prefix, own, False) for child in element.children]
    return Element(element.tag, attributes, element.line, element.source, children, content)
