# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Names that a frame does not read again, by its bytecode: each function asks about itself where it calls `ask`."""

import sys
from collections.abc import Callable

from memtrace._holders.unread_names import names_read_by_statement, passing_names, unread_names


def unread_in(function: Callable[..., object], *arguments: object) -> list[set[str]]:
    """Calls a function with `ask` and the arguments; returns the names not read again, for each call of `ask`."""
    found: list[set[str]] = []

    def ask() -> None:
        frame = sys._getframe(1)
        found.append(set(unread_names(frame.f_code, frame.f_lasti, outlive_code=False)))

    function(ask, *arguments)
    return found


def loop(ask: Callable[[], None]) -> None:
    total = 0
    for step in range(2):
        value = [step]
        ask()
        total += len(value)
        ask()
    print(total)


def test_loop_value_is_unread_between_last_use_and_next_assignment() -> None:
    before, after = unread_in(loop)[:2]
    assert "value" not in before and "value" in after
    assert not {"total", "ask"} & (before | after)


def of_methods(ask: Callable[[], None], model: object) -> None:
    for step in range(2):
        value = [step]
        model.eval()
        len(value)
        ask()


def test_method_named_eval_does_not_read_all_names() -> None:
    class Model:
        def eval(self) -> None:
            pass

    assert "value" in unread_in(of_methods, Model())[0]


def carrying(ask: Callable[[int], None]) -> None:
    total = 0
    for step in range(2):
        value = [step]
        total += len(value)
        ask(0)
        print(value)
    print(total)


def test_loop_carries_names_read_before_assignment() -> None:
    found: list[frozenset[str]] = []

    def ask(_: int) -> None:
        frame = sys._getframe(1)
        found.append(passing_names(frame.f_code, frame.f_lasti))

    carrying(ask)
    assert "value" in found[0] and not {"total", "ask"} & found[0]


def handled(ask: Callable[[], None]) -> None:
    value = [1]
    other = [2]
    try:
        ask()
        other = [3]
    except ValueError:
        print(value)
    finally:
        ask()
    print(other)


def test_name_read_only_by_a_handler_counts_as_read() -> None:
    inside, behind = unread_in(handled)
    assert "value" not in inside and "other" not in inside
    assert "value" in behind and "other" not in behind


def nested(ask: Callable[[], None]) -> Callable[[], object]:
    seen, _own = [1], [2]
    ask()
    return lambda: seen


def test_names_of_a_nested_function_are_omitted() -> None:
    assert unread_in(nested) == [{"ask", "_own"}]


def reads_any(ask: Callable[[], None]) -> None:
    value = [1]
    ask()
    print(locals() is value)


def test_function_that_may_read_any_name_has_no_unread_names() -> None:
    assert unread_in(reads_any) == [set()]


def branches(ask: Callable[[], None], again: bool) -> None:
    value = [1]
    while True:
        ask()
        if not again:
            break
        again = False
        print(value)


def test_name_read_in_one_branch_counts_as_read() -> None:
    first, second = unread_in(branches, True)
    assert "value" not in first and "value" not in second


def deleted(ask: Callable[[], None]) -> None:
    value = [1]
    ask()
    del value
    value = [2]
    ask()
    print(value)


def test_del_does_not_read_a_name() -> None:
    first, second = unread_in(deleted)
    assert "value" in first and "value" not in second


MODULE = """
read, unread, seen = [1], [2], [3]
def use():
    return seen
ask()
print(read)
"""


def test_script_names_are_unread_unless_its_functions_use_them() -> None:
    code = compile(MODULE, "script.py", "exec")
    found: dict[bool, set[str]] = {}

    def ask() -> None:
        offset = sys._getframe(1).f_lasti
        for outlive in (False, True):
            found[outlive] = set(unread_names(code, offset, outlive_code=outlive))

    exec(code, {"ask": ask})
    assert found == {False: {"unread", "use"}, True: set()}


def read_by_statement(function: Callable[..., object], *arguments: object) -> set[str]:
    """Does the same as `unread_in` for the names that the asking statement has already read."""
    found: list[set[str]] = []

    def ask() -> None:
        frame = sys._getframe(1)
        found.append(set(names_read_by_statement(frame.f_code, frame.f_lasti)))

    function(ask, *arguments)
    return found[0]


def of_several_lines(ask: Callable[[], None], first: list[int], second: list[int]) -> None:
    other = list(second)
    print(
        len(first),
        ask(),
        other,
    )


def of_one_line(ask: Callable[[], None], first: list[int]) -> None:
    copy = list(first)
    print(copy); ask()  # fmt: skip # noqa: E702


def test_statement_has_read_names_before_its_call() -> None:
    assert read_by_statement(of_several_lines, [1], [2]) - {"ask"} == {"first"}
    assert read_by_statement(of_one_line, [1]) - {"ask"} == {"copy"}
