# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The page in a browser: its policy permits its own style and script, and nothing else is requested."""

import base64
import hashlib
from html.parser import HTMLParser
from pathlib import Path

from support.hostile_files import good_log
from support.programs import memtrace


class Page(HTMLParser):
    """Collects the parts that the policy covers."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.policy = ""
        self.styles: list[str] = []
        self.scripts: list[str] = []
        self.headings: list[str] = []
        self.ids: list[str] = []
        self._inside = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        self._inside = tag
        if named.get("http-equiv") == "Content-Security-Policy":
            self.policy = named["content"] or ""
        if "id" in named:
            self.ids.append(named["id"] or "")

    def handle_data(self, data: str) -> None:
        if self._inside == "style":
            self.styles.append(data)
        if self._inside == "script":
            self.scripts.append(data)
        if self._inside == "h2":
            self.headings.append(data)
        self._inside = ""


def page_of(folder: Path) -> Page:
    log, trace, page = folder / "log.csv", folder / "run.trace", folder / "page.html"
    log.write_bytes(good_log(2000))
    memtrace("import", "-o", str(trace), str(log))
    memtrace("report", "-o", str(page), str(trace))
    return Page(page.read_text())


def hash_of(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def test_policy_permits_only_the_style_and_the_script(tmp_path: Path) -> None:
    page = page_of(tmp_path)
    (style,), (script,) = page.styles, page.scripts
    assert page.policy == (
        f"default-src 'none'; script-src '{hash_of(script)}'; style-src '{hash_of(style)}'; base-uri 'none'; "
        "form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )


def test_sections_have_unique_ids_in_the_order_of_the_terminal(tmp_path: Path) -> None:
    page = page_of(tmp_path)
    assert len(set(page.ids)) == len(page.ids)
    text = memtrace("report", "--verbose", str(tmp_path / "run.trace")).out
    places = [text.index(heading.strip()) for heading in page.headings]
    assert places and places == sorted(places)
