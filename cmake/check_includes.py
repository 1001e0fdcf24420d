# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Checks that every #include follows the dependency direction of docs/design/structure.md.

Usage: check_includes.py ROOT. Exit 0 if all is well, 1 with one line per violation otherwise.
"""

import re
import sys
from pathlib import Path

CARD = "interpose/simulated_card"
ANALYSIS = "tools/analysis"


def _layers(folder: str, *names: str) -> list[str]:
    return [f"{folder}/{name}" for name in names]


# Layers, from the lowest up: each may include those before it.
ALLOCATOR = _layers(
    "allocator", "card", "blocks", "accounts", "segment", "plan", "frees", "pools", "heap/parts", "heap"
)
TRACE = _layers("profiler/trace", "vocabulary", "events", "coding", "writing", "reading", "text")
RECORDER = ["profiler/recorder/accounts", "profiler/recorder"]
MODEL = _layers(CARD, "interface", "spec", "memory", "test_bed", "work/code", "work")
MOMENT = _layers(ANALYSIS, "source", "replayed", "holders", "kept", "verdict", "cures", "explained")
CORE_USES = [
    *ALLOCATOR,
    "allocator/cuda",
    *TRACE,
    *RECORDER,
    "profiler/cupti",
    f"{CARD}/interface/card_control.h",
]
# The folders that tools may use, including those of the tools themselves.
ANALYSED = [
    *TRACE,
    *ALLOCATOR,
    *MOMENT,
    ANALYSIS,
    *_layers(ANALYSIS, "jobs", "views", "checks", "planning", "packing", "replay"),
    f"{CARD}/spec/card_spec.h",
    f"{CARD}/spec/card_profile.h",
    f"{CARD}/interface/card_link.h",
    "interpose/bench/request_sequence.h",
    "tools/remedies",
]
TOOLS = [
    "tools/launch",
    "tools/bench",
    "tools/fleet",
    *_layers("tools/fit", "files", "forks", "plans", "trials", "needs", "changes", "answer", "sizes", "cheapest"),
    "tools/fit",
    "tools/fit/ranks",
    "tools/interchange",
    *_layers("tools/interchange", "importers", "parquet", "writers/rows", "writers"),
    *_layers("tools/report", "words", "verdict", "sections/moved", "sections"),
    "tools/report",
    *_layers("tools/report", "fit", "page", "picture", "bench"),
    *_layers("tools/command", "help", "program", "inputs", "outputs", "verbs"),
    "tools",
]
# All folders may include base. Folder -> what else its files may include, besides themselves. The longest matching
# folder counts.
MAY_INCLUDE: dict[str, list[str]] = {
    "base": [],
    "messages": [],
    **{layer: ALLOCATOR[:place] for place, layer in enumerate(ALLOCATOR)},
    "allocator/cuda": ALLOCATOR,
    **{layer: TRACE[:place] for place, layer in enumerate(TRACE)},
    "profiler/recorder": [*TRACE, "allocator/accounts/allocation_observer.h", "profiler/recorder/accounts"],
    "profiler/recorder/accounts": [*TRACE],
    "profiler/cupti": [*TRACE],
    "interpose/core": [
        *CORE_USES,
        "interpose/core/recorded_text",
        "interpose/core/stacks",
        "interpose/core/outside",
        "interpose/core/cards",
        "interpose/core/room",
    ],
    # The C ABI stands above the process; the core's other folders see its public header, and nothing of the process.
    "interpose/core/abi": [
        *CORE_USES,
        "interpose/core",
        "interpose/core/cards",
        "interpose/core/stacks",
        "interpose/core/room",
    ],
    "interpose/core/cards": [*CORE_USES, "interpose/core/outside", "interpose/core/memtrace.h"],
    "interpose/core/room": [*CORE_USES, "interpose/core/cards"],
    "interpose/core/recorded_text": ["profiler/trace/events/amount.h"],
    "interpose/core/stacks": [
        *TRACE,
        *RECORDER,
        "interpose/core/recorded_text",
        "interpose/core/memtrace.h",
    ],
    "interpose/core/outside": [
        *TRACE,
        *RECORDER,
        "allocator/card",
        "allocator/accounts/allocation_observer.h",
        f"{CARD}/interface/card_control.h",
        "interpose/core/memtrace.h",
    ],
    "interpose/torch": [
        "profiler/trace/vocabulary/facts.h",
        "interpose/core/memtrace.h",
        "profiler/trace/vocabulary/phases.def",
        f"{CARD}/interface/card_control.h",
        f"{CARD}/interface/card_ranges.h",
        f"{CARD}/interface/card_times.h",
    ],
    "interpose/preload": ["interpose/core/memtrace.h"],
    "interpose/bench": [f"{CARD}/interface/card_control.h"],
    **{layer: MODEL[:place] for place, layer in enumerate(MODEL)},
    CARD: MODEL,
    f"{CARD}/driver": [*MODEL, f"{CARD}/symbols", f"{CARD}/machine.h"],
    f"{CARD}/wheels": [],
    f"{CARD}/runtime": [f"{CARD}/interface", f"{CARD}/spec", f"{CARD}/wheels", f"{CARD}/work/occupancy.h"],
    **{
        folder: [f"{CARD}/interface", f"{CARD}/wheels"]
        for folder in _layers(CARD, "libraries", "dnn", "collectives", "cupti")
    },
    f"{CARD}/symbols": [],
    **{layer: [*TRACE, "tools/remedies", *MOMENT[:place]] for place, layer in enumerate(MOMENT)},
    ANALYSIS: [*TRACE, *MOMENT],
    f"{ANALYSIS}/jobs": [*TRACE, ANALYSIS, *MOMENT],
    f"{ANALYSIS}/views": [*TRACE, ANALYSIS, *MOMENT],
    f"{ANALYSIS}/checks": [*TRACE, f"{ANALYSIS}/source"],
    f"{ANALYSIS}/planning": [
        *TRACE,
        "allocator/plan",
        "allocator/blocks",
        f"{ANALYSIS}/packing",
        f"{ANALYSIS}/source",
        f"{ANALYSIS}/replayed",
    ],
    f"{ANALYSIS}/packing": [],
    f"{ANALYSIS}/replay": [*TRACE, *ALLOCATOR, ANALYSIS, *MOMENT, f"{CARD}/spec/heap_addresses.h"],
    **{layer: [*ANALYSED, *TOOLS[:place]] for place, layer in enumerate(TOOLS)},
    "tools/remedies": [],
    "bench": [
        *ALLOCATOR,
        *TRACE,
        *RECORDER,
        "interpose/core/memtrace.h",
        "tests",
        f"{ANALYSIS}/packing",
        f"{ANALYSIS}/planning",
        "tools",
    ],
    "tests": [""],
}
# These folders print sentences.
for _folder in MAY_INCLUDE:
    if _folder.startswith(("tools", "interpose/core")):
        MAY_INCLUDE[_folder] = [*MAY_INCLUDE[_folder], "messages"]
# System headers that only these folders may include.
ONLY_IN = {
    "cuda.h": [
        "allocator/cuda",
        "interpose/preload",
        f"{CARD}/driver",
        f"{CARD}/runtime",
        f"{CARD}/interface",
        f"{CARD}/libraries",
        f"{CARD}/dnn",
        f"{CARD}/collectives",
    ],
    "cuda_runtime_api.h": ["bench", f"{CARD}/runtime", "interpose/torch"],
    "cupti.h": ["profiler/cupti", f"{CARD}/cupti"],
    "cudnn.h": [f"{CARD}/dnn"],
    "cufft.h": [f"{CARD}/libraries"],
    "cusolverDn.h": [f"{CARD}/libraries"],
    "cusparse.h": [f"{CARD}/libraries"],
    "Python.h": [],
}
# A file of a report includes the sections of an explanation that it shows (tools/analysis/explained). Only these show so
# many that they take the whole explanation.
WHOLE_EXPLANATION = f"{ANALYSIS}/explanation.h"
TAKE_WHOLE_EXPLANATION = _layers(
    "tools/report",
    "diff_document.h",
    "json_report.h",
    "page/page.h",
    "page/page_data.h",
    "picture/report_picture.h",
    "report_document.h",
    "sections/cards_table.h",
    "sections/fragmentation_table.h",
    "sections/growth_table.h",
    "sections/holder_table.h",
    "sections/ledger_table.h",
    "sections/next_commands.h",
    "sections/verdict_text.h",
    "stats_report.h",
    "text_report.h",
    "tree_report.h",
    "verdict/end_text.h",
    "verdict/unneeded_text.h",
)
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
            is_section = path.startswith("tools/report/") and path not in TAKE_WHOLE_EXPLANATION
            if target == WHOLE_EXPLANATION and is_section:
                found.append(f"{path} must not include {target}: include the sections of it that you need")
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
    if folder_of(target) in (home, "base"):
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
