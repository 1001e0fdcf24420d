# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Checks that every #include follows the dependency direction of docs/structure.md.

Usage: check_includes.py ROOT. Exit 0 if all is well, 1 with one line per violation otherwise.
"""

import re
import sys
from pathlib import Path

# folder -> what its files may include, besides themselves. The longest matching folder counts.
MAY_INCLUDE = {
    "allocator": [],
    "allocator/cuda": ["allocator"],
    "profiler/trace": [],
    "profiler/recorder": [
        "profiler/trace",
        "allocator/allocation_observer.h",
        "allocator/fibonacci_hash.h",
        "allocator/mutex.h",
        "allocator/units.h",
    ],
    "profiler/cupti": ["profiler/trace"],
    "interpose/core": [
        "allocator",
        "allocator/cuda",
        "profiler/trace",
        "profiler/recorder",
        "profiler/cupti",
        "interpose/simulated_card/card_control.h",
        "tools/remedies",
    ],
    "interpose/torch": [
        "profiler/trace/facts.h",
        "interpose/core/memtrace.h",
        "interpose/simulated_card/card_ranges.h",
    ],
    "interpose/preload": ["interpose/core/memtrace.h"],
    "interpose/simulated_card": [],
    "tools": [
        "profiler/trace",
        "allocator",
        "interpose/simulated_card/card_spec.h",
        "interpose/simulated_card/card_profile.h",
        "tools/remedies",
    ],
    "tools/remedies": [],
    "bench": [
        "allocator",
        "profiler/trace",
        "profiler/recorder",
        "interpose/core/memtrace.h",
        "tests",
        "tools",
    ],
    "tests": [""],
}
# system headers that only one folder may see
ONLY_IN = {
    "cuda.h": ["allocator/cuda", "interpose/preload", "interpose/simulated_card"],
    "cuda_runtime_api.h": ["bench", "interpose/simulated_card", "interpose/torch"],
    "cupti.h": ["profiler/cupti", "interpose/simulated_card"],
    "cudnn.h": ["interpose/simulated_card"],
    "cufft.h": ["interpose/simulated_card"],
    "cusolverDn.h": ["interpose/simulated_card"],
    "cusparse.h": ["interpose/simulated_card"],
    "Python.h": [],
}
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]', re.M)


def folder_of(path: str) -> str:
    matches = [f for f in MAY_INCLUDE if path == f or path.startswith(f + "/")]
    return max(matches, key=len, default="")


def violations(root: Path) -> list[str]:
    found = []
    for source in sorted(p for s in ("*.h", "*.cc") for p in root.glob(f"*/**/{s}")):
        path = source.relative_to(root).as_posix()
        home = folder_of(path)
        if not home or path.startswith(("build/", ".venv")):
            continue
        for quote, target in INCLUDE.findall(source.read_text()):
            ours = target.split("/")[0] in {f.split("/")[0] for f in MAY_INCLUDE}
            if quote == '"' and ours and not allowed(home, target):
                found.append(f"{path} must not include {target}: {home} may use {MAY_INCLUDE[home]}")
            if target in ONLY_IN and home != "tests" and home not in ONLY_IN[target]:
                found.append(f"{path} must not include <{target}>: only {ONLY_IN[target]} may")
            has_arrow = path.startswith("tools/interchange/parquet/")
            if target.startswith(("arrow/", "parquet/")) and not has_arrow:
                found.append(f"{path} must not include <{target}>: Arrow is for tools/interchange/parquet")
            has_torch = home in ("interpose/torch", "bench") or path.startswith("tests/interpose/torch/")
            if target.startswith(("torch/", "c10/", "ATen/")) and not has_torch:
                found.append(
                    f"{path} must not include <{target}>: LibTorch is for interpose/torch, its tests and bench"
                )
    return found


def allowed(home: str, target: str) -> bool:
    if folder_of(target) == home:
        return True
    for rule in MAY_INCLUDE[home]:
        if target == rule or rule == "":
            return True
        if folder_of(target) == rule and not target.endswith(".inc"):
            return True
    return False


if __name__ == "__main__":
    wrong = violations(Path(sys.argv[1]))
    print("\n".join(wrong) or "every include follows the dependency direction")
    sys.exit(1 if wrong else 0)
