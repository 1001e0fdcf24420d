# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Says why no part of this installation fits a torch, in a sentence for the person who runs the program."""

import platform
import re
from types import ModuleType

from memtrace._core.package import minor_of

# The wheel's tag says the same to pip.
_ARCHITECTURE = "x86_64"
# Matches releases: 2.11.0, 2.11.0+cu126 and 2.11.0.post1. Other builds have more: 2.11.0.dev20260101 (a nightly),
# 2.11.0a0+git1234567 (from its sources, such as NVIDIA's containers).
_RELEASE = re.compile(r"\d+\.\d+\.\d+(\.post\d+)?(\+[A-Za-z0-9.]+)?")


def without_cuda(torch: ModuleType) -> str:
    """Says what torch was built for instead of CUDA; "" if it was built for CUDA."""
    if torch.version.cuda is not None:
        return ""
    for name, maker in (("hip", "AMD's ROCm"), ("xpu", "Intel's XPU")):
        if getattr(torch.version, name, None) is not None:
            return (
                f"torch {torch.__version__} is built for {maker}, but memtrace records only CUDA memory. "
                "The program runs without memtrace."
            )
    return f"torch {torch.__version__} is a CPU-only build, so there is no CUDA memory to record."


def without_shim(version: str, supported: list[str]) -> str:
    """Says why torch `version` has no shim among those for the minors `supported`; "" if it has one."""
    if minor_of(version) not in supported:
        return f"torch {version} is not one that this memtrace supports ({', '.join(supported) or 'none'})."
    # A struct of torch may have other fields a month before its release, and nothing in the library shows that.
    if not _RELEASE.fullmatch(version):
        return f"torch {version} is not a release, and memtrace supports only releases of torch {minor_of(version)}."
    return ""


def not_loaded(version: str, error: OSError) -> str:
    """Says why the existing shim for torch `version` could not be loaded."""
    if platform.machine() != _ARCHITECTURE:
        return f"This memtrace is built for {_ARCHITECTURE}, but this machine is {platform.machine()} ({error})."
    return f"torch {version} was not built as PyPI's is ({error})."
