# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""PyTorch's own tests of torch.cuda, with torch's own allocator and with ours on the simulated card.

Every id of passing_native.txt (corpus: peer/README.md) passes in its mode: S unchanged, V if the contents of device
tensors are not compared, X also with expandable segments. With our allocator the ids in native_policy.txt are left out,
because they test what torch's own allocator does, not what it promises. The suite forks a child for each test, so the
card is copied on fork. Seven tests require that the card is still busy after `torch.cuda._sleep`: they run with lazy
events.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.corpus import CORPUS, ROOT

PEER = CORPUS / "peer"
LAUNCHER = ROOT / "tests/interpose/simulated_card/card_launcher.py"
MEMTRACE = Path(sys.executable).with_name("memtrace")
NATIVE_POLICY = Path(__file__).with_name("native_policy.txt")
MOST_EXEMPT = 15
pytestmark = pytest.mark.skipif(not PEER.is_dir(), reason="no corpus of peers (set MEMTRACE_CORPUS to its folder)")
for needed in ("expecttest", "hypothesis"):
    pytest.importorskip(needed, reason=f"PyTorch's tests need the Python package {needed}")

MODES = {
    "S": {},
    "V": {"RELAX": "1"},
    "X": {"RELAX": "1", "EXPANDABLE": "1"},
}
ASK_A_BUSY_CARD = {
    f"test_cuda::TestCuda::{name}"
    for name in (
        "test_caching_pinned_memory",
        "test_copy_non_blocking",
        "test_events",
        "test_record_stream",
        "test_record_stream_on_shifted_view",
        "test_to_cpu_blocking_by_default",
        "test_to_non_blocking",
    )
}


def expected(mode: str) -> set[str]:
    """Lists the ids of passing_native.txt that pass in a mode."""
    rows = [line.split() for line in (PEER / "passing_native.txt").read_text().splitlines() if line[:1] in "SV"]
    return {name for marks, name in rows if mode in marks}


def exempt() -> set[str]:
    """Lists the ids of native_policy.txt, one a line before its reason."""
    lines = NATIVE_POLICY.read_text().splitlines()
    return {line.split()[0] for line in lines if line and not line.startswith("#")}


def launcher(allocator: str, events: str, folder: Path) -> list:
    """Starts Python on a card: unobserved with torch's allocator, as a user would with ours."""
    if allocator == "native":
        return [sys.executable, LAUNCHER, "24GiB"]
    options = ["-q", "-f", "-o", folder / "run.trace", "--events", events, "--host-values", "off"]
    return [MEMTRACE, "run", "--card", "24GiB", *options, "--", sys.executable]


def outcomes(ids: set[str], mode: str, events: str, allocator: str, folder: Path) -> dict[str, str]:
    """Runs those tests. Returns each one's outcome, with the end of its message if it did not pass."""
    only, out = folder / f"{events}.only", folder / f"{events}.jsonl"
    only.write_text("\n".join(name.replace("::", ".") for name in ids))
    setting = {
        **MODES[mode],
        "MEMTRACE_CARD_FORK": "copy",
        "MEMTRACE_CARD_EVENTS": events,
        "ONLY": str(only),
        "TMO": "600",  # one of them compiles C++
        "TORCH_EXTENSIONS_DIR": str(folder / "extensions"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    command = [*launcher(allocator, events, folder), PEER / "forkrun.py", "test_cuda", out]
    run = subprocess.run(
        command, env={**os.environ, **setting}, cwd=folder, capture_output=True, text=True, timeout=900
    )
    assert run.returncode == 0, run.stderr[-2000:]
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    return {row["id"]: row["o"] if row["o"] == "passed" else f"{row['o']}: {row['m'][-300:]}" for row in rows}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("allocator", ["native", "memtrace"])
def test_expected_torch_tests_pass_on_the_card(allocator, mode, tmp_path):
    ids = expected(mode) - (exempt() if allocator == "memtrace" else set())
    found = outcomes(ids - ASK_A_BUSY_CARD, mode, "eager", allocator, tmp_path)
    found |= outcomes(ids & ASK_A_BUSY_CARD, mode, "lazy", allocator, tmp_path)
    assert found.keys() == ids
    assert {name: outcome for name, outcome in found.items() if outcome != "passed"} == {}


def test_exempt_tests_are_few_and_exist():
    everything = set().union(*(expected(mode) for mode in MODES))
    assert exempt() <= everything
    assert len(exempt()) <= MOST_EXEMPT
