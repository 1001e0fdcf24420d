# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The names that this Python gives to functions of source files, as memtrace records them.

Usage: function_names.py < frames. Reads a JSON list of [file, line, function] and writes a list of names: qualified
since Python 3.11, bare before, None if the file has no such function (3.12 has no frames of comprehensions).
"""

import json
import sys
from collections.abc import Iterator
from functools import cache
from types import CodeType


@cache
def functions(file: str) -> list[CodeType]:
    try:
        with open(file, encoding="utf-8") as source:
            return list(within(compile(source.read(), file, "exec")))
    except OSError:  # "<frozen runpy>"
        return []


def within(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from within(constant)


def name(file: str, line: int, function: str) -> "str | None":
    bare = function.rpartition(".")[2]
    found = functions(file)
    if not found:
        return function if hasattr(name.__code__, "co_qualname") else bare
    for code in found:
        if code.co_name == bare and any(line == at for _, _, at in code.co_lines()):
            return getattr(code, "co_qualname", code.co_name)
    return None


if __name__ == "__main__":
    print(json.dumps([name(*frame) for frame in json.load(sys.stdin)]))
