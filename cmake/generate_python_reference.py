# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Generates docs/reference/python.md from the docstrings of the Python package, which nothing imports for that.

Usage: generate_python_reference.py ROOT [--check]. One section for each name of `memtrace.__all__`, in that order, then
for each callback. With --check it writes nothing; if the page differs from what it would write, it says so and exits
with 1.
"""

import logging
import re
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import griffe

SOURCES = Path("interpose/python")
PAGE = Path("docs/reference/python.md")
# Classes that are not exported but returned: their sections follow that of the class that has them.
_RETURNED = {"Estimate": ["FirstFailure"]}
_WIDTH = 120
_BEGINNING = """
# The Python package

`import memtrace` gives a script what `memtrace run` gives a command, and more control. All of it also works without a
GPU, on a [simulated card](../start/without-a-gpu.md).

```python
import memtrace

memtrace.simulated_card("24GiB")  # leave this out to use the GPU
memtrace.enable()

with memtrace.tag("edited_model"):
    edited = make_functional(model)

memtrace.step()
```

All functions may be called from any thread; the thread rule of each says what else it requires. Sizes are in bytes.
`help(memtrace.estimate)` shows the same text as this page, which `cmake/generate_python_reference.py` makes of the
docstrings. Each example is run by `tests/interpose/python/test_api_examples.py` on a simulated card of 2 GiB.

With `MEMTRACE=0` in the environment, `enable` returns False, and `step`, `tag` and the callbacks do nothing.
[Estimate](../design/estimate.md) says how an estimate is made and what it does not cover.
"""
_CALLBACKS = """
## memtrace.callbacks

The callbacks say before the first step if a training does not fit. A framework is imported when its callback is first
named, as in `from memtrace.callbacks import FitCallback`.
"""
Section = griffe.DocstringSection


def wrapped(text: str, first: str = "", rest: str = "") -> str:
    """Returns each paragraph of `text` in lines of at most 120 columns."""
    paragraphs = [" ".join(paragraph.split()) for paragraph in text.strip().split("\n\n")]
    words = {"width": _WIDTH, "break_long_words": False, "break_on_hyphens": False, "subsequent_indent": rest}
    lines = [textwrap.fill(paragraph, initial_indent=rest, **words) for paragraph in paragraphs]
    lines[0] = textwrap.fill(paragraphs[0], initial_indent=first, **words)
    return "\n\n".join(lines)


def entries(title: str, items: list[tuple[str, str]]) -> list[str]:
    """Returns a titled list of names and their meanings."""
    return [f"**{title}**", "\n".join(wrapped(text, f"- {name}: ", "  ") for name, text in items)]


def attributes(section: Section) -> list[str]:
    typed = [f"`{item.name}: {item.annotation}`" if item.annotation else f"`{item.name}`" for item in section.value]
    return entries("Attributes", [(name, item.description) for name, item in zip(typed, section.value, strict=True)])


def example(text: str) -> list[str]:
    return ["**Example**", f"```python\n{text.rstrip()}\n```"]


def paragraph(text: str) -> list[str]:
    """Returns text; the thread rule is a paragraph with a name."""
    return [wrapped(re.sub(r"^Thread rule: ", "**Thread rule:** ", text, flags=re.MULTILINE))]


_RENDERED: dict[str, Callable[[Section], list[str]]] = {
    "text": lambda section: paragraph(section.value),
    "parameters": lambda section: entries(
        "Arguments", [(f"`{item.name}`", item.description) for item in section.value]
    ),
    "attributes": attributes,
    "returns": lambda section: ["**Returns**", *(wrapped(item.description) for item in section.value)],
    "raises": lambda section: entries("Raises", [(f"`{item.annotation}`", item.description) for item in section.value]),
    "admonition": lambda section: example(section.value.contents),
}


def body(item: griffe.Object) -> list[str]:
    """Returns the paragraphs of a docstring. Raises ValueError if it has none or cannot be shown."""
    if item.docstring is None:
        raise ValueError(f"{item.path} has no docstring")
    rendered = []
    for section in item.docstring.parse("google", returns_named_value=False, returns_multiple_items=False):
        if section.kind.value not in _RENDERED or (section.title or "Example") != "Example":
            raise ValueError(f"{item.path}: its docstring has a section '{section.title or section.kind.value}'")
        # griffe takes the words before a colon for a type.
        if section.kind.value == "returns" and str(section.value[0].annotation) != str(item.returns):
            raise ValueError(f"{item.path}: the description of its result has a colon")
        rendered += _RENDERED[section.kind.value](section)
    return rendered


def unquoted(annotation: object) -> str:
    """Returns a type hint without the quotes of one that is written as text."""
    return str(annotation).replace('"', "").replace("'", "")


def parameter(one: griffe.Parameter) -> str:
    star = {"variadic positional": "*", "variadic keyword": "**"}.get(one.kind.value if one.kind else "", "")
    hint = f": {unquoted(one.annotation)}" if one.annotation is not None else ""
    default = "" if one.default is None or star else str(one.default).replace("'", '"')
    return f"{star}{one.name}{hint}" + (f" = {default}" if default else "")


def signature(name: str, function: griffe.Function, is_class: bool = False) -> str:
    """Returns the signature as Python code, in one line if it fits."""
    given: list[str] = []
    for one in function.parameters:
        if one.name == "self":
            continue
        if one.kind == griffe.ParameterKind.keyword_only and "*" not in given:
            given.append("*")
        given.append(parameter(one))
    result = "" if is_class or function.returns is None else f" -> {unquoted(function.returns)}"
    line = f"{name}({', '.join(given)}){result}"
    if len(line) > _WIDTH:
        line = f"{name}(\n" + "".join(f"    {one},\n" for one in given) + f"){result}"
    return f"```python\n{line}\n```"


def section_of(name: str, item: griffe.Object) -> Iterator[str]:
    """Yields the parts of the section of a function, or of a class with its public methods and properties."""
    yield f"### `{name}`"
    if isinstance(item, griffe.Function):
        yield signature(name, item)
        yield from body(item)
        return
    constructor = item.members.get("__init__")
    # Programs do not make those that are dataclasses.
    if isinstance(constructor, griffe.Function) and "dataclass" not in item.labels:
        yield signature(f"class {name}", constructor, is_class=True)
    yield from body(item)
    for inner, member in item.members.items():
        if inner.startswith("_") and inner != "__call__":
            continue
        if isinstance(member, griffe.Function):
            yield f"#### `{name}.{inner}`"
            yield signature(inner, member)
            yield from body(member)
        elif "property" in member.labels:
            yield f"#### `{name}.{inner}`"
            yield f"```python\n{inner}: {member.annotation}  # a property\n```"
            yield from body(member)


def target(package: griffe.Module, name: str) -> griffe.Object:
    item = package.members[name]
    return item.final_target if isinstance(item, griffe.Alias) else item


def page_of(root: Path) -> str:
    """Returns docs/reference/python.md."""
    loader = griffe.GriffeLoader(search_paths=[root / SOURCES])
    package = loader.load("memtrace")
    loader.resolve_aliases()
    parts = [_BEGINNING.strip(), "## memtrace"]
    for name in package.exports:
        item = target(package, str(name))
        parts += section_of(f"memtrace.{name}", item)
        for returned in _RETURNED.get(str(name), []):
            parts += section_of(returned, item.parent.members[returned])
    parts.append(_CALLBACKS.strip())
    modules = package["callbacks._MODULES"].value
    for name, path in zip(modules.keys, modules.values, strict=True):
        name, path = str(name).strip("\"'"), str(path).strip("\"'")
        parts += section_of(f"memtrace.callbacks.{name}", package[f"{path.removeprefix('memtrace.')}.{name}"])
    return "\n\n".join(parts) + "\n"


def main(root: Path, check: bool) -> int:
    logging.getLogger("griffe").setLevel(logging.ERROR)
    text, file = page_of(root), root / PAGE
    if file.exists() and file.read_text() == text:
        return 0
    if check:
        print(f"{PAGE}: differs from the docstrings; run cmake/generate_python_reference.py .")
        return 1
    file.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), "--check" in sys.argv[2:]))
