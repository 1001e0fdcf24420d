# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Writes page_shell.cc: style and script of the page and their hashes, by which the page's own policy permits them.

usage: make_shell.py style.css script.js page_shell.cc, with what bundle.mjs made
"""

import base64
import hashlib
import sys
from pathlib import Path

TEMPLATE = """// Written by make_shell.py.
#include "tools/report/page/page_shell.h"

namespace memtrace::report {{

const std::string_view kPageStyle = R"~~~({style})~~~";
const std::string_view kPageStyleHash = "{style_hash}";
const std::string_view kPageScript = R"~~~({script})~~~";
const std::string_view kPageScriptHash = "{script_hash}";

}}  // namespace memtrace::report
"""

# Texts that would end the C++ string or the HTML element ("<!--" starts what `</script>` does not end). A browser reads
# a carriage return as a line feed, which would change the hash.
ENDS = (')~~~"', "</style", "</script", "<!--", "\r")


def policy_hash(text: str) -> str:
    """Returns the name of an element's text in a content security policy."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def embeddable(text: str, name: str) -> str:
    """Returns the text, or exits if it cannot be embedded in an element and in a string unchanged."""
    for end in ENDS:
        if end in text.lower():
            sys.exit(f"make_shell: {name} has {end!r}, which cannot stand in the page")
    return text


def main() -> None:
    """Writes the file that the command line names."""
    style_file, script_file, target = (Path(word) for word in sys.argv[1:])
    style, script = (embeddable(file.read_text(), file.name) for file in (style_file, script_file))
    target.write_text(
        TEMPLATE.format(style=style, style_hash=policy_hash(style), script=script, script_hash=policy_hash(script))
    )


if __name__ == "__main__":
    main()
