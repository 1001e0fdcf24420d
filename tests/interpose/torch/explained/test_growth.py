# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Growth over iterations that are not optimizer steps, in real programs on a simulated card."""

from functools import cache
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from support.json_object import JsonObject
from support.programs import MIB, memtrace, on_card

PROGRAMS = Path(__file__).with_name("growing_programs.py")
LINES = PROGRAMS.read_text().splitlines()
POSTPONES = ("half the batch", "half the micro-batch", "expandable segments", "memtrace's allocator", "no second copy")


@cache
def run_out(name: str) -> tuple[JsonObject, str]:
    """Runs a program until a small card is full; returns its report as JSON and as text."""
    with TemporaryDirectory() as folder:
        done = on_card(PROGRAMS, Path(folder), name, card="1GiB", expect=1)
        return done.report(), " ".join(memtrace("report", "--verbose", str(done.trace)).out.split())


def place(function: str, text: str) -> str:
    """Returns the line of a program's function that contains the text, as reports name it."""
    begin = next(number for number, line in enumerate(LINES) if line.startswith(f"def {function}("))
    line = next(number for number in range(begin, len(LINES)) if text in LINES[number])
    return f"{PROGRAMS.name}:{line + 1}"


# In torch 2.11 the first product's workspace is among the loop's allocations, in 2.15 there is no workspace.
CACHES_BEGIN = "kept.append" if version("torch").startswith("2.11.") else "x = torch"
# The line that begins the loop, the line that allocates the kept memory, its bytes an iteration, and its keeper.
GROWING = {
    "encode": ("x = torch", "kept.append", MIB, ("elements", "kept")),
    "caches": (CACHES_BEGIN, "kept.append", 32 * MIB, ("elements", "kept")),
    "sum_of_losses": ("x = torch", "loss = NET", 9 * MIB, ("graph", "running")),
    "state_handed_on": ("x = torch", "state = cell", 13 * MIB, ("graph", "state")),
    "penalties": ("image = torch", "image = torch", 8 * MIB, ("gradients", "")),
    "one_line": ("losses.append", "losses.append", 4 * MIB, ("graphs_of_elements", "losses")),
    "micro_batches": ("x = torch", "out = NET", MIB, ("elements", "outputs")),
    "cat": ("x = torch", "seen = torch.cat", MIB, None),
    "without_modules": ("x = torch", "kept.append", MIB, ("elements", "kept")),
}


@pytest.mark.parametrize("name", GROWING)
def test_growth_is_reported_with_loop_line_and_keeper(name: str) -> None:
    first, makes, size, keeper = GROWING[name]
    report, text = run_out(name)
    growth = report["growth"]
    assert growth["iteration"]["kind"] == "loop" and growth["iteration"]["line"] == place(name, first), growth
    assert place(name, makes) in [site["line"] for site in growth["sites"]], growth
    assert abs(growth["bytes_per_step"] - size) < 0.05 * size, growth
    if keeper is not None:
        assert (growth["keeper"]["kind"], growth["keeper"]["name"]) == keeper, growth["keeper"]
    assert "Memory in use grows by" in text
    assert not any(row["name"] in POSTPONES for row in report["remedies"]), report["remedies"]
    assert report["remedies"][0]["name"] == "do not keep" and place(name, makes) in report["remedies"][0]["change"]


def first_change(name: str) -> str:
    report, _text = run_out(name)
    first = report["remedies"][0]
    assert first["name"] == "do not keep", report["remedies"]
    return str(first["change"])


def test_mean_that_keeps_its_whole_block_is_to_become_a_number(tmp_path: Path) -> None:
    for name in ("averages", "averages_detached"):
        change = first_change(name)
        assert ".item()" in change and "or .detach()" not in change, change
    on_card(PROGRAMS, tmp_path, "averages_as_numbers", card="600MiB,context=480MiB")


def test_tuple_state_is_to_be_detached_element_by_element() -> None:
    change = first_change("pair_handed_on")
    assert change.startswith("hidden = tuple(each.detach() for each in hidden)"), change
    assert "no_grad" not in change


def test_growing_modules_are_to_be_deleted() -> None:
    change = first_change("heads")
    assert change.startswith("delete the modules that are no longer used"), change


def test_line_of_a_method_and_its_keeping_attribute_are_named() -> None:
    report, text = run_out("evaluate")
    growth = report["growth"]
    line = next(number for number, text in enumerate(LINES) if "self.predictions.append" in text) + 1
    assert growth["sites"][0]["line"] == f"{PROGRAMS.name}:{line}"
    assert growth["sites"][0]["bytes_per_step"] == MIB
    assert growth["keeper"]["name"] == "meter.predictions"
    assert "The list 'meter.predictions'" in text


@pytest.mark.parametrize("name", ["load", "deep", "epochs", "adam"])
def test_temporary_or_required_memory_is_not_growth(name: str) -> None:
    report, text = run_out(name)
    assert not report["growth"]["sites"] and "grows by" not in text, report["growth"]


def test_graphs_holding_deleted_models_are_named() -> None:
    report, text = run_out("outputs_of_deleted")
    assert "belong to models that the program deleted" in text and "in the list 'outputs'" in text
    deleted = report["deleted_models"]
    assert deleted["keeper"]["name"] == "outputs" and deleted["keeper"]["container"] == "list"
    assert deleted["bytes"] > 0 and deleted["bytes"] % (8 * (2048 * 2048 + 2048) * 4) == 0
    first = report["remedies"][0]
    assert first["name"] == "do not keep"
    assert place("outputs_of_deleted", "outputs.append") in first["change"]
    assert not any(row["name"] == "no second copy" for row in report["remedies"])


def test_deleted_models_held_without_a_graph_are_not_named() -> None:
    _report, text = run_out("parameters_of_deleted")
    assert "that the program deleted" not in text and "takes it" not in text
