# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""`memtrace fleet` from real traces to the answers of its questions."""

import csv
import hashlib
import io
import json
import re
import shutil
import subprocess
from pathlib import Path

import memtrace as memtrace_package
import pytest
from fleets import FIRST, GROWTH, LINE_OF_FAILURE, SECOND, ask, record, spoil, table
from support.programs import GIB, MEMTRACE, MIB, ROOT, memtrace, on_card

pytest.importorskip("duckdb")

QUESTIONS = ("waste", "out-of-memory", "growth", "problems")
LEDGER = (
    "context_bytes", "live_bytes", "rounding_bytes", "stream_wait_bytes", "cached_bytes", "holes_bytes",
    "private_pools_bytes", "outside_allocator_bytes", "other_processes_bytes", "free_bytes", "unexplained_bytes",
)  # fmt: skip
PEAKS = ("peak_requested_bytes", "peak_allocated_bytes", "peak_reserved_bytes")


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return record(tmp_path_factory.mktemp("fleet"))


@pytest.fixture(scope="module")
def fleet(traces: Path) -> Path:
    return table(traces)


def test_every_trace_is_a_row_with_its_process_and_its_peak(traces: Path, fleet: Path) -> None:
    rows = {Path(row["file"]).name: row for row in ask("SELECT * FROM fleet", fleet)}
    assert set(rows) == {"first.trace", "ok.trace", "full.trace"}
    for name, row in rows.items():
        stats = json.loads(memtrace("stats", "--json", row["file"]).out)
        assert row["peak_requested_bytes"] == stats["devices"][0]["peak"], name
        assert row["peak_requested_bytes"] <= row["peak_allocated_bytes"] <= row["reserved_at_peak_bytes"]
        assert row["reserved_at_peak_bytes"] <= row["peak_reserved_bytes"]
        assert row["card_bytes"] == 24 * GIB == sum(row[part] for part in LEDGER)
        roles = [name for name in row if re.fullmatch(r"peak_\w+_bytes", name) and name not in PEAKS]
        assert len(roles) == 13 and row["peak_requested_bytes"] == sum(row[role] for role in roles)
        assert (row["script"], row["steps"], row["state"], row["problem"]) == ("train.py", 25, "finished", None)
        assert row["job"] == row["file"] and row["simulated"] and row["simulated_card"] == "24GiB"
        assert row["owners"][0]["bytes"] >= row["owners"][-1]["bytes"] and row["per_card"][0]["card"] == 0
    assert rows["ok.trace"]["script_version"] == rows["full.trace"]["script_version"]
    assert rows["ok.trace"]["script_version"] != rows["first.trace"]["script_version"]
    assert rows["ok.trace"]["growth_bytes_per_step"] == GROWTH


def test_waste_is_what_was_reserved_and_never_requested(fleet: Path) -> None:
    rows = ask("waste", fleet)
    assert len(rows) == 3
    for row in rows:
        assert row["wasted_bytes"] == row["reserved_bytes"] - row["requested_bytes"] >= 0
        assert row["wasted_percent"] == pytest.approx(100 * row["wasted_bytes"] / row["reserved_bytes"], abs=0.06)
    wasted = [row["wasted_bytes"] for row in rows]
    assert wasted == sorted(wasted, reverse=True)


def test_out_of_memory_has_the_cause_the_line_and_the_largest_role(fleet: Path) -> None:
    (row,) = ask("out-of-memory", fleet)
    assert row["job"].endswith("full.trace") and (row["processes"], row["times"]) == (1, 1)
    assert (row["cause"], row["line"]) == ("too_large", f"train.py:{LINE_OF_FAILURE}")
    assert row["requested_bytes"] == 160 * GIB and 20 * GIB < row["available_bytes"] < 24 * GIB
    assert row["largest_role"] == "optimizer_state" and row["largest_role_bytes"] > 0


def test_growth_compares_each_version_with_the_one_before(fleet: Path) -> None:
    first, second = ask("growth", fleet)
    assert first["grown_bytes"] is None and (first["processes"], second["processes"]) == (1, 2)
    assert second["grown_bytes"] == second["peak_bytes"] - first["peak_bytes"]
    parameters = 4 * 2 * (SECOND["width"] ** 2 - FIRST["width"] ** 2)
    assert second["grown_bytes"] > parameters
    assert second["growth_bytes_per_step"] == GROWTH > first["growth_bytes_per_step"]


def test_damaged_files_are_counted_named_and_the_rest_is_done(traces: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(traces, tmp_path / "damaged"))
    wrong = spoil(folder)
    file = tmp_path / "damaged.parquet"
    done = memtrace("fleet", str(folder), "-o", str(file))
    assert done.status == 4
    lines = done.err.splitlines()
    assert all(line.startswith("memtrace: ") for line in lines) and len(lines) == len(wrong) + 1
    assert all(any(name in line for line in lines) for name in wrong)
    assert f"with {3 + len(wrong)} traces" in lines[-1]
    problems = ask("problems", file)
    assert {Path(row["file"]).name for row in problems} == wrong
    assert [row["problem"] for row in problems] == [line.removeprefix("memtrace: ") for line in lines[:-1]]
    (cut,) = ask("SELECT * FROM fleet WHERE file LIKE '%cut.trace'", file)
    assert cut["peak_requested_bytes"] > 0, "its summary is whole"
    assert len(ask("waste", file)) == 4


def test_folder_without_a_readable_trace_is_unreadable(tmp_path: Path) -> None:
    (tmp_path / "traces").mkdir()
    (tmp_path / "traces" / "notes.txt").touch()
    file = tmp_path / "fleet.parquet"
    done = memtrace("fleet", str(tmp_path / "traces"), "-o", str(file))
    assert done.status == 3 and "there is no trace in" in done.err and not file.exists()
    (tmp_path / "traces" / "empty.trace").touch()
    done = memtrace("fleet", str(tmp_path / "traces"), "-o", str(file))
    assert done.status == 3 and "the file is empty" in done.err and file.exists()
    assert ask("waste", file) == ask("out-of-memory", file) == ask("growth", file) == []
    assert memtrace("fleet", str(tmp_path / "none"), "-o", str(file)).status == 3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fleet.parquet", "traces"], "nothing is left behind"


def test_rows_need_no_duckdb(traces: Path) -> None:
    done = memtrace("fleet", str(traces), "--json")
    rows = [json.loads(line) for line in done.out.splitlines()]
    assert done.status == 0 and [row["steps"] for row in rows] == [25, 25, 25]


def test_the_rows_and_the_table_have_the_same_columns(traces: Path, fleet: Path) -> None:
    lines = memtrace("fleet", str(traces), "--json").out.splitlines()
    stated = {column for line in lines for column in json.loads(line)}
    known = {row["column_name"] for row in ask("DESCRIBE fleet", fleet)}
    assert stated <= known
    assert known - stated == {"problem", "rank", "local_rank", "world_size", "oom_owner"}, "no trace here states these"


SLEEPING = """
import memtrace
import torch

with memtrace.tag("policy", movable=True):
    policy = torch.ones(100 << 20, dtype=torch.uint8, device="cuda")
with memtrace.tag("cache", movable=True):
    cache = torch.ones(32 << 20, dtype=torch.uint8, device="cuda")
memtrace.sleep("policy")
memtrace.sleep("cache")
memtrace.wake("cache")
"""


def test_what_sleeps_is_beside_the_card(tmp_path: Path) -> None:
    (tmp_path / "traces").mkdir()
    done = on_card(SLEEPING, tmp_path)
    shutil.move(done.trace, tmp_path / "traces" / "run.trace")
    (row,) = ask("SELECT * FROM fleet", table(tmp_path / "traces"))
    assert (row["asleep_bytes"], row["host_copies_bytes"]) == (100 * MIB, 100 * MIB)
    assert (row["host_pooled_bytes"], row["on_host_bytes"]) == (32 * MIB, 0)
    assert row["card_bytes"] == 24 * GIB == sum(row[part] for part in LEDGER), "they take nothing of the card"


def test_types_are_stated_whatever_the_rows_hold(fleet: Path, tmp_path: Path) -> None:
    (tmp_path / "traces").mkdir()
    (tmp_path / "traces" / "empty.trace").touch()
    described = "SELECT column_name, column_type FROM (DESCRIBE fleet)"
    assert ask(described, table(tmp_path / "traces", status=3)) == ask(described, fleet)


def test_answers_come_as_text_csv_and_json(fleet: Path) -> None:
    sql = """
        SELECT steps, 1536 << 20 AS peak_bytes, NULL AS nothing, '=1' AS name, 1 = 1 AS truth, [1] AS list
        FROM fleet LIMIT 1"""
    text = memtrace("fleet", "query", sql, "--from", str(fleet)).out.splitlines()
    assert text[0].split() == ["steps", "peak_bytes", "nothing", "name", "truth", "list"]
    assert text[1].split() == ["25", "1.50", "GiB", "-", "=1", "true", "[1]"]
    rows = list(csv.reader(io.StringIO(memtrace("fleet", "query", sql, "--from", str(fleet), "--csv").out)))
    assert rows[1] == ["25", str(1536 * MIB), "", "'=1", "true", "[1]"]
    (row,) = ask(sql, fleet)
    assert row == {"steps": 25, "peak_bytes": 1536 * MIB, "nothing": None, "name": "=1", "truth": True, "list": [1]}
    assert memtrace("fleet", "query", "SELECT 1 WHERE 1 = 0", "--from", str(fleet)).out.endswith("no rows\n")


def test_tables_are_asked_together(fleet: Path, tmp_path: Path) -> None:
    for name in ("a.parquet", "b.parquet"):
        shutil.copy(fleet, tmp_path / name)
    sql = "SELECT count(*) AS n FROM fleet"
    named = memtrace("fleet", "query", sql, "--csv", "--from", str(tmp_path / "a.parquet"), "--from", str(fleet))
    pattern = memtrace("fleet", "query", sql, "--csv", "--from", str(tmp_path / "*.parquet"))
    assert named.out == pattern.out == "n\n6\n"


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("SELECT FROM fleet", "Parser Error"),
        ("SELECT peek FROM fleet", 'Referenced column "peek" not found'),
        ("SELECT * FROM tables", "Table with name tables does not exist"),
        ("waist", "did you mean 'waste'?"),
    ],
)
def test_wrong_sql_is_one_sentence(fleet: Path, sql: str, words: str) -> None:
    done = memtrace("fleet", "query", sql, "--from", str(fleet))
    assert done.status == 2 and done.out == ""
    assert words in done.err and done.err.count("\n") == 1 and done.err.startswith("memtrace: ")


@pytest.mark.parametrize("name", ["missing.parquet", "other.parquet"])
def test_table_that_cannot_be_read_is_one_sentence(tmp_path: Path, name: str) -> None:
    (tmp_path / "other.parquet").write_text("{}")
    done = memtrace("fleet", "query", "waste", "--from", str(tmp_path / name))
    assert done.status == 3 and name in done.err and done.err.count("\n") == 1


def test_questions_are_listed_and_shown() -> None:
    listed = memtrace("fleet", "query", "--list").out.splitlines()
    assert tuple(line.split()[0] for line in listed) == QUESTIONS
    for question, line in zip(QUESTIONS, listed, strict=True):
        shown = memtrace("fleet", "query", "--show", question).out
        assert shown.startswith(f"-- {line.split(maxsplit=1)[1]}\n") and "FROM" in shown
    chinese = memtrace("fleet", "query", "--list", MEMTRACE_LANG="zh-CN").out
    assert chinese.splitlines()[0].startswith("waste ") and "?" not in chinese


def test_version_of_a_module_is_that_of_its_file(tmp_path: Path) -> None:
    package = tmp_path / "early"
    package.mkdir()
    (package / "__init__.py").write_text("import torch")  # memtrace starts before Python knows the module's file
    (package / "train.py").write_text("import torch; torch.ones(1, device='cuda')")
    on_card(Path("early.train"), tmp_path, launcher=("-m",), PYTHONPATH=str(tmp_path))
    (row,) = map(json.loads, memtrace("fleet", str(tmp_path), "--json").out.splitlines())
    version = hashlib.sha256((package / "train.py").read_bytes()).hexdigest()[:16]
    assert (row["script"], row["script_version"]) == ("train.py", version)


def test_script_has_no_version_without_source(tmp_path: Path) -> None:
    on_card("import torch; torch.ones(1, device='cuda')", tmp_path, options=("--no-source",))
    (row,) = map(json.loads, memtrace("fleet", str(tmp_path), "--json").out.splitlines())
    assert row["script"] == "train.py" and "script_version" not in row


def test_an_existing_table_is_kept_without_force(traces: Path, fleet: Path) -> None:
    before = fleet.read_bytes()
    done = memtrace("fleet", str(traces), "-o", str(fleet))
    assert done.status == 2 and "exists already" in done.err and fleet.read_bytes() == before


@pytest.mark.parametrize(
    "words",
    [
        ["query"],
        ["query", "waste", "-o", "x.parquet"],
        ["."],
        [".", "waste", "-o", "x.parquet"],
        [".", "--list"],
        [".", "-o", "x.parquet", "--json"],
    ],
)
def test_words_that_do_not_belong_together_are_refused(words: list[str]) -> None:
    done = memtrace("fleet", *words)
    assert done.status == 2 and done.err.count("\n") == 1


def test_without_duckdb_one_sentence_says_how_to_install_it(traces: Path, tmp_path: Path) -> None:
    (tmp_path / "memtrace").symlink_to(Path(memtrace_package.__file__).parent)
    (tmp_path / "duckdb.py").write_text("raise ImportError('there is none')")  # comes before the installed one
    for words in (["query", "waste"], [str(traces), "-o", str(tmp_path / "fleet.parquet")]):
        done = memtrace("fleet", *words, MEMTRACE_HOME=str(tmp_path / "memtrace"), PYTHONDONTWRITEBYTECODE="1")
        assert done.status == 5 and 'pip install "duckdb' in done.err and done.err.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["duckdb.py", "memtrace"]


def test_a_full_disk_behind_stdout_is_one_sentence(fleet: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [str(MEMTRACE), "fleet", "query", "waste", "--from", str(fleet)],
            stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=60,
        )  # fmt: skip
    assert done.returncode == 5 and done.stderr.count("\n") == 1


def test_the_page_lists_every_column_with_its_type(fleet: Path) -> None:
    page = (ROOT / "docs" / "fleets.md").read_text()
    listed = re.findall(r"^- (`[\w\s,`]+`)\s\(([A-Z]+(?: of [A-Z]+)?)\):", page, re.M)
    documented = {name: kind for names, kind in listed for name in re.findall(r"\w+", names)}
    types = {row["column_name"]: row["column_type"] for row in ask("DESCRIBE fleet", fleet)}
    assert documented == {name: "LIST of STRUCT" if kind.endswith("[]") else kind for name, kind in types.items()}
