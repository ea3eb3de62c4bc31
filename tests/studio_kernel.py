"""Tests that write studios are skipped where nothing could compile the kernel of studios."""

from __future__ import annotations

import pytest

from sarrus.viz.studios import KERNEL

NO_KERNEL = "no kernel.wasm: `make wasm` compiles it, with the package ziglang"
needs_kernel = pytest.mark.skipif(not KERNEL.is_file(), reason=NO_KERNEL)
