# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Makes what is generated under docs/cases: reports as text, answers of `memtrace fit`, further runs.

Traces and reports as pages stay in build/cases.

Usage: make_reports.py [--embed] [CASE ...] with the python of an environment that has memtrace and the frameworks
(setup/setup.sh frameworks). A case is named as its page (a-mend), or by its letter. `--embed` runs nothing: it only
puts the files into the pages, after the comments that name them, `<!-- a-mend.txt -->`.
"""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from reported_cases import CASES, Case, Run

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs" / "cases"
TRACES = ROOT / "build" / "cases"
MEMTRACE = [sys.executable, "-m", "memtrace"]
EMBEDDED = re.compile(r"(<!-- (\S+\.txt) -->\n```\n).*?(```\n)", re.DOTALL)
SECONDS = 1800


def call(command: list[str], folder: Path = ROOT, settings: str = "") -> str:
    """Returns the stdout of a command, whatever its status."""
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    if settings:
        environment["PYTORCH_CUDA_ALLOC_CONF"] = settings
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=SECONDS)
    if "OutOfMemoryError" not in done.stderr and done.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(command)} ended with status {done.returncode}.\n{done.stderr}")
    return done.stdout


def record(case: Case, run: Run, trace: Path) -> str:
    """Runs a case's script under torch's own allocator. Returns its output."""
    shutil.rmtree(trace, ignore_errors=True)
    start = [*MEMTRACE, "run", "-q", "-f", "--allocator", "native", "--card", run.card, "-o", str(trace), "--"]
    launcher = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={run.processes}"]
    python = ["python", *(launcher if run.processes > 1 else [])]
    return call([*start, *python, f"examples/cases/{case.script}", *run.options.split()], settings=run.settings)


def report(trace: Path, *options: str) -> str:
    """Returns `memtrace report` of a trace, or of the traces of a job."""
    return call([*MEMTRACE, "report", *options, trace.name], trace.parent)


def explain(case: Case) -> None:
    """Makes the report of the case that ran out of memory: text and page."""
    trace = TRACES / f"{case.name}.trace"
    options = case.options
    for variation in case.vary:
        name, _, values = variation.partition("=")
        options = options.replace(f"{{{name}}}", values.partition(",")[0])
    record(case, Run("", case.card, options), trace)
    (DOCS / f"{case.name}.txt").write_text(report(trace))
    report(trace, "-f", "-o", str(TRACES / f"{case.name}.html"))


def fit(case: Case) -> None:
    """Makes the answer of `memtrace fit`."""
    vary = [word for variation in case.vary for word in ("--vary", variation)]
    program = ["python", f"examples/cases/{case.script}", *case.options.split()]
    answer = call([*MEMTRACE, "fit", "-q", "--card", case.card, *vary, "--", *program])
    (DOCS / f"{case.name}.fit.txt").write_text(answer)


def show(case: Case, run: Run) -> None:
    """Makes the text of a further run."""
    trace = TRACES / f"{case.name}.{run.name}.trace"
    printed = record(case, run, trace)
    if run.reports and run.processes > 1:
        printed = report(gathered(trace))
    elif run.reports:
        printed = report(trace)
    (DOCS / f"{case.name}.{run.name}.txt").write_text(printed)


def gathered(trace: Path) -> Path:
    """Returns a folder with the traces that the processes of a job wrote."""
    folder = trace.with_suffix("")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for written in trace.parent.glob(f"{trace.name}*"):
        written.rename(folder / written.name)
    return folder


def embed() -> None:
    """Puts the existing files into the pages."""

    def renewed(block: re.Match[str]) -> str:
        made = DOCS / block[2]
        return block[1] + made.read_text() + block[3] if made.exists() else block[0]

    for page in DOCS.glob("*.md"):
        page.write_text(EMBEDDED.sub(renewed, page.read_text()))


def main() -> None:
    if importlib.util.find_spec("memtrace") is None:
        raise SystemExit(f"{sys.executable} has no memtrace. Use the python of .venv-frameworks.")
    wanted = [word for word in sys.argv[1:] if word != "--embed"]
    TRACES.mkdir(parents=True, exist_ok=True)
    DOCS.mkdir(parents=True, exist_ok=True)
    for case in CASES if "--embed" not in sys.argv else []:
        if not wanted or {case.name, case.name[0]} & set(wanted):
            explain(case)
            fit(case)
            for run in case.runs:
                show(case, run)
    embed()


if __name__ == "__main__":
    main()
