# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Runs rows of the corpus of cases by hand: docs/design/cases-corpus.md.

cases.py list                        the rows, with what is right
cases.py run NAME... --into FOLDER   runs the rows whose names contain NAME (none: all), keeps what was said, and judges
cases.py judge NAME... --from FOLDER judges what an earlier run kept, without running anything
cases.py table --from FOLDER         the table "row, before, now" as Markdown
cases.py summary --from FOLDER       what before.json has, of another tree
"""

import argparse
import json
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import before_and_after
import case_run
from case_row import Row, faults
from case_table import all_rows, rows_named


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=("list", "run", "judge", "table", "summary"))
    parser.add_argument("names", nargs="*")
    parser.add_argument("--into", "--from", dest="folder", type=Path, default=Path("cases"))
    parser.add_argument("--keep-traces", action="store_true")
    parser.add_argument("--missing", action="store_true", help="run only rows that the folder does not have")
    given = parser.parse_args()
    rows = [row for name in given.names for row in rows_named(name)] if given.names else all_rows()
    if given.verb == "list":
        for row in rows:
            print(f"{row.name}\n    {case_run.command_line(row)}\n    right: {row.right}")
        return 0
    if given.verb == "table":
        print(before_and_after.table(before_and_after.kept_before(), before_and_after.summary(given.folder)), end="")
        return 0
    if given.verb == "summary":
        print(json.dumps(before_and_after.summary(given.folder), indent=1, ensure_ascii=False))
        return 0
    return _judge(rows, given)


def _judge(rows: list[Row], given: argparse.Namespace) -> int:
    """Records the rows if requested, and prints which are right."""
    wrong = 0
    for row in rows:
        folder = given.folder.resolve() / row.name
        if given.verb == "run" and not (given.missing and (folder / "report.json").exists()):
            shutil.rmtree(folder, ignore_errors=True)
            case_run.record(row, folder)
            if not given.keep_traces:
                case_run.forget_traces(folder)
        wrong += bool(_tell(row, folder))
    print(f"{len(rows) - wrong} of {len(rows)} rows are right")
    return 1 if wrong else 0


def _tell(row: Row, folder: Path) -> list[str]:
    if not (folder / "report.json").exists():
        print(f"not run  {row.name}")
        return ["not run"]
    found = faults(row, case_run.seen(folder))
    print(f"{'wrong' if found else 'right'}    {row.name}: {row.right}", *found, sep="\n         ", flush=True)
    return found


if __name__ == "__main__":
    raise SystemExit(main())
