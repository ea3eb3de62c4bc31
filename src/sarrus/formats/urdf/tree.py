"""The tree that the joints of a URDF make of its links, or why they make none."""

from __future__ import annotations

from collections.abc import Iterable

from sarrus.errors import unknown_name
from sarrus.formats.reading.markup import Element


def ends_of(joint: Element) -> tuple[str, str]:
    """Names of the parent link and the child link."""
    return joint.one("parent").text("link"), joint.one("child").text("link")


def by_name(elements: Iterable[Element]) -> dict[str, Element]:
    """Elements by their attribute `name`; an error where one is used twice."""
    found: dict[str, Element] = {}
    for element in elements:
        name = element.text("name")
        if name in found:
            element.fail(f"the name is used twice, first in line {found[name].line}")
        found[name] = element
    return found


def tree_order(
    robot: Element, links: dict[str, Element], joints: dict[str, Element]
) -> tuple[str, list[tuple[Element, str, str]]]:
    """The root link, and the joints from it outwards, depth first, siblings in the order of the file.

    Each joint comes with the names of its parent link and its child link.
    """
    parent_joint: dict[str, Element] = {}
    children: dict[str, list[tuple[Element, str, str]]] = {name: [] for name in links}
    for joint in joints.values():
        for tag in ("parent", "child"):
            end = joint.one(tag)
            if end.text("link") not in links:
                end.fail(str(unknown_name("link", end.text("link"), links)).rstrip("."))
        parent, child = ends_of(joint)
        if child in parent_joint:
            joint.fail(
                f"link {child!r} already hangs on joint {parent_joint[child].text('name')!r}: a loop. Cut it "
                "here and close it with <loop_joint>, or with spec.close after load_spec"
            )
        parent_joint[child] = joint
        children[parent].append((joint, parent, child))
    roots = [name for name in links if name not in parent_joint]
    if not roots:
        robot.fail("the joints form a cycle: every link is the child of some joint, so there is no root")
    if len(roots) > 1:
        robot.fail(f"there must be one root link, got {len(roots)}: {', '.join(map(repr, roots[:8]))}")
    order, waiting, reached = [], children[roots[0]][::-1], {roots[0]}
    while waiting:
        order.append(waiting.pop())
        child = order[-1][2]
        reached.add(child)
        waiting.extend(reversed(children[child]))
    lost = [name for name in links if name not in reached]
    if lost:
        robot.fail(f"these links form a cycle apart from the root: {', '.join(map(repr, lost[:8]))}")
    return roots[0], order
