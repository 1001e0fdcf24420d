# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Robustness: signals, hostile text, files with extreme numbers."""

from case_row import Row
from expectations import ends_with, ends_without_a_crash, prints_nothing_like, says

ROWS = [
    Row(
        "tag_oom.py",
        "8GiB",
        "Control characters of a tag are escaped in the exception's text, and a long tag is cut.",
        (ends_with(0), prints_nothing_like("(?<!\\\\)\\\\x1b", "(?<!\\\\)\\\\x00", "(?<!\\\\)\\\\u202e", "^\\d{6,} ")),
    ),
    Row(
        "hostile_tags.py",
        "8GiB",
        "Hostile names are escaped in the exception's text, and the report can be read.",
        (ends_with(0), prints_nothing_like("(?<!\\\\)\\\\x1b"), says("OUT OF MEMORY")),
    ),
    *(
        Row(
            f"{file} {verb}",
            "none",
            f"memtrace {verb} of a snapshot with extreme numbers ends with a report or with a sentence.",
            (ends_without_a_crash(),),
            reads=verb,
        )
        for file, verb in (
            ("seg_address_0.pickle", "report"),
            ("seg_address_0.pickle", "tree"),
            ("edge_numbers_a.pickle", "report"),
            ("edge_numbers_b.pickle", "report"),
            ("edge_numbers_tree.pickle", "tree"),
        )
    ),
]
