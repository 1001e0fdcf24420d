# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a command whose peak of resident memory is asked for.

Usage: peak_memory.py COMMAND...; prints "PEAK STATUS", the peak in KiB. What the command prints on stdout is lost.

A program of its own: the kernel counts what the process that starts a command has resident as the command's.
"""

import os
import subprocess
import sys


def main() -> None:
    child = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    print(usage.ru_maxrss, child.returncode)


if __name__ == "__main__":
    main()
