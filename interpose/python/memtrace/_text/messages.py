# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Sentences that people read, in their language, as messages/message.h has them for C++ (docs/design/messages.md).

Each sentence is written in English where it is printed, as one whole literal with $0 to $9 for what varies. The
functions may be called from any thread.
"""

from __future__ import annotations

import functools
import gettext
import os
import re
from collections.abc import Iterable
from pathlib import Path

_FOLDER = Path(__file__).parents[1] / "locale"
_SIMPLIFIED = {"zh", "zh-cn", "zh-sg", "zh-hans", "zh-hans-cn"}


def translated(english: str, *arguments: object) -> str:
    """Returns the sentence in the language in use, with the arguments in the places of $0 to $9."""
    return _with(_translations().gettext(english), arguments)


def counted(count: int, one: str, many: str, *arguments: object) -> str:
    """Returns the sentence for a count: `one` is the English text for 1. The count is no argument by itself."""
    return _with(_translations().ngettext(one, many, count), arguments)


def marked(english: str) -> str:
    """Marks a literal in a table for xgettext; `message_of` translates it where it is printed."""
    return english


def message_of(text: str) -> str:
    """Returns a text that stands in a table, marked there, in the language in use."""
    return _translations().gettext(text)


def joined_sentences(sentences: Iterable[str]) -> str:
    """Joins sentences as the language in use does: English has a blank between two, Chinese has none."""
    return ("" if isinstance(_translations(), gettext.GNUTranslations) else " ").join(sentences)


def _with(text: str, arguments: tuple[object, ...]) -> str:
    return re.sub(r"\$([0-9$])", lambda found: "$" if found[1] == "$" else str(arguments[int(found[1])]), text)


@functools.cache
def _translations() -> gettext.NullTranslations:
    """Reads the translations once: the language does not change while a program runs."""
    file = _FOLDER / "zh_CN.mo"
    if not _wants_chinese() or not file.exists():
        return gettext.NullTranslations()
    with file.open("rb") as stream:
        return gettext.GNUTranslations(stream)


def _wants_chinese() -> bool:
    """Chooses as messages/language.cc does: MEMTRACE_LANG, else the locale if its characters are UTF-8."""
    asked = _tag(os.environ.get("MEMTRACE_LANG", ""))
    if asked in _SIMPLIFIED or asked == "en" or asked.startswith("en-"):
        return asked in _SIMPLIFIED
    # Python sets LC_CTYPE to this, whatever the terminal shows, if the system lacks the locale.
    is_of_python = os.environ.get("LC_CTYPE") == "C.UTF-8"
    locale = _first_set("LC_ALL", "LANG") if is_of_python else _first_set("LC_ALL", "LC_CTYPE", "LANG")
    charset = locale.partition(".")[2].partition("@")[0].lower()
    return charset in ("", "utf-8", "utf8") and _tag(_first_set("LC_ALL", "LC_MESSAGES", "LANG")) in _SIMPLIFIED


def _first_set(*names: str) -> str:
    return next((text for name in names if (text := os.environ.get(name))), "")


def _tag(locale: str) -> str:
    return re.split(r"[.@]", locale)[0].lower().replace("_", "-")
