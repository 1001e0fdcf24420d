# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Compares roles guessed from torch's own history with those that hooks stated or inferred in the same run."""

import collections
import json
from pathlib import Path

import pytest
from support.programs import memtrace, on_card

PROGRAM = Path(__file__).with_name("snapshot_training.py")
# The least shares of a role's bytes that are right: of the hooks' bytes, and of the guess's. cuBLASLt's workspace looks
# like any other block of a forward if stacks have only Python frames; a model's input looks like any block of init.
FLOORS = {
    "parameter": (1.0, 1.0),
    "gradient": (1.0, 0.99),
    "optimizer_state": (1.0, 1.0),
    "activation": (0.99, 0.85),
    "temporary": (0.99, 0.99),
    "workspace": (0.85, 1.0),
}
Blocks = list[tuple[int, str]]


def blocks(file: Path) -> Blocks:
    """Returns the size and role of every allocation, in order."""
    done = memtrace("export", "--to", "jsonl", "-o", "-", str(file))
    assert done.status == 0, done.err
    events = (json.loads(line) for line in done.out.splitlines())
    return [(event["size"], event["role"]) for event in events if event["event"] == "alloc"]


def history(folder: Path, *arguments: str, observed: bool = True) -> Blocks:
    """Returns the roles guessed from torch's own record of the program, which runs in `folder`."""
    options = ("--allocator", "native", *(() if observed else ("--no-trace",)))
    on_card(PROGRAM, folder, *arguments, options=options, output=observed)
    return blocks(folder / "history.pickle")


def share(part: int, whole: int) -> float:
    """Returns the share, or 1 if the whole is 0: torch 2.15 takes no workspace here."""
    return part / whole if whole else 1.0


@pytest.mark.parametrize(
    ("kind", "length"), [("plain", "256"), ("plain", "8"), ("checkpointed", "256"), ("reentrant", "8")]
)
def test_guessed_roles_agree_with_the_hooks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, length: str
) -> None:
    monkeypatch.chdir(tmp_path)
    guessed = history(tmp_path, kind, length)
    known = blocks(tmp_path / "run.trace")
    assert [size for size, _ in known] == [size for size, _ in guessed]
    by_hooks, by_guess, alike = (collections.Counter[str]() for _ in range(3))
    for (size, role), (_, guess) in zip(known, guessed, strict=True):
        by_hooks[role] += size
        by_guess[guess] += size
        alike[role] += size * (role == guess)
    shares = {role: (share(alike[role], by_hooks[role]), share(alike[role], by_guess[role])) for role in FLOORS}
    print({role: f"{found:.2%} of {by_hooks[role]}, {right:.2%}" for role, (found, right) in shares.items()})
    for role, floors in FLOORS.items():
        assert all(share >= floor for share, floor in zip(shares[role], floors, strict=True)), (role, shares)


def test_roles_do_not_depend_on_our_hooks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert history(tmp_path, "plain", "8") == history(tmp_path, "plain", "8", observed=False)
