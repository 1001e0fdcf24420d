# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Jobs whose real ranks memtrace chooses (`--ranks auto`), and `memtrace fit` of jobs."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.events import annotations
from support.jobs import by_rank, run_job
from support.json_object import JsonObject
from support.programs import MEMTRACE

HERE = Path(__file__).parent
FIT = ("--watch", "0", "--steps", "8", "--margin", "0", "--json")


def fit(folder: Path, program: str | Path, *arguments: str, options: tuple[str, ...]) -> tuple[int, JsonObject]:
    """Returns the exit code and the answer of `memtrace fit`, run in `folder`."""
    command = [MEMTRACE, "fit", *options, *FIT, "--", sys.executable, HERE / program, *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=280, check=False)
    assert done.stdout.startswith("{"), done.stderr
    return done.returncode, json.loads(done.stdout)


@pytest.mark.parametrize(
    ("program", "arguments", "ranks"),
    [
        ("pipeline.py", ("4",), {0: 2, 2: 2, 4: 2, 6: 2}),
        pytest.param("fully_sharded.py", (), {0: 8}, marks=pytest.mark.slow),
        pytest.param("data_parallel.py", (), {0: 8}, marks=pytest.mark.slow),
        pytest.param("uneven.py", (), {0: 4, 4: 1, 5: 3}, marks=pytest.mark.slow),
        pytest.param("with_workers.py", ("fork",), {0: 2, 2: 2, 4: 2, 6: 2}, marks=pytest.mark.slow),
        pytest.param("with_workers.py", ("spawn",), {0: 2, 2: 2, 4: 2, 6: 2}, marks=pytest.mark.slow),
    ],
)
def test_one_rank_of_each_kind_runs(tmp_path, program, arguments, ranks):
    finished = run_job(HERE / program, tmp_path, *arguments, world=8, ranks="auto", seconds=280)
    assert set(by_rank(finished)) == set(ranks)
    for rank, alike in ranks.items():
        facts = annotations(tmp_path / f"run.rank-{rank}.trace")
        assert facts["job.ranks_alike"] == str(alike)
        groups = {group["name"]: group for group in json.loads(facts["job.groups"])}
        assert all(group["size"] > group["at"] >= 0 for group in groups.values())
        if program == "pipeline.py":
            assert groups["pipeline"] == {"name": "pipeline", "size": 4, "at": rank // 2, "first": 0, "stride": 2}


@pytest.mark.slow
def test_found_ranks_take_the_memory_of_a_job_whose_ranks_are_all_real(tmp_path):
    whole = by_rank(run_job(HERE / "uneven.py", tmp_path, world=4, ranks="0-3", cards=4))
    found = by_rank(run_job(HERE / "uneven.py", tmp_path, world=4, ranks="auto", cards=4))
    assert set(found) == {0, 3}
    assert {rank: of["peak"] for rank, of in found.items()} == {rank: whole[rank]["peak"] for rank in found}
    assert whole[0]["peak"] == whole[1]["peak"] == whole[2]["peak"] > whole[3]["peak"]


def test_program_that_fails_before_its_groups_are_known_is_named(tmp_path):
    program = tmp_path / "fails.py"
    program.write_text("import torch\nraise KeyError('hidden')\n")
    finished = run_job(program, tmp_path, world=8, ranks="auto", expect=5)
    assert "rank 0 ended with exit code 1 before it was known which ranks differ" in finished.err
    assert "  | KeyError: 'hidden'" in finished.err


@pytest.mark.parametrize("variables", [{}, {"MEMTRACE_FIT_OVERLAY": "0"}], ids=["layer", "no layer"])
def test_first_run_leaves_no_files(tmp_path, variables):
    program = tmp_path / "writes.py"
    program.write_text(
        "import os, pathlib, torch, torch.distributed as dist\n"
        "dist.init_process_group('nccl')\n"
        "with pathlib.Path('starts.txt').open('a') as file:\n    file.write('started\\n')\n"
        "net = torch.nn.Linear(8, 8).cuda()\n"
        "net(torch.randn(8, 8, device='cuda')).sum().backward()\n"
    )
    options = ("--card", "8xh100-80gb", "--world", "8", "--ranks", "auto")
    command = [MEMTRACE, "run", *options, "--", sys.executable, program]
    environment = {**os.environ, **variables}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=200, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "the 8 ranks are of one kind, of which rank 0 runs" in done.stderr
    assert (tmp_path / "starts.txt").read_text() == "started\n"


@pytest.mark.slow
def test_job_without_groups_is_not_said_to_fit(tmp_path):
    program = tmp_path / "alone.py"
    program.write_text(
        "import torch\n"
        "net = torch.nn.Linear(8, 8).cuda()\n"
        "optimizer = torch.optim.SGD(net.parameters())\n"
        "for _ in range(3):\n"
        "    net(torch.randn(8, 8, device='cuda')).sum().backward()\n"
        "    optimizer.step()\n"
    )
    code, answer = fit(tmp_path, program, options=("--card", "8xh100-80gb", "--world", "8"))
    assert code == 6 and answer["fits"] is None and answer["verdict"] == "ranks_that_ran_fit"
    assert answer["job"]["ranks"] == [0] and not answer["job"]["has_each_kind"]


def test_fit_of_a_job_is_about_its_fullest_rank(tmp_path):
    whole = by_rank(run_job(HERE / "pipeline.py", tmp_path, "2", world=4, ranks="0-3", cards=4))
    options = ("--card", "4xh100-80gb", "--world", "4")
    code, answer = fit(tmp_path, "pipeline.py", "2", options=options)
    assert code == 0 and answer["verdict"].startswith("fits")
    assert answer["job"] == {"world": 4, "ranks": [0, 2], "alike": [2, 2], "left_out": [], "has_each_kind": True}
    needs = {card["card"]: card["peak_allocated"] for process in answer["processes"] for card in process["cards"]}
    assert needs == {rank: whole[rank]["peak"] for rank in (0, 2)}
    assert answer["peak_allocated"] == max(needs.values())


@pytest.mark.slow
def test_job_does_not_fit_if_one_rank_does_not(tmp_path):
    options = ("--card", "4xh100-80gb", "--world", "4", "--no-remedies")
    fullest = fit(tmp_path, "pipeline.py", "2", options=options)[1]["needs"]
    smaller = f"4xh100-80gb,size={(fullest >> 20) - 4}MiB"
    code, answer = fit(tmp_path, "pipeline.py", "2", options=("--card", smaller, "--world", "4", "--no-remedies"))
    assert code == 1 and answer["verdict"] == "does_not_fit"


@pytest.mark.slow
def test_layouts_are_compared(tmp_path):
    options = ("--card", "8xh100-80gb", "--world", "8", "--vary", "stages=2,4,9")
    code, answer = fit(tmp_path, "pipeline.py", "{stages}", options=options)
    layouts = {layout["values"]["stages"]: layout for layout in answer["layouts"]}
    assert code == 0
    assert layouts["2"]["ranks"]["ran"] == [0, 4] and layouts["4"]["ranks"]["ran"] == [0, 2, 4, 6]
    assert layouts["2"]["verdict"] == layouts["4"]["verdict"] == "fits"
    assert layouts["9"]["verdict"] == "program_fails" and layouts["9"]["reason"]
    assert answer["layouts"][answer["recommended"]]["values"]["stages"] in ("2", "4")
