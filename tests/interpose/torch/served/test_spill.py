# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""A training that does not fit goes on with memory of the host."""

from pathlib import Path

import pytest
from support.programs import MIB, memtrace, on_card

PROGRAM = Path(__file__).with_name("spilling_training.py")
REFERENCE = Path(__file__).with_name("spilled_reference.py")
CARD = "2.75GiB"  # the optimizer step needs 2,560 MiB, and the context 500 MiB
LACKING = (5 * 512 + 500 - 2816) * MIB


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    return on_card(
        PROGRAM, tmp_path_factory.mktemp("spill"), card=CARD, options=("--spill", "1GiB", "--events", "lazy")
    )


def test_it_completes_with_little_more_than_it_lacked_on_the_host(done):
    told = done.printed()
    (pressure,) = told["pressures"]  # only the first step moved memory
    assert LACKING <= pressure["moved_bytes"] <= LACKING + 256 * MIB
    assert pressure["host_bytes"] == pressure["moved_bytes"]
    assert told["same address"]
    assert told["memory_reserved"] <= (2816 - 500) * MIB
    assert told["ooms"] == 0


def test_the_card_sees_no_fault_and_one_line_tells_of_the_first_move(done):
    assert done.report()["simulated"]["first_faults"] == []
    assert done.err.count("so the host has") >= 1
    assert "mostly of role optimizer_state" in done.err


def test_the_trace_and_the_report_say_what_moved_and_what_came_back(done):
    moved = done.report()["moved"]
    assert {row["kind"] for row in moved} == {"spilled", "came_back"}
    spilled = sum(row["bytes"] for row in moved if row["kind"] == "spilled")
    assert {row["to"] for row in moved if row["kind"] == "spilled"} == {"optimizer_state"}
    assert spilled == sum(row["bytes"] for row in moved if row["kind"] == "came_back")
    assert spilled == done.printed()["pressures"][0]["moved_bytes"]
    text = memtrace("report", "--verbose", str(done.trace)).out
    assert "MOVED TO THE HOST" in text
    first_screen = " ".join(memtrace("report", str(done.trace)).out.split())
    told = f"{spilled / MIB:.1f} MiB of its memory moved to the host. All of it came back or was freed."
    assert told in first_screen
    assert memtrace("verify", str(done.trace)).status == 0


def test_the_ledger_has_the_card_s_memory_and_beside_it_what_is_on_the_host(done):
    moved = done.printed()["pressures"][0]["moved_bytes"]
    report = done.report("--at", "step:2")  # the optimizer's states moved in step 1
    ledger = {row["name"]: row["bytes"] for row in report["ledger"]}
    assert sum(ledger.values()) == report["card"]["bytes"] == 2816 * MIB
    assert ledger["unexplained"] == 0
    assert {row["name"]: row["bytes"] for row in report["off_card"]} == {"on_host": moved}
    assert "off_card" not in done.report("--at", "end"), "at the end all of it is back"
    text = " ".join(memtrace("report", "--at", "step:2", "--verbose", str(done.trace)).out.split())
    assert f"BESIDE THE CARD MiB in use on the host {moved / MIB:.2f}" in text


@pytest.fixture(scope="module", params=["frozen", "no_grad"])
def beside_reference(request, tmp_path_factory):
    return on_card(
        REFERENCE,
        tmp_path_factory.mktemp("reference"),
        request.param,
        card="3.25GiB",  # the optimizer step needs 3,072 MiB, and the context 500 MiB
        options=("--spill", "1GiB", "--events", "lazy"),
    )


def test_an_idle_reference_goes_first_and_comes_back(beside_reference):
    told = beside_reference.printed()
    moved = [row for row in beside_reference.report()["moved"] if row["kind"] == "spilled"]
    assert [row["to"] for row in moved if row["step"] == 1] == ["parameter"]
    lacking = (3072 + 500 - 3328) * MIB
    assert lacking <= moved[0]["bytes"] <= lacking + 128 * MIB
    assert told["ooms"] == 0
    for moment in ("trained", "slept", "back", "in its forward"):
        assert told[moment]["same address"] and told[moment]["same contents"], moment
    assert "mostly of role parameter" in beside_reference.err
    assert beside_reference.report()["simulated"]["first_faults"] == []


def test_products_with_the_reference_on_the_host_pass_the_bus(beside_reference):
    moved = [
        row["bytes"] for row in beside_reference.report()["moved"] if row["kind"] == "spilled" and row["step"] == 1
    ]
    assert beside_reference.report()["simulated"]["product_bus_bytes"] == sum(moved)  # its forward in step 2 reads it


def test_a_reference_on_the_host_sleeps_and_wakes_on_the_card(beside_reference):
    told, report = beside_reference.printed(), beside_reference.report("--at", "end")
    card, host, woke = told["slept"]["moved"]
    on_host = told["trained"]["host_bytes"]
    assert on_host > 0 and (card, host, woke) == (512 * MIB - on_host, 512 * MIB, 512 * MIB)
    back = sum(row["bytes"] for row in report["moved"] if row["kind"] == "came_back")
    on_host = sum(row["bytes"] for row in report.get("off_card", []) if row["name"] == "on_host")
    assert back + on_host == sum(row["bytes"] for row in report["moved"] if row["kind"] == "spilled")
    assert memtrace("verify", str(beside_reference.trace)).status == 0


def test_a_reference_in_its_forward_stays(beside_reference):
    moved = [row for row in beside_reference.report()["moved"] if row["kind"] == "spilled" and row["step"] >= 16]
    assert {row["to"] for row in moved} == {"optimizer_state"}


CACHE = Path(__file__).with_name("spilled_cache.py")


def beside_cache(folder, phase, expect=0, options=("--spill", "1GiB", "--events", "lazy")):
    # The training needs 2,560 MiB, the cache 512 and the context 500.
    return on_card(CACHE, folder, phase, card="3.25GiB", options=options, expect=expect)


def test_a_cache_under_a_movable_tag_goes_before_the_optimizer_s_states(tmp_path):
    done = beside_cache(tmp_path, "training")
    told = done.printed()
    moved = [row for row in done.report()["moved"] if row["kind"] == "spilled"]
    lacking = (5 * 512 + 512 + 500 - 3328) * MIB
    assert [row["to"] for row in moved] == ["cache"]
    assert lacking <= sum(row["bytes"] for row in moved) <= lacking + 128 * MIB
    assert told == {"same address": True, "same contents": True, "ooms": 0}
    assert "mostly of 'cache'. The card reaches it over the bus" in done.err
    assert "of 'cache' moved to the host." in " ".join(memtrace("report", "--verbose", str(done.trace)).out.split())
    assert done.report()["simulated"]["first_faults"] == []


def test_while_the_program_evaluates_the_optimizer_s_states_go_before_the_cache(tmp_path):
    done = beside_cache(tmp_path, "evaluating")
    moved = [row["to"] for row in done.report()["moved"] if row["kind"] == "spilled" and row["step"] > 1]
    assert moved == ["optimizer_state"]
    assert done.printed() == {"same address": True, "same contents": True, "ooms": 0}


UNUSED = Path(__file__).with_name("spilled_unused.py")


def beside_unused(folder, *arguments, options=()):
    return on_card(UNUSED, folder, *arguments, card="2GiB", options=("--spill", "1GiB", "--events", "lazy", *options))


def moved_in_all(done):
    sums: dict[str, int] = {}
    for row in done.report()["moved"]:
        if row["kind"] == "spilled":
            sums[row["to"]] = sums.get(row["to"], 0) + row["bytes"]
    return sums


def test_with_cupti_what_no_operation_used_goes_before_a_cache_that_each_step_writes(tmp_path):
    done = beside_unused(tmp_path, options=("--cupti",))
    moved = moved_in_all(done)
    assert moved.keys() == {"unknown, unused", "parameter, unused"}, "the table and the teacher"
    assert moved["unknown, unused"] == 64 * MIB and moved["parameter, unused"] <= 128 * MIB
    assert done.printed() == {"same addresses": True, "same contents": True, "ooms": 0}
    assert "No operation used that in this step and the last one. The card reaches it over the bus" in done.err
    text = " ".join(memtrace("report", "--verbose", str(done.trace)).out.split())
    assert "of parameters that no operation used in that step and the one before moved to the host." in text
    assert done.report()["simulated"]["first_faults"] == []


def test_without_cupti_it_stays_and_the_cache_goes(tmp_path):
    done = beside_unused(tmp_path)
    assert moved_in_all(done).keys() == {"cache"}
    assert done.printed() == {"same addresses": True, "same contents": True, "ooms": 0}


def test_a_model_in_a_captured_graph_is_not_unused(tmp_path):
    done = beside_unused(tmp_path, "graph", options=("--cupti",))
    moved = moved_in_all(done)
    assert moved.keys() == {"unknown, unused", "parameter, unused", "optimizer_state"}, "the card lacks more than both"
    assert (moved["unknown, unused"], moved["parameter, unused"]) == (64 * MIB, 128 * MIB)
    assert done.report()["simulated"]["first_faults"] == []


@pytest.mark.slow
def test_without_it_the_training_beside_a_cache_runs_out(tmp_path):
    assert "OutOfMemoryError" in beside_cache(tmp_path, "training", expect=1, options=()).err


@pytest.mark.slow
def test_without_it_the_same_training_runs_out(tmp_path):
    failed = on_card(PROGRAM, tmp_path, card=CARD, expect=1)
    assert "OutOfMemoryError" in failed.err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("environment", "sentence"),
    [
        ({"MEMTRACE_CARD_HOST": "0"}, "--spill is off, because this driver cannot put host memory behind device"),
        ({"MEMTRACE_CARD_HOST": "64MiB"}, "OutOfMemoryError"),
    ],
)
def test_a_driver_or_a_host_without_room_ends_in_the_usual_error(environment, sentence, tmp_path):
    failed = on_card(PROGRAM, tmp_path, card=CARD, options=("--spill", "1GiB"), expect=1, **environment)
    assert failed.err.count(sentence) == 1 or sentence == "OutOfMemoryError"
    assert "OutOfMemoryError" in failed.err
