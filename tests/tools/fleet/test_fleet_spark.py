# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Spark gives the answers that DuckDB gives: the same SQL, unchanged, over the same Parquet file."""

import csv
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fleets import ask, record, spoil, table
from support.programs import MEMTRACE, ROOT, memtrace

pytest.importorskip("duckdb")

# Where `setup/setup.sh spark` puts pyspark.
ENVIRONMENT = Path(os.environ.get("MEMTRACE_SPARK", ROOT / ".venv-spark"))
QUESTIONS = ("waste", "out-of-memory", "growth", "problems")
# Prints the rows of each statement as JSON. The arguments are the table, then files of SQL.
SPARK = """
import json, sys
from pyspark.sql import SparkSession

spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
spark.read.parquet(sys.argv[1]).createOrReplaceTempView("fleet")
for file in sys.argv[2:]:
    rows = spark.sql(open(file).read()).collect()
    print(json.dumps([row.asDict(recursive=True) for row in rows], default=lambda time: time.isoformat(sep=" ")))
"""


def spark(*command: str, folder: Path) -> str:
    """Runs a command of Spark's environment. Returns what it prints."""
    path = f"{ENVIRONMENT / 'bin'}:{MEMTRACE.parent}:{os.environ['PATH']}"
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False, timeout=280
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("there is no Java, which Spark needs")
    if not (ENVIRONMENT / "bin" / "spark-sql").exists():
        pytest.skip(f"there is no pyspark in {ENVIRONMENT}; setup/setup.sh spark makes it")
    folder = tmp_path_factory.mktemp("spark")
    traces = record(folder)
    spoil(traces)
    file = table(traces, status=4).rename(folder / "fleet.parquet")
    yield file


def rounded(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns the rows with floating-point numbers that compare."""
    return [
        {key: pytest.approx(value) if isinstance(value, float) else value for key, value in row.items()} for row in rows
    ]


def test_spark_and_duckdb_give_the_same_answers(fleet: Path) -> None:
    files = []
    for question in QUESTIONS:
        file = fleet.parent / f"{question}.sql"
        file.write_text(memtrace("fleet", "query", "--show", question).out)
        files.append(str(file))
    printed = spark(str(ENVIRONMENT / "bin" / "python"), "-c", SPARK, str(fleet), *files, folder=fleet.parent)
    for question, line in zip(QUESTIONS, printed.splitlines(), strict=True):
        rows = json.loads(line)
        assert rows == rounded(ask(question, fleet)) and rows, question


def test_the_command_of_the_page_works(fleet: Path) -> None:
    page = (ROOT / "docs" / "fleets.md").read_text()
    command = re.search(r"^spark-sql (?:.*\\\n)*.*$", page, re.M)
    assert command is not None
    printed = spark("bash", "-c", command[0], folder=fleet.parent)
    expected = csv.reader(memtrace("fleet", "query", "waste", "--from", str(fleet), "--csv").out.splitlines()[1:])
    assert [line.split("\t") for line in printed.splitlines()] == list(expected)
