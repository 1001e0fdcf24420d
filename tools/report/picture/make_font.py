# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Writes a font file into an assembler source, so that the program carries it.

Usage: make_font.py FONT.ttf OUTPUT.cc
"""

import sys
from pathlib import Path

TEMPLATE = """// Written by make_font.py of {name}, whose licence permits it to be embedded.
#include "tools/report/picture/typeface.h"

asm(R"(
  .section .rodata
  .global memtrace_font_begin
  .hidden memtrace_font_begin
memtrace_font_begin:
  .incbin "{path}"
  .section .text
)");

extern "C" const char memtrace_font_begin[];

namespace memtrace::report {{

const std::string_view kMonospacedFont(memtrace_font_begin, {size});

}}  // namespace memtrace::report
"""


def main() -> None:
    """Writes the file that the command line names."""
    font, output = (Path(word) for word in sys.argv[1:])
    output.write_text(TEMPLATE.format(name=font.name, path=font, size=font.stat().st_size))


if __name__ == "__main__":
    main()
