# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a script of the corpus on a simulated card and keeps memtrace's output in a folder."""

import fcntl
import json
import os
import runpy
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

from case_row import NATIVE, Row, Seen
from support.corpus import CORPUS
from support.programs import BUILD, MEMTRACE, ROOT

CASES = CORPUS / "cases"
FRAMEWORKS = Path(os.environ.get("MEMTRACE_FRAMEWORKS") or ROOT / ".venv-frameworks") / "bin/python"
OWN_MODELS = BUILD / "tests" / "cases" / "models"
MODELS = Path(os.environ.get("CASES_MODELS") or OWN_MODELS)
# This script always saves here, so tests that run it have ctest's RESOURCE_LOCK resumed_checkpoint.
RESUMING, RESUMED = "c04_resume.py", Path("/var/tmp/resume.pt")
QUIET = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "DO_NOT_TRACK": "1", "TQDM_DISABLE": "1"}
QUIET |= {"OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "100"}


def record(row: Row, folder: Path) -> None:
    """Runs the row in `folder`, which then holds out.txt, err.txt, status.json, report.txt and report.json."""
    folder.mkdir(parents=True, exist_ok=True)
    try:
        if row.first is not None:
            _run([*_launch(row, folder, "first.trace"), *_program(row, row.first.split())], row, folder)
        if row.fit is not None:
            _record_answer(_fit(row) + _program(row, row.arguments), row, folder)
        elif row.reads:
            _record_answer([str(MEMTRACE), row.reads, str(CASES / row.script)], row, folder)
        else:
            _record_run(row, folder)
    finally:
        if row.script == RESUMING:
            RESUMED.unlink(missing_ok=True)


def seen(folder: Path) -> Seen:
    """Returns the results that `record` wrote into the folder."""
    report = (folder / "report.json").read_text() or "{}"
    return Seen(
        json.loads((folder / "status.json").read_text())["status"],
        (folder / "out.txt").read_text(),
        (folder / "err.txt").read_text(),
        (folder / "report.txt").read_text(),
        json.loads(report),
    )


def forget_traces(folder: Path) -> None:
    """Removes the traces and the files that the script saved, but keeps the reports."""
    for file in [*folder.glob("*.trace*"), *folder.glob("*.pt")]:
        file.unlink()


def command_line(row: Row) -> str:
    """Returns the command line that records the row by hand; the trace is run.trace."""
    if row.reads:
        return f"memtrace {row.reads} $MEMTRACE_CORPUS/cases/{row.script}"
    environment = [f"{name}={value}" for name, value in row.environment.items()]
    words = _fit(row) if row.fit is not None else _launch(row, Path(), "run.trace")
    program = _program(row, row.arguments)[1:]
    words = [word for word in ["memtrace", *words[1:], "python", *program] if word not in ("-q", "-f")]
    return shlex.join([*environment, *words]).replace(str(CORPUS), "$MEMTRACE_CORPUS")


def ensure_models(row: Row) -> Path:
    """Makes the checkpoints that the script loads, once, as sparse files without bytes. Returns their folder."""
    text = (CASES / row.script).read_text(errors="replace")
    folder, last = (OWN_MODELS, "qwen-14b") if "qwen-14b" in text else (MODELS, "gemma2-2b")
    if "CASES_MODELS" not in text or (folder / last / "config.json").exists():
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / last / "config.json").exists():
            _make_models(folder / last)
    return folder


def _make_models(last: Path) -> None:
    """Makes the models of mkmodel.py, which ends with `last`, or the one that it does not make."""
    if last.name == "qwen-14b":
        _make_qwen(last)
        return
    environment = {**os.environ, **QUIET, "CASES_MODELS": str(last.parent)}
    subprocess.run([sys.executable, str(CASES / "mkmodel.py")], env=environment, check=True, timeout=600)


def _make_qwen(folder: Path) -> None:
    """Makes Qwen1.5-14B, which mkmodel.py lacks: 14,167,290,880 parameters, 26.39 GiB in bf16."""
    import transformers

    config = transformers.Qwen2Config(
        vocab_size=152064,
        hidden_size=5120,
        intermediate_size=13696,
        num_hidden_layers=40,
        num_attention_heads=40,
        num_key_value_heads=40,
        tie_word_embeddings=False,
        dtype="bfloat16",
    )
    make = runpy.run_path(str(CASES / "mkmodel.py"), run_name="mkmodel")["make"]
    make(str(folder), config, transformers.Qwen2ForCausalLM)


def _launch(row: Row, folder: Path, trace: str) -> list[str]:
    allocator = ["--allocator", NATIVE] if row.allocator == NATIVE else []
    return [str(MEMTRACE), "run", "-q", "-f", "--card", row.card, *allocator, "-o", str(folder / trace), "--"]


def _fit(row: Row) -> list[str]:
    return [str(MEMTRACE), "fit", "--card", row.card, *(row.fit or "").split(), "--"]


def _program(row: Row, arguments: list[str]) -> list[str]:
    python = FRAMEWORKS if row.frameworks else Path(sys.executable)
    ranks = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(row.ranks)] if row.ranks > 1 else []
    return [str(python), *ranks, str(CASES / row.script), *arguments]


def _record_run(row: Row, folder: Path) -> None:
    began = time.monotonic()
    done = _run([*_launch(row, folder, "run.trace"), *_program(row, row.arguments)], row, folder)
    _keep(folder, done, time.monotonic() - began)
    trace = _trace_to_report(folder)
    for name, options in (("report.txt", ["--verbose"]), ("report.json", ["--json"])):
        told = _run([str(MEMTRACE), "report", *options, str(trace)], row, folder)
        (folder / name).write_text(told.stdout)
        if told.returncode > 1:
            (folder / "err.txt").write_text(f"{done.stderr}\nmemtrace report: {told.stderr}")


def _record_answer(command: list[str], row: Row, folder: Path) -> None:
    """Runs a verb of which only the output is judged."""
    began = time.monotonic()
    done = _run(command, row, folder)
    _keep(folder, done, time.monotonic() - began)
    (folder / "report.txt").write_text(done.stdout)
    (folder / "report.json").write_text("")


def _keep(folder: Path, done: subprocess.CompletedProcess[str], seconds: float) -> None:
    (folder / "out.txt").write_text(done.stdout)
    (folder / "err.txt").write_text(done.stderr)
    (folder / "status.json").write_text(json.dumps({"status": done.returncode, "seconds": round(seconds)}))


def _trace_to_report(folder: Path) -> Path:
    """Returns the trace of the process that ran out of memory, else the largest: ranks and workers write their own."""
    traces = sorted(folder.glob("run.trace*"), key=lambda trace: -trace.stat().st_size)
    for trace in traces if len(traces) > 1 else ():
        told = subprocess.run([MEMTRACE, "report", "--json", trace], capture_output=True, text=True, check=False)
        if told.returncode in (0, 1) and json.loads(told.stdout).get("request"):
            return trace
    return traces[0] if traces else folder / "run.trace"


def _run(command: list[str], row: Row, folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs a command in a session of its own, so that all of it ends when the row's time is over."""
    environment = {**os.environ, **QUIET, "CASES_MODELS": str(ensure_models(row)), "CKPT": str(folder / "saved.pt")}
    with subprocess.Popen(
        command,
        cwd=folder,
        env=environment | dict(row.environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    ) as process:
        try:
            out, err = process.communicate(timeout=row.seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            return subprocess.CompletedProcess(command, 124, out, f"{err}\nended after {row.seconds} s")
    return subprocess.CompletedProcess(command, process.returncode, out, err)
