# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The places of the package's libraries, and the versions of torch that they were built for."""

import re
import sysconfig
from dataclasses import dataclass
from importlib.machinery import ModuleSpec
from pathlib import Path

from memtrace._patching.signal_exceptions import raise_if_from_outside

PACKAGE = Path(__file__).parents[1]
CARD = PACKAGE / "lib" / "simulated_card"
INJECT = PACKAGE / "inject"  # on PYTHONPATH: memtrace starts with the interpreter
LIBRARIES = PACKAGE / "lib"
CORE_LIBRARY = LIBRARIES / "libmemtrace.so"


def program() -> Path | None:
    """Finds the program `memtrace`; None if it is not installed."""
    # The package may come from an environment below this one: ENVIRONMENT/lib/pythonX.Y/site-packages/memtrace.
    folders = [Path(sysconfig.get_path("scripts")), PACKAGE.parent / "bin", PACKAGE.parents[3] / "bin"]
    return next((file for folder in folders if (file := folder / "memtrace").exists()), None)


def supported_torch() -> list[str]:
    """Lists the torch minors that this installation has a shim for, for example `["2.11"]`."""
    minors = (folder.name.removeprefix("torch-") for folder in (PACKAGE / "lib").glob("torch-*"))
    return sorted(minors, key=lambda minor: [int(part) for part in minor.split(".")])


def shim_library(torch_minor: str) -> Path:
    """Returns the path of the shim for a torch minor; it exists only for those of `supported_torch()`."""
    return PACKAGE / "lib" / f"torch-{torch_minor}" / "libmemtrace_torch.so"


def minor_of(version: str) -> str:
    """Returns major and minor of a torch version, for example `2.11`."""
    return ".".join(version.split(".")[:2])


@dataclass(frozen=True)
class TorchVersion:
    """The contents of torch's `version.py`, read without importing torch."""

    full: str
    cuda: str | None

    @property
    def minor(self) -> str:
        """Major and minor, for example `2.11`."""
        return minor_of(self.full)

    @property
    def cuda_major(self) -> str | None:
        """The major version of the CUDA that it was built for, for example `13`; None if it was built without."""
        return None if self.cuda is None else self.cuda.split(".")[0]


def torch_version(spec: ModuleSpec) -> TorchVersion | None:
    """Reads the version of the torch that `spec` would import; None if it is not known."""
    if spec.origin is None:
        return None
    try:
        text = (Path(spec.origin).parent / "version.py").read_text(encoding="utf-8")
    except OSError as error:
        raise_if_from_outside(error)
        return None
    full = re.search(r"^__version__ = '([^']+)'", text, re.M)
    cuda = re.search(r"^cuda(?:: [^=]+)? = '([^']+)'", text, re.M)
    return TorchVersion(full.group(1), cuda.group(1) if cuda else None) if full else None
