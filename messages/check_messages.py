# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Checks that each sentence that people read has a translation, and that both name the same values.

Usage: check_messages.py ROOT [--write]. Exit 0 if all is well, 1 with one line per violation otherwise. With --write it
brings the sentences of the sources into the .po files; new ones stand there without a translation.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import read_po

FOLDERS = ("base", "messages", "profiler", "interpose", "tools")
ENDINGS = {"C++": ("cc", "h", "def"), "Python": ("py",), "JavaScript": ("ts",)}
# The functions that print a sentence, with the places of their literals. xgettext takes one place of a function at a
# time.
KEYWORDS = [
    ("C++", ("Message:1", "CountedMessage:2,3", "Marked:1", "MEMTRACE_REMEDY:2", "MEMTRACE_TERM:1")),
    ("C++", ("MEMTRACE_REMEDY:4", "MEMTRACE_TERM:2")),
    ("C++", ("MEMTRACE_REMEDY:5",)),
    ("Python", ("translated:1", "counted:2,3", "marked:1")),
    ("JavaScript", ("translated:1", "counted:2,3")),
]
# A call whose sentence is not a literal would not be collected.
NOT_LITERAL = {
    "C++": re.compile(r"(?<!\w)(?:Message|Marked)\((?!\s*\"|\s*std::string_view english|std::string_view\))[^)\n]*"),
    "Python": re.compile(r"(?<![\w.])(?<!def )(?:translated|marked)\((?!\s*\"|english: str)[^)\n]*"),
    "JavaScript": re.compile(r"(?<![\w.])(?<!function )translated\((?!\s*[\"`])[^)\n]*"),
}
PLACEHOLDER = re.compile(r"\$\$|\$[0-9]")


def sources(root: Path, language: str) -> list[str]:
    """Lists the sources that may print sentences, but for those of the catalogue itself."""
    patterns = [f"{folder}/*.{ending}" for folder in FOLDERS for ending in ENDINGS[language]]
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", *patterns],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    )
    return [name for name in listed.stdout.split() if (root / name).exists()]


def collect(root: Path, target: Path) -> None:
    """Writes the template: all sentences of all sources, each with the files that have it."""
    for number, (language, keywords) in enumerate(KEYWORDS):
        joined = ["--join-existing"] if number > 0 else []
        subprocess.run(
            [
                "xgettext",
                *joined,
                f"--language={language}",
                "--from-code=UTF-8",
                "--keyword",
                *(f"--keyword={keyword}" for keyword in keywords),
                "--add-location=file",
                "--sort-by-file",
                "--no-wrap",
                "--force-po",
                f"--output={target}",
                "--files-from=-",
            ],
            cwd=root,
            input="\n".join(sources(root, language)),
            capture_output=True,  # it warns of empty texts and of types in TypeScript
            text=True,
            check=True,
        )
    # English has two forms. A percent sign is not a placeholder: xgettext takes it for one of C or of Python.
    text = re.sub(r"nplurals=INTEGER; plural=EXPRESSION", "nplurals=2; plural=(n != 1)", target.read_text())
    target.write_text(re.sub(r"(?m)^#, .*-format\n", "", text))


def read(file: Path, locale: str | None = None) -> Catalog:
    """Reads a .po file, or the template."""
    with file.open("rb") as stream:
        return read_po(stream, locale=locale)


def texts(message: Message) -> tuple[list[str], list[str]]:
    """Returns the English texts of a message and its translations, one a form of the count."""
    english = [message.id] if isinstance(message.id, str) else list(message.id)
    translated = [message.string] if isinstance(message.string, str) else list(message.string or [""])
    return english, translated


def wrong_entry(message: Message) -> str:
    """Says what is wrong with a sentence or its translation; empty if nothing is."""
    english, translated = texts(message)
    if message.fuzzy:
        return "is marked fuzzy: the English sentence has changed since it was translated"
    if any("docs/" in text for text in english):
        return "names a file under docs/, which an installation does not have"
    if not all(translated):
        return "has no translation"
    wanted = set(PLACEHOLDER.findall(english[-1]))
    for text in translated:
        if set(PLACEHOLDER.findall(text)) != wanted:
            return f"has other values in its translation: {text!r}"
    return ""


def violations(root: Path, template: Catalog) -> list[str]:
    """Returns a line for each sentence that is not translated as it stands in the sources."""
    found = []
    for file in sorted((root / "messages").glob("*.po")):
        catalogue = read(file, file.stem)
        name = file.relative_to(root)
        wanted = [message.id for message in template if message.id]
        for sentence in wanted:
            message = catalogue.get(sentence if isinstance(sentence, str) else sentence[0])
            if message is None:
                found.append(f"{name}: {sentence!r} is missing; run `make messages`")
            elif reason := wrong_entry(message):
                found.append(f"{name}: {sentence!r} {reason}")
        known = {sentence if isinstance(sentence, str) else sentence[0] for sentence in wanted}
        for message in catalogue:
            english = texts(message)[0][0]
            if english and english not in known:
                found.append(f"{name}: {english!r} is in no source; run `make messages`")
    return found


def uncollected(root: Path) -> list[str]:
    """Returns the calls whose sentence is not a literal."""
    found = []
    for language, pattern in NOT_LITERAL.items():
        for name in sources(root, language):
            code = re.sub(r"(?m)(?://|# ).*$", "", (root / name).read_text())
            for call in pattern.finditer(code):
                number = code.count("\n", 0, call.start()) + 1
                found.append(f"{name}:{number}: {call[0]}: the sentence is no literal")
    return found


def write(root: Path, template: Path) -> None:
    """Brings the template's sentences into the .po files, and removes those that are gone."""
    for file in sorted((root / "messages").glob("*.po")):
        options = ["--quiet", "--update", "--backup=none", "--no-wrap", "--no-fuzzy-matching", "--add-location=file"]
        subprocess.run(["msgmerge", *options, file, template], check=True)
        subprocess.run(
            ["msgattrib", "--no-obsolete", "--no-wrap", "--sort-by-file", f"--output={file}", file], check=True
        )
        file.write_text(re.sub(r'(?m)^"(?:POT-Creation-Date|Report-Msgid-Bugs-To):.*\n', "", file.read_text()))


def main() -> int:
    """Checks or writes, as the command line says."""
    root = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        template = Path(folder) / "memtrace.pot"
        collect(root, template)
        if "--write" in sys.argv[2:]:
            write(root, template)
            return 0
        found = violations(root, read(template)) + uncollected(root)
    print("\n".join(found) or "every sentence is translated")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
