# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Generates what other languages need from the tables in profiler/trace/vocabulary and base/environment.def.

Usage: generate_vocabulary.py ROOT [--check]. Writes the constants of Python, the types of the page's script, the tables
of format.md and docs/reference/environment.md. With --check it writes nothing; if a file differs from what it would
write, it prints a line for each and exits with 1.
"""

import re
import sys
import textwrap
from pathlib import Path

TABLES = Path("profiler/trace/vocabulary")
PYTHON = Path("interpose/python/memtrace/_core/vocabulary.py")
SCRIPT = Path("tools/report/page/src/vocabulary.ts")
FORMAT = TABLES.parent / "format.md"
ENVIRONMENT = Path("base/environment.def")
VARIABLES = Path("docs/reference/environment.md")
# The tables whose rows are a name, a word and a meaning: the macro of each.
MACROS = {
    "roles": "MEMTRACE_ROLE",
    "causes": "MEMTRACE_CAUSE",
    "contributions": "MEMTRACE_CONTRIBUTION",
    "need_sources": "MEMTRACE_NEED_SOURCE",
    "ledger": "MEMTRACE_LEDGER_ENTRY",
    "off_card": "MEMTRACE_OFF_CARD_ENTRY",
    "moments": "MEMTRACE_MOMENT",
}
_PHASES = ("phases.def", "MEMTRACE_PHASE")  # whose rows have no meaning
_STRING = r'"((?:[^"\\]|\\.)*)"'
_WIDTH = 120
_SCRIPT_WIDTH = 100


def rows(root: Path, table: str, macro: str) -> list[tuple[str, ...]]:
    """Lists the arguments of each use of a macro, in their order: its name, then its texts.

    As in C++, literals without a comma between them are one text.
    """
    text = (root / TABLES / table).read_text()
    uses = re.finditer(rf"^{macro}\((\w+),\s*((?:{_STRING},?\s*)+)\)", text, re.MULTILINE)
    texts = rf"(?:{_STRING}\s*)+"
    return [(use[1], *("".join(re.findall(_STRING, text[0])) for text in re.finditer(texts, use[2]))) for use in uses]


def facts(root: Path) -> list[tuple[str, str, str, str]]:
    """Returns name, key, the kind of its number (empty: none) and meaning of each fact, in the order of the table."""
    text = (root / TABLES / "facts.def").read_text()
    order = re.findall(r"^MEMTRACE_(?:NUMBERED_)?FACT\((\w+),", text, re.MULTILINE)
    plain = {name: (name, key, "", meaning) for name, key, meaning in rows(root, "facts.def", "MEMTRACE_FACT")}
    numbered = {row[0]: row for row in rows(root, "facts.def", "MEMTRACE_NUMBERED_FACT")}
    found = [plain.get(name) or numbered[name] for name in order]
    return [(name, key, number, meaning) for name, key, number, meaning in found]


def words(root: Path) -> dict[str, list[str]]:
    """Returns the words of each table but the facts, in the order of the table."""
    found = {name: [row[1] for row in rows(root, f"{name}.def", macro)] for name, macro in MACROS.items()}
    return found | {"phases": [row[1] for row in rows(root, *_PHASES)]}


def capitals(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).upper()


def python_of(root: Path) -> str:
    """Returns the constants of Python: numbers of roles and phases, words, keys of facts."""
    lines = [
        "# SPDX-FileCopyrightText: the memtrace authors",
        "# SPDX-License-Identifier: Apache-2.0",
        '"""Roles, phases, a card\'s ledger, moments, keys of facts: made by cmake/generate_vocabulary.py."""',
        "",
    ]
    for prefix, table, macro in (("ROLE", "roles.def", MACROS["roles"]), ("PHASE", *_PHASES)):
        for number, row in enumerate(rows(root, table, macro)):
            lines.append(f"{prefix}_{capitals(row[0])} = {number}")
        lines.append("")
    listed = words(root)
    for name in ("roles", "phases", "ledger", "off_card"):
        lines += [f"{name.upper()} = (", *(f'    "{word}",' for word in listed[name]), ")"]
    lines.append("")
    for name, word, _ in rows(root, "moments.def", MACROS["moments"]):
        lines.append(f'MOMENT_{capitals(name)} = "{word}"')
    lines.append("")
    for name, key, number, _ in facts(root):
        lines.append(f'{capitals(name)} = "{key}"' + (f"  # .{number}" if number else ""))
    return "\n".join(lines) + "\n"


def _union(name: str, listed: list[str]) -> str:
    """Returns a type of the page's script, broken into lines as prettier does."""
    literals = [f'"{word}"' for word in listed]
    line = "  " + " | ".join(literals) + ";"
    lines = "  | " + "\n  | ".join(literals) + ";"
    return f"export type {name} =\n" + (line if len(line) <= _SCRIPT_WIDTH else lines)


def script_of(root: Path) -> str:
    """Returns the types of the page's script."""
    lines = [
        "// SPDX-FileCopyrightText: the memtrace authors",
        "// SPDX-License-Identifier: Apache-2.0",
        "//",
        "// Made by cmake/generate_vocabulary.py of profiler/trace/vocabulary.",
        "",
    ]
    for name, table in (("Role", "roles"), ("Phase", "phases"), ("LedgerEntry", "ledger")):
        lines += [_union(name, words(root)[table]), ""]
    return "\n".join(lines[:-1]) + "\n"


def _table(head: tuple[str, ...], body: list[tuple[str, ...]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in body])


def _list(body: list[tuple[str, str]]) -> str:
    """Returns a list of names and meanings, in lines of at most 120 columns."""
    return "\n".join(
        textwrap.fill(
            f"- {name}: {meaning}", _WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
        )
        for name, meaning in body
    )


def tables_of(root: Path) -> dict[str, str]:
    """Returns the tables of format.md, by their names."""
    body = [(f"`{key}.{number}`" if number else f"`{key}`", meaning) for _, key, number, meaning in facts(root)]
    tables = {"facts": _list(body)}
    for name, macro in MACROS.items():
        meanings = [(f"`{row[1]}`", row[2]) for row in rows(root, f"{name}.def", macro)]
        tables[name] = _table(("name", "meaning"), meanings)
    return tables | {"phases": ", ".join(f"`{word}`" for word in words(root)["phases"])}


def variables(root: Path) -> dict[str, str]:
    """Returns the meaning of each variable of the environment, by its name."""
    uses = re.findall(
        rf"^MEMTRACE_VARIABLE\(\w+,\s*{_STRING},\s*{_STRING}\)", (root / ENVIRONMENT).read_text(), re.MULTILINE
    )
    return dict(uses)


def variables_page_of(root: Path) -> str:
    """Returns docs/reference/environment.md: a list for each comment that is above rows."""
    lines = [
        "# Environment",
        "",
        f"The variables that memtrace reads by name, made by `cmake/generate_vocabulary.py` of `{ENVIRONMENT}`.",
        "[command_line.md](command_line.md) says which of them `memtrace run` reads and sets.",
    ]
    meanings = variables(root)
    for heading, rows_below in re.findall(
        r"^// ([^\n]+)\.\n((?:MEMTRACE_VARIABLE[^\n]*\n)+)", (root / ENVIRONMENT).read_text(), re.MULTILINE
    ):
        names = [name for name in re.findall(r'"(\w+)", "', rows_below) if name in meanings]
        body = [(f"`{name}`", meanings[name]) for name in names]
        lines += ["", f"## {heading}", "", _list(body)]
    return "\n".join(lines) + "\n"


def format_of(root: Path) -> str:
    """Returns format.md with its tables up to date."""
    text = (root / FORMAT).read_text()
    for name, table in tables_of(root).items():
        begin, end = f"<!-- {name}.def -->", f"<!-- end of {name}.def -->"
        if begin not in text:
            raise SystemExit(f"{FORMAT}: there is no line '{begin}', after which the table would stand")
        before, _, rest = text.partition(begin)
        text = before + f"{begin}\n\n{table}\n\n{end}" + rest.partition(end)[2]
    return text


def main(root: Path, check: bool) -> int:
    status = 0
    made = {
        PYTHON: python_of(root),
        SCRIPT: script_of(root),
        FORMAT: format_of(root),
        VARIABLES: variables_page_of(root),
    }
    for path, text in made.items():
        file = root / path
        if file.exists() and file.read_text() == text:
            continue
        if check:
            print(f"{path}: differs from the tables; run cmake/generate_vocabulary.py .")
            status = 1
        else:
            file.write_text(text)
    return status


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), "--check" in sys.argv[2:]))
