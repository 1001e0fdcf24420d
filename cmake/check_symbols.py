# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Checks that each function of the simulated card that ignores a parameter is listed in symbols/*.partial.txt.

Usage: check_symbols.py ROOT [--write]. Exit 0 if all is well, 1 with one line per violation otherwise. A parameter is
ignored if it has no name. Handles of libraries do not count, because each process has only one model of the cards. The
page of these tables is docs/reference/card-symbols.md; --write makes it.
"""

import re
import sys
import textwrap
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "interpose/simulated_card/symbols"))
from symbol_tables import names, notes, without_version

CARD = Path("interpose/simulated_card")
PAGE = Path("docs/reference/card-symbols.md")
HEAD = """# What the simulated card answers in part, and what it only counts

Made by `cmake/check_symbols.py . --write` of `interpose/simulated_card/symbols`. Of each function that its libraries
export `memtrace doctor --symbols` says one of four words:

- **full**: answered by the card.
- **partial**: answered, but for what stands below.
- **inert**: stands for computation or for an object that only passes through: it succeeds, is counted, and computes
  nothing.
- **unsupported**: fails with the library's \"not supported\", and is counted by name: `memtrace doctor run.trace` lists
  those that a run called.
"""
# These call a function of a table, but without using what it ignores.
_IN_FULL = {"cuOccupancyMaxActiveBlocksPerMultiprocessor", "ncclCommInitRank"}
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/")
_DEFINITION = re.compile(
    r"^[\w:*&<> ]+?\b((?:cuda|cublas|cudnn|cusolver|cusparse|cufft|cupti|cu|nccl|nvml)[A-Z]\w*)"
    r"\(((?:[^()]|\([^()]*\))*)\)\s*\{",
    re.MULTILINE,
)
_COMMA = re.compile(r",(?![^()]*\))")
_QUALIFIERS = {"const", "unsigned", "signed", "struct", "enum", "long", "short", "std"}
_NUMBERS = {"int", "char", "float", "double", "void", "bool", "size_t"}
_HANDLE = re.compile(r"^(?:const )?\w*(?:Handle_t|ncclComm_t)$")


def has_name(parameter: str) -> bool:
    """True if a parameter of a definition has a name after its type."""
    parameter = re.sub(r"\[\w*\]$", "", parameter)
    if re.search(r"\(\*\w+\)", parameter):
        return True
    if parameter.endswith(("*", "&")):
        return False
    words = re.findall(r"\w+", parameter)
    types = [word for word in words if word not in _QUALIFIERS]
    is_plain_number = len(types) < len([word for word in words if word not in ("const", "std")])
    return len(types) > 1 or (len(types) == 1 and is_plain_number and types[0] not in _NUMBERS)


def ignored(text: str) -> dict[str, list[str]]:
    """Returns, by function, the types of the parameters that it ignores."""
    found = {}
    for definition in _DEFINITION.finditer(_COMMENT.sub("", text)):
        parameters = [" ".join(part.split()) for part in _COMMA.split(definition[2])]
        without = [part for part in parameters if part not in ("", "void", "...") and not has_name(part)]
        if types := [part for part in without if not _HANDLE.match(part)]:
            found[definition[1]] = types
    return found


def relayed(text: str, known: set[str]) -> dict[str, str]:
    """Returns, by function, one of `known` that it calls, and which limits what it does."""
    found = {}
    text = _COMMENT.sub("", text)
    definitions = list(_DEFINITION.finditer(text))
    ends = [*(definition.start() for definition in definitions), len(text)][1:]
    for definition, end in zip(definitions, ends, strict=True):
        called = re.findall(r"\b(cu\w+|nccl\w+|nvml\w+)\(", text[definition.end() : end])
        if partial := sorted({without_version(name) for name in called} & known - {definition[1]}):
            found[definition[1]] = partial[0]
    return found


def stated(folder: Path) -> set[str]:
    """Returns the functions that are only partly implemented or inert, without the number of their version."""
    tables = [*folder.glob("*.partial.txt"), *folder.glob("*.inert.txt")]
    return {without_version(name) for name in names(tables)}


def page(folder: Path) -> str:
    """Returns the page of all tables."""
    text = HEAD
    for library in sorted({table.name.split(".")[0] for table in folder.glob("*.txt")}):
        text += f"\n## {library}\n"
        partial, inert = folder / f"{library}.partial.txt", folder / f"{library}.inert.txt"
        if partial.exists():
            entries = (f"- `{name}`: {note}" for name, note in notes(partial).items())
            text += "\n" + "".join(textwrap.fill(entry, 120, subsequent_indent="  ") + "\n" for entry in entries)
        if inert.exists():
            listed = ", ".join(f"`{name}`" for name in sorted(names([inert])))
            text += "\n" + textwrap.fill(f"Inert: {listed}.", 120, break_on_hyphens=False) + "\n"
    return text


def main(root: Path, write: bool) -> int:
    known = stated(root / CARD / "symbols")
    status = 0
    made = page(root / CARD / "symbols")
    if write:
        (root / PAGE).write_text(made)
    elif not (root / PAGE).exists() or (root / PAGE).read_text() != made:
        print(f"{PAGE}: differs from the tables; run cmake/check_symbols.py . --write")
        status = 1
    for source in sorted((root / CARD).rglob("*.cc")):
        text = source.read_text()
        faults = {name: f"ignores {', '.join(types)}" for name, types in ignored(text).items()}
        faults |= {name: f"calls {partial}" for name, partial in relayed(text, known).items() if name not in _IN_FULL}
        for name, fault in faults.items():
            if without_version(name) not in known:
                print(f"{source.relative_to(root)}: {name} {fault}, and no symbols/*.partial.txt has a row for it")
                status = 1
    return status


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), "--write" in sys.argv[2:]))
