# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Compiles translations: a table for C++, and a .mo file a language for Python's gettext.

Usage: make_catalogue.py CATALOGUE.cc FOLDER LANGUAGE.po...
"""

import json
import sys
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

NAMES = {"zh_CN": "Chinese"}
TEMPLATE = """// Written by make_catalogue.py.
#include "messages/catalogue.h"

#include <array>

namespace memtrace::messages {{
{tables}
}}  // namespace memtrace::messages
"""
TABLE = """
static constexpr std::array<Translation, {count}> k{name}Texts = {{{{
{rows}
}}}};
const std::span<const Translation> k{name} = k{name}Texts;
"""


def quoted(text: str) -> str:
    """Returns the text as a string literal of C++; the source is UTF-8, as the compiler takes it."""
    return json.dumps(text, ensure_ascii=False)


def row(english: str, text: str, is_for_page: bool) -> str:
    """Returns a row of the table."""
    return f"    {{{quoted(english)}, {quoted(text)}, {str(is_for_page).lower()}}},"


def table_of(catalogue: Catalog, language: str) -> str:
    """Returns the table of a language, sorted by the bytes of the English text. Chinese has one form for all counts."""
    texts = {}
    for message in catalogue:
        if not message.id or not message.string or message.fuzzy:
            continue
        english = message.id if isinstance(message.id, str) else message.id[0]
        text = message.string if isinstance(message.string, str) else message.string[0]
        if text:
            texts[english] = (text, any(place.endswith(".ts") for place, _ in message.locations))
    rows = [row(english, *texts[english]) for english in sorted(texts, key=lambda text: text.encode())]
    return TABLE.format(name=NAMES[language], count=len(rows), rows="\n".join(rows))


def main() -> None:
    """Writes the files that the command line names."""
    source, folder, *translations = (Path(word) for word in sys.argv[1:])
    folder.mkdir(parents=True, exist_ok=True)
    tables = []
    for file in translations:
        with file.open("rb") as stream:
            catalogue = read_po(stream, locale=file.stem)
        tables.append(table_of(catalogue, file.stem))
        with (folder / f"{file.stem}.mo").open("wb") as stream:
            write_mo(stream, catalogue)
    source.write_text(TEMPLATE.format(tables="".join(tables)))


if __name__ == "__main__":
    main()
