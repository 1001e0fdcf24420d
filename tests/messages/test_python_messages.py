# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Python's sentences are in the language that the environment names, as those of C++ are."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(os.environ["MEMTRACE_BUILD"]) / "package"
VARIABLES = ("MEMTRACE_LANG", "LC_ALL", "LC_MESSAGES", "LC_CTYPE", "LANG")
SCRIPT = """
import sys
sys.path.insert(0, sys.argv[1])
from memtrace._text import messages
print(messages.translated("no source has this sentence: $1 $0 $$", 1, 2))
print(type(messages._translations()).__name__)
"""


def run(tmp_path: Path, **locale: str) -> list[str]:
    """Prints a sentence and the kind of translations in a fresh interpreter, with the package as it is built."""
    folder = tmp_path / "memtrace"
    if not folder.exists():
        (folder / "_text").mkdir(parents=True)
        source = Path(__file__).parents[2] / "interpose/python/memtrace/_text/messages.py"
        (folder / "_text" / "messages.py").write_bytes(source.read_bytes())
        (folder / "__init__.py").touch()
        (folder / "locale").symlink_to(PACKAGE / "locale")
    environment = {name: value for name, value in os.environ.items() if name not in VARIABLES} | locale
    command = [sys.executable, "-c", SCRIPT, str(tmp_path)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.splitlines()


def test_unknown_sentence_is_english_with_its_values(tmp_path: Path) -> None:
    assert run(tmp_path, MEMTRACE_LANG="zh-CN")[0] == "no source has this sentence: 2 1 $"


@pytest.mark.parametrize(
    ("locale", "is_translated"),
    [
        ({}, False),
        ({"LANG": "zh_CN.UTF-8"}, True),
        ({"LANG": "zh_CN.GB18030"}, False),
        ({"LANG": "zh_TW.UTF-8"}, False),
        ({"LANG": "zh_CN.UTF-8", "MEMTRACE_LANG": "en"}, False),
        ({"LANG": "zh_CN.UTF-8", "MEMTRACE_LANG": "klingon"}, True),
        ({"LC_MESSAGES": "zh_CN.UTF-8", "LANG": "en_US.UTF-8"}, True),
    ],
)
def test_language_is_that_of_the_environment(tmp_path: Path, locale: dict[str, str], is_translated: bool) -> None:
    assert (run(tmp_path, **locale)[1] == "GNUTranslations") == is_translated
