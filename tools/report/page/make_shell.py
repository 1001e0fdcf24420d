# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Writes page_shell.cc: the style of the page and its hash, by which the page's own policy permits it.

usage: make_shell.py page.css page_shell.cc
"""

import base64
import hashlib
import re
import sys
from pathlib import Path

TEMPLATE = """// Written by make_shell.py.
#include "tools/report/page/page_shell.h"

namespace memtrace::report {{

const std::string_view kPageStyle = R"~~~({style})~~~";
const std::string_view kPageStyleHash = "{style_hash}";

}}  // namespace memtrace::report
"""


def policy_hash(text: str) -> str:
    """How a content security policy names the text of an element."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def main() -> None:
    """Writes the file that the command line names."""
    source, target = (Path(word) for word in sys.argv[1:])
    without_comments = re.sub(r"/\*.*?\*/", "", source.read_text(), flags=re.DOTALL)
    style = "\n".join(line.strip() for line in without_comments.splitlines() if line.strip())
    target.write_text(TEMPLATE.format(style=style, style_hash=policy_hash(style)))


if __name__ == "__main__":
    main()
