"""LawFiles: a control law as C++ behind a C interface: numbers, kernel, example loop, build file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..._kernel import ISA
from ...models.tables import position_names
from ...tracing.cpp_tables import CppTables
from ...tracing.kernel_headers import needed_headers
from ...tracing.library_build import compiler_flags
from ...tracing.written_files import c_name, comment_text, write_texts
from ..outputs.output import POSE, TURN
from .law_texts import BUILD, HEADER, KERNEL, LOOP, SOURCE
from .written_law import WrittenLaw

WIDTHS = (8, 16, 32)  # strides of matrices, as bindings/strides.hpp


class LawFiles:
    """The texts of one law."""

    def __init__(self, law: WrittenLaw) -> None:
        self.name = c_name(law.name)
        self._law = law
        self._names = {"name": self.name, "NAME": self.name.upper(), "width": self._width}

    @property
    def _width(self) -> int:
        """Stride of the kernel's matrices; 0 is one that is known at run time."""
        return next((n for n in WIDTHS if self._law.model.nv <= n), 0)

    def write(self, folder: Any) -> tuple[Path, ...]:
        """Write all files; returns their paths, those of the kernel headers last."""
        flags = compiler_flags(ISA)
        texts = {
            f"{self.name}.h": self.header(),
            f"{self.name}.cpp": self.source(),
            "law_kernel.cpp": KERNEL.format(**self._names),
            "loop.c": LOOP.format(**self._names),
            "CMakeLists.txt": BUILD.format(**self._names, flags=flags),
        }
        headers = needed_headers(["control/law/law_step.hpp"])
        texts |= {f"kernels/{name}": text for name, text in headers.items()}
        return write_texts(folder, texts, "law.export_code")

    def header(self) -> str:
        """The .h: sizes, names, statuses, functions."""
        law, model = self._law, self._law.model
        q, v = law.start
        listed = {
            "mechanism": comment_text(law.name),
            "q": comment_text(", ".join(position_names(model))),
            "v": comment_text(", ".join(model.coordinate_names)),
            "u": comment_text(", ".join(one.name for one in model.actuators)),
            "outputs": "\n".join(
                f"   {i}: {comment_text(', '.join(one))}" for i, one in enumerate(law.outputs)
            ),
            "nq": model.nq,
            "nv": model.nv,
            "nu": law.nu,
            "q0": ", ".join(repr(float(x)) for x in q),
            "v0": ", ".join(repr(float(x)) for x in v),
            "flags": compiler_flags(ISA),
            "constraints": self._enumerated("HOLD", list(law.constraints)),
            "sizes": self._enumerated("TARGET", [", ".join(one) for one in law.outputs]),
            "forces": comment_text(", ".join(law.force_names) or "none"),
        }
        return HEADER.format(**self._names, **listed)

    def _enumerated(self, part: str, names: Sequence[str]) -> str:
        """Names of constraints or outputs as an enumeration."""
        symbols: list[str] = []
        for name in names:
            text = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_").upper()
            symbol = f"{self.name.upper()}_{part}_{text}"
            symbols.append(symbol if symbol not in symbols else f"{symbol}_{len(symbols)}")
        return "".join(f"    {symbol} = {i},\n" for i, symbol in enumerate(symbols))

    def source(self) -> str:
        """The .cpp: the tables, and the functions of the header."""
        law, tables = self._law, CppTables()
        members = tables.text(law.members())
        rows = [f"{{{part.start}, {part.stop - part.start}}}" for part in law.constraints.values()]
        sizes = [str(_numbers_of(one)) for one in law.setup["output"]]
        return SOURCE.format(
            **self._names,
            arrays="\n".join(f"static {line}" for line in tables.lines),
            members=members,
            rows=", ".join(rows) or "{0, 0}",
            constraints=len(rows),
            sizes=", ".join(sizes) or "0",
            outputs=len(sizes),
        )


def _numbers_of(output: Any) -> int:
    """Numbers of the target of an output, where ControlInput looks for them."""
    size = int(output["size"])
    if output["accelerated"]:
        return size
    kind = int(output["kind"])
    return 24 if kind == POSE else 15 if kind == TURN else 3 * size
