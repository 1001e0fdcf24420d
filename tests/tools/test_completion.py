# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Tests installed completions, in the shells themselves, and man pages; both must be complete."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from support.programs import MEMTRACE, memtrace

SHARE = MEMTRACE.parent.parent / "share"
PAGES = SHARE / "man" / "man1"
OPTION = re.compile(r"^ +(?:(-\w)(?:, | ))?(--[\w-]+)?", re.M)


def verbs() -> list[str]:
    listed = memtrace("--help").out.split("Commands:\n")[1].split("\n\n")[0]
    return [line.split()[0] for line in listed.splitlines()]


def options(verb: str) -> set[str]:
    """Returns every option that --help lists."""
    text = memtrace(verb, "--help").out.split("Options:\n")[1].split("\nExamples:")[0]
    found = (OPTION.match(line) for line in text.splitlines())
    return {name for match in found if match for name in match.groups() if name}


def bash(*words: str, folder: Path | None = None) -> list[str]:
    """Returns bash's completions after these words."""
    script = (
        f'source "{SHARE}/bash-completion/completions/memtrace"; complete -p memtrace >/dev/null || exit 9;'
        'COMP_WORDS=(memtrace "$@"); COMP_CWORD=$#; _memtrace; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        ["bash", "--norc", "-c", script, "bash", *words],
        capture_output=True, text=True, check=False, timeout=60, cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0 and not done.stderr, done.stderr
    return done.stdout.split()


def test_bash_completes_every_verb_and_every_option() -> None:
    assert set(verbs()) <= set(bash("")) and "man" not in bash("")
    for verb in verbs():
        assert options(verb) == set(bash(verb, "-")), verb


def test_bash_completes_values_files_and_programs(tmp_path: Path) -> None:
    (tmp_path / "run.trace").write_text("")
    assert bash("run", "--events", "") == ["eager", "lazy"]
    assert bash("export", "--to", "s") == ["snapshot", "speedscope", "sqlite"]
    assert bash("replay", "--policy", "torch") == ["torch-native", "torch-expandable"]
    assert bash("completion", "") == ["bash", "zsh", "fish"]
    assert bash("run", "--host-values", "o") == ["on", "off"]
    assert bash("report", "ru", folder=tmp_path) == ["run.trace"]
    assert bash("run", "-o", "ru", folder=tmp_path) == ["run.trace"]
    assert "bash" in bash("run", "--", "bas") and bash("run", "--", "bash", "ru", folder=tmp_path) == ["run.trace"]
    assert bash("cards", "") == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_script_is_installed_and_valid(shell: str) -> None:
    installed = {
        "bash": "bash-completion/completions/memtrace",
        "zsh": "zsh/site-functions/_memtrace",
        "fish": "fish/vendor_completions.d/memtrace.fish",
    }
    script = memtrace("completion", shell).out
    assert script == (SHARE / installed[shell]).read_text()
    for verb in verbs():
        for option in options(verb):
            said = option if shell != "fish" else f"-l {option[2:]}" if option[:2] == "--" else f"-s {option[1:]}"
            assert said in script, (verb, option)
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed: its script was not run")
    done = subprocess.run([shell, "-n"], input=script, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0 and not done.stderr, done.stderr


def test_every_verb_has_a_man_page_with_every_option() -> None:
    assert {path.stem for path in PAGES.glob("memtrace*")} == {"memtrace", *(f"memtrace-{verb}" for verb in verbs())}
    for verb in verbs():
        page = (PAGES / f"memtrace-{verb}.1").read_text().replace("\\-", "-")
        for option in options(verb):
            assert f"\\fB{option}\\fR" in page, (verb, option)
        assert memtrace(verb, "--help").out.split("\n")[0] in page
    assert all(f"memtrace-{verb}" in (PAGES / "memtrace.1").read_text().replace("\\-", "-") for verb in verbs())


def test_man_pages_are_formatted_without_warnings() -> None:
    if shutil.which("groff") is None:
        pytest.skip("groff is not installed")
    for page in sorted(PAGES.glob("memtrace*.1")):
        done = subprocess.run(
            ["groff", "-man", "-ww", "-z", "-Tutf8", "-Kutf8", page],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert done.returncode == 0 and not done.stderr, (page.name, done.stderr)
