# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""A hook of MkDocs that keeps the site complete: what it links to and loads is in it.

A link from docs/ to another file of the repository becomes the path of that file, because the site does not have it. A
link to a file that does not exist stays as it is, and MkDocs reports it. The theme's offline search would load a script
from a server; docs/assets/worker_from_file.js takes its place.
"""

import posixpath
import re
from pathlib import Path
from typing import Any

_LOADED = re.compile(r'<script src="?https://[^>]*iframe-worker/shim"?></script>')
_LINK = re.compile(r"\[([^\]]*)\]\(([^)\s#]+)(#[^)\s]*)?\)")


def on_page_markdown(markdown: str, *, page: Any, config: Any, **_: object) -> str:
    """Returns the page's text without links that leave docs/."""
    folder = posixpath.dirname(page.file.src_uri)
    root = Path(config.config_file_path).parent

    def path_of(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join("docs", folder, link[2]))
        if ":" in link[2] or target.startswith("docs/") or not (root / target).exists():
            return link[0]
        return f"`{target}`" if target in link[1] else f"{link[1]} (`{target}`)"

    return _LINK.sub(path_of, markdown)


def on_post_page(output: str, *, page: Any, **_: object) -> str:
    """Returns the page's HTML with the site's own script for the search."""
    script = posixpath.relpath("assets/worker_from_file.js", posixpath.dirname(page.url) or ".")
    return _LOADED.sub(f'<script src="{script}"></script>', output)


def on_post_template(output_content: str, **_: object) -> str:
    """Returns a page that belongs to no Markdown, such as 404.html, without the script of a server."""
    return _LOADED.sub("", output_content)
