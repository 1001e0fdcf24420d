# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Says how many tests were skipped in the last ctest run, and why.

Usage: skipped.py BUILD. Reads BUILD/Testing/Temporary/LastTest.log: pytest's lines `SKIPPED [n] file: reason`,
and node's `- name (duration) # reason`, whose dash is U+FE63.
"""

import re
import sys
from collections import Counter
from pathlib import Path

OF_PYTEST = re.compile(r"^SKIPPED \[(\d+)\] [^:]+(?::\d+)?: (.*)$", re.M)
OF_NODE = re.compile(r"^\s*\ufe63 .* \([\d.]+ms\) # (.*)$", re.M)


def main() -> None:
    log = (Path(sys.argv[1]) / "Testing/Temporary/LastTest.log").read_text(errors="replace")
    reasons = Counter(OF_NODE.findall(log))
    for count, reason in OF_PYTEST.findall(log):
        reasons[reason] += int(count)
    print(f"skipped tests: {sum(reasons.values())}")
    for reason, count in reasons.most_common():
        print(f"  {count}  {reason}")


if __name__ == "__main__":
    main()
