# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Says how many tests were skipped in the last ctest run, and why.

Usage: skipped.py BUILD. Reads BUILD/Testing/Temporary/LastTest.log: pytest's `SKIPPED [n] file: reason` lines.
"""

import re
import sys
from collections import Counter
from pathlib import Path

LINE = re.compile(r"^SKIPPED \[(\d+)\] [^:]+(?::\d+)?: (.*)$", re.M)


def main() -> None:
    log = Path(sys.argv[1]) / "Testing/Temporary/LastTest.log"
    reasons: Counter[str] = Counter()
    for count, reason in LINE.findall(log.read_text(errors="replace")):
        reasons[reason] += int(count)
    print(f"skipped tests: {sum(reasons.values())}")
    for reason, count in reasons.most_common():
        print(f"  {count}  {reason}")


if __name__ == "__main__":
    main()
