"""Named arrays of numbers in a compressed file (.npz), read within bounds: a damaged file is an InputError.

Sizes are checked before anything is unpacked: a few kilobytes can claim terabytes.
"""

from __future__ import annotations

import math
import os
import stat
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError
from ...formats.writing.replace_file import as_path, replaced

FREE_SIZE, MOST_GROWTH = (
    2**28,
    100,
)  # [bytes] unpacked that are always accepted, and times the size of the file
SAMPLED = 256  # rows that are compressed for a trial
KINDS = "fiub"  # of numbers and truth values


def write_arrays(path: str | os.PathLike[str], arrays: Mapping[str, Any]) -> Path:
    """Write the file in one step. Arrays are compressed that shrink, but not too much to be read again."""
    known = {name: np.asarray(x) for name, x in arrays.items()}
    with replaced(path) as temporary:
        _write(temporary, known, {name: _shrinks(x) for name, x in known.items()})
        if sum(x.nbytes + 1024 for x in known.values()) > _bound(temporary.stat().st_size):
            _write(temporary, known, dict.fromkeys(known, False))
    return Path(path)


def _write(path: Path, arrays: Mapping[str, NDArray[Any]], compressed: Mapping[str, bool]) -> None:
    with zipfile.ZipFile(path, "w", compresslevel=1) as archive:
        for name, array in arrays.items():
            member = zipfile.ZipInfo(f"{name}.npy")
            member.compress_type = zipfile.ZIP_DEFLATED if compressed[name] else zipfile.ZIP_STORED
            with archive.open(member, "w", force_zip64=True) as file:
                np.lib.format.write_array(file, array, allow_pickle=False)


def _shrinks(array: NDArray[Any]) -> bool:
    """Whether compression halves an array, judged by some of its rows: it takes longer than writing them."""
    sample = (array[:: len(array) // SAMPLED + 1] if array.ndim else array).tobytes()
    return len(zlib.compress(sample, 1)) < len(sample) // 2


def read_arrays(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The arrays by name.

    Raises:
        InputError: where the file cannot be read, is not such a file, is damaged, or unpacks to too much.
    """
    file = as_path(path)
    try:
        if not stat.S_ISREG(file.stat().st_mode):
            raise InputError(f"{str(file)!r} cannot be read: it is not a regular file.")
        with zipfile.ZipFile(file) as archive:
            members, size = archive.infolist(), file.stat().st_size
            if sum(member.file_size for member in members) > _bound(size):
                raise InputError(
                    f"{str(file)!r} has {size:,} bytes and unpacks to more than {_bound(size):,}: it was not"
                    " written by Trajectory.save."
                )
            return {one.filename.removesuffix(".npy"): _array(archive, one) for one in members}
    except InputError:
        raise
    except OSError as error:
        raise InputError(f"{str(file)!r} cannot be read: {error.strerror or error}.") from None
    except (zipfile.BadZipFile, zlib.error, ValueError, EOFError, MemoryError) as error:
        raise damaged(file, error) from None
    except (NotImplementedError, RuntimeError, SyntaxError, TypeError, LookupError) as error:
        raise damaged(file, error) from None


def damaged(path: str | os.PathLike[str], error: Exception) -> InputError:
    """The error for a file that is not what `Trajectory.save` wrote."""
    reason = f"{type(error).__name__}: {error}".rstrip(".: ")
    return InputError(
        f"{os.fspath(path)!r} is not a trajectory written by Trajectory.save, or damaged ({reason})."
    )


def _bound(size: int) -> int:
    return FREE_SIZE + MOST_GROWTH * size


def _array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Any:
    """One array; its header must describe exactly the bytes that follow."""
    with archive.open(member) as file:
        version = np.lib.format.read_magic(file)
        read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
        if version not in read:
            raise ValueError(f"version {version} of .npy")
        shape, fortran, dtype = read[version](file)
        data = file.read()
    size = math.prod(shape)
    if dtype.kind not in KINDS or min(shape, default=0) < 0 or size * dtype.itemsize != len(data):
        raise ValueError(f"{member.filename} claims {dtype} of shape {shape} in {len(data)} bytes")
    array = np.frombuffer(data, dtype).reshape(shape, order="F" if fortran else "C")
    return np.array(array, dtype=dtype.newbyteorder("="), order="C")
