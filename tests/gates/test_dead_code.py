"""What nothing calls goes: functions, classes and constants of the library, and functions of the kernel."""

from __future__ import annotations

import ast
import inspect
from collections import Counter
from collections.abc import Iterator

from .sources import SOURCE, hold, imports, modules, public_rooms, python_files, short, tree_of

# known offenders: "file: name"
STILL: dict[str, list[str]] = {
    "names": [
        # stages of a compiled step that tests check by themselves
        "control/core/least_norm_inputs.py: least_norm_inputs",
        "control/hierarchy/levels.py: controllable_basis",
        "control/hierarchy/levels.py: solve_levels",
    ],
    "methods": [
        "gym/environments.py: MechanismEnv.render",  # Gymnasium calls it
        "commands/overview.py: Grouped.format_commands",  # click calls it
        *(
            f"viz/figures/solid_artist.py: Solids.{name}"  # matplotlib calls them
            for name in "contains format_cursor_data get_cursor_data get_tightbbox get_window_extent".split()
        ),
        *(  # CasADi, Crocoddyl and PyTorch call them
            f"bridge/{file}: {kind}.{name}"
            for file, kind, names in (
                (
                    "casadi_functions.py",
                    "Call",
                    "eval get_jacobian get_n_in get_n_out get_sparsity_in get_sparsity_out has_jacobian",
                ),
                (
                    "casadi_functions.py",
                    "Slopes",
                    "eval get_n_in get_n_out get_name_in get_name_out get_sparsity_in get_sparsity_out",
                ),
                ("crocoddyl_models.py", "Action", "calc calcDiff"),
                ("crocoddyl_models.py", "ManifoldState", "Jdiff JintegrateTransport rand"),
                ("torch_functions.py", "Call", "jvp setup_context vmap"),
            )
            for name in names.split()
        ),
        # what tests read of compiled elements
        "models/model.py: Model.element_parameters",
    ],
    "kernel": ["contact_impact", "contact_problem"],  # for bench and tests: the solver by itself
}

WAY_OUT = "delete it; a test that alone needs it defines it itself"
ENTRY_POINTS = {"cli.py: main"}  # found by name


def public_classes() -> set[str]:
    """Names of the public classes and of the classes they inherit from: their methods are for users."""
    things = [getattr(room, name) for room in public_rooms() for name in room.__all__]
    return {base.__name__ for kind in things if inspect.isclass(kind) for base in kind.__mro__}


def words(node: ast.AST) -> Counter[str]:
    """How often each name is mentioned below a node: `x` as well as `.x`."""
    return Counter(
        x.id if isinstance(x, ast.Name) else x.attr
        for x in ast.walk(node)
        if isinstance(x, ast.Name | ast.Attribute)
    )


def definitions(tree: ast.Module) -> Iterator[tuple[str, ast.AST]]:
    """Functions, classes and constants at the top of a module."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name, node
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from ((x.id, node) for x in targets if isinstance(x, ast.Name))


def imported_names() -> set[str]:
    """Every `module.name` that some file imports and mentions, or reaches through an imported module."""
    found = set()
    for path in python_files():
        mentioned = words(tree_of(path))
        for item in imports(path):
            if path.name != "__init__.py" or mentioned[item.name.rpartition(".")[2]]:
                found.add(item.name)
            if item.name in modules():
                found |= {f"{item.name}.{word}" for word in mentioned}
    return found


def test_every_name_is_used() -> None:
    imported = imported_names()
    public = {name for room in public_rooms() for name in room.__all__}
    offenders = []
    for module, path in modules().items():
        here = words(tree_of(path))
        packages = [module.rsplit(".", n)[0] for n in range(module.count(".") + 1)]
        for name, node in definitions(tree_of(path)):
            used = here[name] > words(node)[name] or any(f"{x}.{name}" in imported for x in packages)
            if not used and name not in public and not name.startswith("__"):
                offenders.append(f"{short(path)}: {name}")
    hold(
        "Every function, class and constant is used in src or public",
        set(offenders) - ENTRY_POINTS,
        STILL["names"],
        WAY_OUT,
    )


def test_every_method_is_used() -> None:
    mentioned = sum((words(tree_of(path)) for path in python_files()), Counter[str]())
    public = public_classes()
    hold(
        "Every method of a class that users do not see is called in src, private ones of public classes too",
        [
            f"{short(path)}: {kind.name}.{method.name}"
            for path in python_files()
            for kind in ast.walk(tree_of(path))
            if isinstance(kind, ast.ClassDef)
            for method in kind.body
            if isinstance(method, ast.FunctionDef) and not method.name.startswith("__")
            if method.name != "_repr_html_"  # notebooks call it
            if kind.name not in public or method.name.startswith("_")
            if mentioned[method.name] <= words(method)[method.name]
        ],
        STILL["methods"],
        WAY_OUT,
    )


def test_every_function_of_the_kernel_is_called() -> None:
    stub = ast.parse((SOURCE / "_kernel.pyi").read_text(encoding="utf-8"))
    functions = [x.name for x in ast.walk(stub) if isinstance(x, ast.FunctionDef | ast.ClassDef)]
    used = set().union(*(words(tree_of(path)) for path in python_files()))
    used |= {item.name.rpartition(".")[2] for path in python_files() for item in imports(path)}
    hold(
        "Every function of the compiled module is called in src",
        {name for name in functions if name not in used and not name.startswith("__")},
        STILL["kernel"],
        "delete the binding and the kernel code behind it",
    )
