# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Files of safetensors that take no space: the header that the library reads, then a hole as large as the tensors."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias, TypedDict

if TYPE_CHECKING:
    from _typeshed import StrOrBytesPath
    from torch import Tensor

_ALIGNMENT = 8  # bytes; alignment of the tensors
# The "dtype" in safetensors' format, by torch's and numpy's names, which serialize_file receives.
_DTYPES = {
    "bool": "BOOL",
    "uint8": "U8",
    "int8": "I8",
    "uint16": "U16",
    "int16": "I16",
    "uint32": "U32",
    "int32": "I32",
    "uint64": "U64",
    "int64": "I64",
    "float16": "F16",
    "bfloat16": "BF16",
    "float32": "F32",
    "float64": "F64",
    "complex64": "C64",
    "float8_e4m3fn": "F8_E4M3",
    "float8_e5m2": "F8_E5M2",
    "float8_e8m0fnu": "F8_E8M0",
}


class _Entry(NamedTuple):
    name: str
    dtype: str
    shape: list[int]
    size: int  # bytes


class _Serialized(TypedDict):
    """The form of each tensor for serialize_file before 0.8."""

    dtype: str
    shape: list[int]
    data: bytes


class _Spec(Protocol):
    """The attributes of safetensors' TensorSpec that are read."""

    dtype: str
    shape: list[int]
    data_len: int


Saved: TypeAlias = "Tensor | _Serialized | _Spec"


def write(path: StrOrBytesPath, tensors: Mapping[str, Saved], metadata: dict[str, str] | None) -> None:
    """Writes one; `tensors` are as for save_file or serialize_file. The file is empty if a type is not known."""
    entries = [_entry(name, of) for name, of in tensors.items()]
    with open(path, "wb") as file:
        if any(entry.dtype not in _DTYPES.values() for entry in entries):
            return
        header, size = _header(entries, metadata)
        file.write(len(header).to_bytes(8, "little") + header)
        file.truncate(8 + len(header) + size)


def ends_with_hole(path: StrOrBytesPath) -> bool:
    """True if it is a file whose contents are all at its beginning, followed by a hole."""
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        hole = os.lseek(file.fileno(), 0, os.SEEK_HOLE) if size > 0 else size
        if hole == size:
            return False
        try:
            os.lseek(file.fileno(), hole, os.SEEK_DATA)
        except OSError as error:
            return error.errno == errno.ENXIO
    return False


def copy(path: StrOrBytesPath, to: StrOrBytesPath) -> None:
    """Copies a hollow file as one."""
    with open(path, "rb") as file, open(to, "wb") as copied:
        size = os.fstat(file.fileno()).st_size
        hole = os.lseek(file.fileno(), 0, os.SEEK_HOLE)
        copied.write(os.pread(file.fileno(), hole, 0))
        copied.truncate(size)


def _entry(name: str, of: Saved) -> _Entry:
    """Makes an entry from a tensor, or from serialize_file's dict with "data" or, since 0.8, TensorSpec."""
    if isinstance(of, dict):
        dtype, shape, size = str(of["dtype"]), of["shape"], len(of["data"])
    elif hasattr(of, "data_len"):
        dtype, shape, size = of.dtype, of.shape, of.data_len
    else:
        dtype, shape, size = str(of.dtype).removeprefix("torch."), of.shape, of.numel() * of.element_size()  # type: ignore[union-attr]
    return _Entry(name, _DTYPES.get(dtype, str(dtype)), list(shape), size)


def _header(entries: list[_Entry], metadata: dict[str, str] | None) -> tuple[bytes, int]:
    """Returns it, and the bytes of tensors that follow: large elements first, so that each is aligned."""
    table: dict[str, object] = {} if metadata is None else {"__metadata__": metadata}
    begin = 0
    for entry in sorted(entries, key=lambda entry: (-_width(entry.dtype), entry.name)):
        end = begin + entry.size
        table[entry.name] = {"dtype": entry.dtype, "shape": entry.shape, "data_offsets": [begin, end]}
        begin = end
    text = json.dumps(table, separators=(",", ":")).encode()
    return text + b" " * (-len(text) % _ALIGNMENT), begin


def _width(dtype: str) -> int:
    """Returns the bits of an element: "BF16", "F8_E4M3"; "BOOL" is a byte."""
    digits = "".join(letter for letter in dtype.split("_")[0] if letter.isdigit())
    return int(digits or 8)
