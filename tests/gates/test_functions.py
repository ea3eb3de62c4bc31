"""Functions fit a screen and do not take long rows of unnamed arguments."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from types import FunctionType

from bench.density import cpp_density

from .sources import (
    BINDINGS,
    KERNELS,
    SOURCE,
    cpp_files,
    hold,
    public_rooms,
    python_files,
    short,
    tree_of,
)
from .test_public_names import SIGNATURES, find

LINES = 60  # of a function, from its name to its last line; the docstring of a Python function is not counted
POSITIONAL = 6  # arguments without a name

# known offenders: "file: function"
STILL: dict[str, list[str]] = {
    "long": [],
    "parameters": [],
    "arguments": [],
}

Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions(node: ast.AST, prefix: str = "") -> Iterator[tuple[str, Function]]:
    """Every function below a node, as `Class.method` or `function.inner`."""
    for child in ast.iter_child_nodes(node):
        named = isinstance(child, Function | ast.ClassDef)
        name = f"{prefix}{child.name}" if named else prefix
        if isinstance(child, Function):
            yield name, child
        yield from functions(child, f"{name}." if named else prefix)


def python_length(function: Function) -> int:
    """Lines of a function without its docstring."""
    first, last = function.body[0], function.body[-1]
    said = first.end_lineno - first.lineno + 1 if ast.get_docstring(function) is not None else 0
    return last.end_lineno - function.lineno + 1 - said


def public_definitions() -> set[tuple[str, str]]:
    """Module and qualified name of what users call: their parameters stay as they are."""
    things = [
        *map(find, SIGNATURES),
        *(getattr(room, name) for room in public_rooms() for name in room.__all__),
    ]
    for kind in [x for x in things if inspect.isclass(x)]:
        things.append(kind.__init__)
        things += [x for base in kind.__mro__ for name, x in vars(base).items() if not name.startswith("_")]
    return {(x.__module__, x.__qualname__) for x in things if isinstance(x, FunctionType)}


def test_functions_fit_a_screen() -> None:
    lengths = {
        f"{short(path)}: {name}": python_length(function)
        for path in python_files()
        for name, function in functions(tree_of(path))
    }
    for path in cpp_files(KERNELS, BINDINGS):
        for one in cpp_density(path).functions:
            key = f"{short(path)}: {one.name}"
            lengths[key] = max(one.span, lengths.get(key, 0))
    assert len(lengths) > 1000
    hold(
        f"No function is longer than {LINES} lines",
        [name for name, length in lengths.items() if length > LINES],
        STILL["long"],
        "give a part that can be named its own function",
    )


def test_functions_take_few_positional_parameters() -> None:
    public = public_definitions()
    offenders = []
    for path in python_files():
        module = ".".join(("sarrus", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(
            ".__init__"
        )
        for name, function in functions(tree_of(path)):
            parameters = [*function.args.posonlyargs, *function.args.args]
            count = len([x for x in parameters if x.arg not in ("self", "cls")])
            if count > POSITIONAL and (module, name) not in public:
                offenders.append(f"{short(path)}: {name}")
    hold(
        f"No function takes more than {POSITIONAL} positional parameters (public ones as promised excepted)",
        offenders,
        STILL["parameters"],
        "a dataclass for what belongs together, or `*,` before the parameters that are given by name",
    )


def test_calls_name_their_arguments() -> None:
    hold(
        f"No call has more than {POSITIONAL} positional arguments",
        {
            f"{short(path)}: {ast.unparse(call.func)}"
            for path in python_files()
            for call in ast.walk(tree_of(path))
            if isinstance(call, ast.Call) and len(call.args) > POSITIONAL
        },
        STILL["arguments"],
        "give the arguments by name, or one dataclass that holds them",
    )
