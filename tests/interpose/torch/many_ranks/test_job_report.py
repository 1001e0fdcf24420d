# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The report of a folder with the traces of a real pipeline: kinds of ranks, and why they differ."""

import json
from pathlib import Path

import pytest
from support.jobs import by_rank, run_job
from support.json_object import JsonObject
from support.programs import memtrace

HERE = Path(__file__).parent
REAL = (0, 2, 4, 6)  # one of each of 4 stages of 2 ranks


@pytest.fixture(scope="module")
def job(tmp_path_factory):
    """Returns the folder of the traces, and what each rank printed."""
    folder = tmp_path_factory.mktemp("job")
    finished = run_job(HERE / "language_pipeline.py", folder, "4", world=8, ranks=",".join(map(str, REAL)), seconds=240)
    return folder, by_rank(finished)


@pytest.fixture(scope="module")
def report(job) -> JsonObject:
    return json.loads(memtrace("report", "--json", str(job[0])).out)


def process(report: JsonObject, rank: int) -> JsonObject:
    (found,) = (each for each in report["processes"] if each["rank"] == str(rank))
    return found


def causes(report: JsonObject, rank: int) -> list[JsonObject]:
    file = process(report, rank)["file"]
    (found,) = (each for each in report["differences"] if each["file"] == file)
    assert sum(cause["difference"] for cause in found["causes"]) == found["difference"]
    return found["causes"]


def named(found: list[JsonObject], cause: str) -> dict[str, JsonObject]:
    return {each.get("site", ""): each for each in found if each["cause"] == cause}


def test_figures_are_those_that_torch_prints(job, report):
    for rank, printed in job[1].items():
        found = process(report, rank)
        assert found["allocated"] == printed["peak"]
        assert found["reserved"] == printed["reserved"]
        assert found["nccl"] > 0 and found["used"] > found["reserved"]
        assert found["steps"] == 2 and found["end_known"]


def test_each_stage_is_a_kind_and_the_fullest_comes_first(report):
    files = [kind["files"] for kind in report["kinds"]]
    assert sorted(files) == sorted([process(report, rank)["file"]] for rank in REAL)
    shares = [kind["used_share"] for kind in report["kinds"]]
    assert shares == sorted(shares, reverse=True)
    assert all(kind["fits"] for kind in report["kinds"])


def test_stage_of_a_1f1b_pipeline_holds_as_many_micro_batches_as_stages_follow(report):
    in_flight = {rank: process(report, rank)["micro_batches_in_flight"] for rank in REAL}
    # The last stage has its peak after all passes, when the outputs are joined, or with torch 2.15, whose workspaces of
    # cuBLAS live for one operator, in a pass.
    assert in_flight.pop(6) in (None, 1)
    assert in_flight == {0: 4, 2: 3, 4: 2}


def test_embedding_and_output_layer_are_causes(report):
    most = causes(report, 6)  # compared with rank 0, which holds second most
    assert named(most, "module")["output"]["difference"] > 0
    assert named(most, "module")["tok_embeddings"]["difference"] < 0
    least = causes(report, 4)
    assert set(named(least, "module")) == {"tok_embeddings"}
    (flight,) = named(least, "micro_batches").values()
    assert (flight["count"], flight["other_count"]) == (2, 4)
    assert flight["difference"] < 0


def test_words_name_the_embedding_and_no_logits_that_are_gone(job):
    text = memtrace("report", str(job[0])).out
    assert "None of 4 processes ran out of memory." in " ".join(text.split())
    assert "the embedding (tok_embeddings), of which rank 4 holds nothing" in text
    assert "the output layer (output), of which rank 0 holds nothing" in text
    assert "logits" not in text
    assert text.index("\nRANK ") <= sum(len(line) + 1 for line in text.splitlines()[:25])


def test_trace_that_was_cut_is_not_said_to_have_fit(job, tmp_path):
    for trace in job[0].glob("*.trace"):
        content = trace.read_bytes()
        (tmp_path / trace.name).write_bytes(content if "rank-0" in trace.name else content[: len(content) // 2])
    text = " ".join(memtrace("report", str(tmp_path)).out.split())
    assert "The process whose trace is complete did not run out of memory." in text
    assert "It is not known if 3 more did" in text
    assert "None of 4 processes" not in text
