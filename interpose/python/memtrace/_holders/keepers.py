# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Finds what keeps tensors on a card: containers with many of them, and tensors whose graphs reach far back.

Reports name the keeper of growing memory (docs/reference/report.md), found by the blocks that are stated here.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import sys
import time
import types
from collections import OrderedDict, defaultdict, deque
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, TypedDict, TypeGuard

from memtrace._core.vocabulary import KEEPER
from memtrace._holders.named_values import SEQUENCES, Named, attributes, is_a, named_values, running_functions
from memtrace._holders.unread_names import is_function, passing_names
from memtrace._patching.signal_exceptions import raise_if_from_outside
from memtrace._process.graphs import graph_of
from memtrace._process.session import Session
from memtrace._program.users_frames import all_frames

if TYPE_CHECKING:
    from torch import Tensor
    from torch.autograd.graph import Node

_SECONDS = 0.5  # for one look at the program's variables
_MOST_SECONDS = 3.0  # for all looks: a program may run out of memory many times
_FEWEST = 4  # the fewest elements that are mentioned
_FEWEST_GRAPHS = 2  # the same with graphs, each of which may hold a whole model
_SAMPLE = 16  # elements of a container that are looked at
_MOST_CONTAINERS = 8
_MOST_ALIKE = 2  # elements of one container
_MOST_GRAPHS = 3
_MOST_GRAPH_TENSORS = 40
_MOST_OPERATIONS = 20_000  # the most that are counted in one graph
_NO_OPERATION = 1 << 62  # numbers from here on belong to nodes that accumulate gradients
_ONE_BLOCK = 512  # bytes that the allocator takes for one number
_MOST_MODULES = 10_000
_INDEX = re.compile(r"\[[^][]*\]")
_KINDS: dict[type, str] = {
    list: "list",
    tuple: "tuple",
    dict: "dict",
    OrderedDict: "dict",
    defaultdict: "dict",
    set: "set",
    deque: "deque",
}


class _Sizes(TypedDict):
    """The stated sizes of tensors."""

    numbers: int
    in_larger: bool


class _Fact(_Sizes, total=False):
    """The facts about a container or a graph: a value of `keeper.NUMBER` (profiler/trace/format.md), as JSON."""

    kind: str
    name: str
    place: str
    count: int
    graphs: bool
    hook: str
    span: int
    blocks: list[tuple[int, int]]
    carried: bool
    metric: str


def watch(torch: types.ModuleType, session: Session) -> None:
    """Annotates them whenever everything is labelled: at an out-of-memory and at the end."""
    session.with_labels.append(_Keepers(torch, session).annotate)


class _Keepers:
    def __init__(self, torch: types.ModuleType, session: Session) -> None:
        self._torch = torch
        self._session = session
        self._seconds_left = _MOST_SECONDS
        self._stated = 0

    def annotate(self) -> None:
        """States what keeps tensors now; replaces earlier statements."""
        begin = time.monotonic()
        facts = self._facts() if self._seconds_left > 0 else []
        self._seconds_left -= time.monotonic() - begin
        texts = [json.dumps(fact) for fact in facts]
        for number, text in enumerate(texts + [""] * (self._stated - len(texts))):
            self._session.core.annotate(f"{KEEPER}.{number}", text)
        self._stated = len(texts)

    def _facts(self) -> list[_Fact]:
        containers: list[tuple[Named, list[Tensor]]] = []  # with some of their tensors
        graphs: list[Named] = []
        metrics: dict[tuple[str, str], str] = {}  # classes of torchmetrics, by place and name
        for named in named_values(self._torch, min(_SECONDS, self._seconds_left)):
            if _is_metric(named.value):
                metrics[named.place, named.name] = type(named.value).__name__
            if type(named.value) in _KINDS:
                tensors = self._some_tensors(named.value)
                if tensors and (len(named.value) >= _FEWEST or _have_graphs(tensors)):
                    containers.append((named, tensors))
            elif self._has_graph(named.value) and len(graphs) < _MOST_GRAPH_TENSORS:
                graphs.append(named)
        containers = _without_similar_elements(sorted(containers, key=lambda found: -len(found[0].value)))
        passing = _passing_variables() if graphs else set()
        in_calls = _in_library_calls() if graphs else set()
        facts = (
            _graph(named) | {"carried": _variable_of(named) not in passing and named.place not in in_calls}
            for named in graphs
        )
        far = sorted(facts, key=lambda fact: (not fact["carried"], -fact["count"]))
        largest = [self._container(*found) for found in containers[:_MOST_CONTAINERS]]
        for fact in largest:
            fact["metric"] = metrics.get((fact["place"], fact["name"].rpartition(".")[0]), "")
        return largest + far[:_MOST_GRAPHS]

    def _is_tensor(self, value: object) -> TypeGuard[Tensor]:
        """True for plain tensors, not parameters or tensors of derived classes."""
        return type(value) is self._torch.Tensor and value.is_cuda  # type: ignore[attr-defined]

    def _has_graph(self, value: object) -> bool:
        return self._is_tensor(value) and graph_of(value) is not None

    def _some_tensors(self, container: Sequence[object]) -> list[Tensor]:
        """Returns a tensor from each of some elements, evenly spread; none if the container holds other things."""
        values = container if type(container) in (list, tuple) else list(_values(container))
        count = len(values)
        if count < _FEWEST_GRAPHS:
            return []
        sample = [values[place * count // _SAMPLE] for place in range(_SAMPLE)] if count > _SAMPLE else list(values)
        tensors = [tensor for value in sample if (tensor := self._tensor_of(value, 2)) is not None]
        return tensors if 2 * len(tensors) >= len(sample) else []

    def _container(self, named: Named, tensors: list[Tensor]) -> _Fact:
        return {
            "kind": _KINDS[type(named.value)],
            "name": named.name,
            "place": named.place,
            "count": len(named.value),
            "graphs": _have_graphs(tensors),
            "hook": self._hook(named),
            **_sizes(tensors),  # type: ignore[typeddict-item]  # it has no other keys
            "blocks": _blocks(tensors),
        }

    def _tensor_of(self, value: object, depth: int) -> Tensor | None:
        """Returns the first tensor in an element (a tensor, tuple, model's output or object); None without one."""
        if self._is_tensor(value):
            return value
        if not depth or is_a(value, self._torch.Tensor):
            return None
        for part in _values(value):
            tensor = self._tensor_of(part, depth - 1)
            if tensor is not None:
                return tensor
        return None

    def _hook(self, named: Named) -> str:
        """Names the forward hook that fills the container, if its code shows that; else ""."""
        for root in self._session.labels.roots.alive():
            for module in itertools.islice(root.modules(), _MOST_MODULES):
                for hook in list(module._forward_hooks.values()):
                    if is_a(hook, types.FunctionType) and _uses(hook, named):
                        code = hook.__code__
                        return f"{hook.__name__} ({os.path.basename(code.co_filename)}:{code.co_firstlineno})"
        return ""


def _without_similar_elements(containers: list[tuple[Named, list[Tensor]]]) -> list[tuple[Named, list[Tensor]]]:
    """Leaves out most elements of one container, because they are alike and the container itself is stated."""
    known: dict[str, int] = {}
    few = []
    for found in containers:
        alike = f"{found[0].place}:{_INDEX.sub('[*]', found[0].name)}"
        known[alike] = known.get(alike, 0) + 1
        if "[*]" in alike and known[alike] > _MOST_ALIKE:
            continue
        few.append(found)
    return few


def _is_metric(value: object) -> bool:
    """True for a metric of torchmetrics, whose attributes are its states."""
    torchmetrics = sys.modules.get("torchmetrics")
    metric_class = attributes(torchmetrics).get("Metric") if torchmetrics is not None else None
    return isinstance(metric_class, type) and is_a(value, metric_class)


def _have_graphs(tensors: list[Tensor]) -> bool:
    """True if most of them have a graph."""
    return 2 * sum(graph_of(tensor) is not None for tensor in tensors) > len(tensors)


def _values(value: object) -> Collection[object]:
    if is_a(value, dict):
        return dict.values(value)
    return value if is_a(value, SEQUENCES) else attributes(value).values()


def _uses(function: types.FunctionType, named: Named) -> bool:
    code = function.__code__
    if named.name in code.co_names:
        return function.__globals__.get(named.name) is named.value
    cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=False))
    try:
        return named.name in cells and cells[named.name].cell_contents is named.value
    except ValueError as error:  # not yet bound
        raise_if_from_outside(error)
        return False


def _variable_of(named: Named) -> tuple[str, str]:
    """Returns place and name of the variable; for an element those of its container."""
    return named.place, named.name.partition("[")[0]


def _passing_variables() -> set[tuple[str, str]]:
    """Returns place and name of variables of running functions and modules that no loop hands on."""
    found: set[tuple[str, str]] = set()
    for frame in all_frames():
        names = passing_names(frame.f_code, frame.f_lasti)
        found.update((place, name) for name in names for place in _places(frame.f_code))
    return found


def _places(code: types.CodeType) -> list[str]:
    file = os.path.basename(code.co_filename)
    return [f"{code.co_name}, {file}"] if is_function(code) else [file, "__main__"]


def _in_library_calls() -> set[str]:
    """Returns places of running functions of libraries, whose arguments belong to the caller."""
    running = {place for frame in running_functions() for place in _places(frame.f_code)}
    return running - {place for frame in all_frames() for place in _places(frame.f_code)}


def _graph(named: Named) -> _Fact:
    node = graph_of(named.value)
    numbers = _operations(node) if node is not None else []
    return {
        "kind": "graph",
        "name": named.name,
        "place": named.place,
        "count": len(numbers),
        **_sizes([named.value]),  # type: ignore[typeddict-item]  # it has no other keys
        "span": 100 * (max(numbers) - min(numbers)) // (max(numbers) + 1) if numbers else 0,
        "blocks": _blocks([named.value]),
    }


def _sizes(tensors: list[Tensor]) -> _Sizes:
    """Returns the numbers in the largest, and if a single number uses a larger storage, such as that of its inputs."""
    return {
        "numbers": max(tensor.numel() for tensor in tensors),
        "in_larger": any(tensor.numel() == 1 and _storage_bytes(tensor) > _ONE_BLOCK for tensor in tensors),
    }


def _storage_bytes(tensor: Tensor) -> int:
    try:
        return int(tensor.untyped_storage().nbytes())
    except Exception as error:  # wrapped by functorch, or not initialised
        raise_if_from_outside(error)
        return 0


def _blocks(tensors: list[Tensor]) -> list[tuple[int, int]]:
    """Lists card and address of the tensors' storages, each once."""
    blocks: dict[tuple[int, int], bool] = {}
    for tensor in tensors:
        try:
            blocks[tensor.get_device(), tensor.untyped_storage().data_ptr()] = True
        except Exception as error:  # wrapped by functorch, or not initialised
            raise_if_from_outside(error)
    return list(blocks)


def _operations(node: Node) -> list[int]:
    """Lists the numbers of the operations in a graph, up to a limit. Autograd numbers those of a thread."""
    known = {node}
    waiting = [node]
    while waiting and len(known) < _MOST_OPERATIONS:
        for following, _ in waiting.pop().next_functions:
            if following is not None and following not in known:
                known.add(following)
                waiting.append(following)
    numbers = (each._sequence_nr() for each in known if hasattr(each, "_sequence_nr"))
    return [number for number in numbers if number < _NO_OPERATION]
