# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Hooks that run inside the user's program without its notice."""

from collections.abc import Callable
from types import ModuleType

from memtrace._patching.signal_exceptions import raise_if_from_outside
from memtrace._text.say import say

Hook = Callable[..., object]


def quieter(torch: ModuleType) -> Callable[[Hook], Hook]:
    """Returns the decorator for hooks: they return nothing, raise nothing, and no mode of the user's sees their calls.

    While torch.compile traces the program they do nothing, because its graph would break at them.
    """
    is_compiling = torch.compiler.is_compiling
    unseen = torch._C.DisableTorchFunction

    def quiet(hook: Hook) -> Hook:
        name = getattr(hook, "__name__", "a hook")

        def quiet_hook(*args: object) -> None:
            if is_compiling():
                return
            try:
                with unseen():
                    hook(*args)
            except Exception as error:
                raise_if_from_outside(error)
                say(f"The program could not be followed in {name} ({type(error).__name__}: {error}).")

        return quiet_hook

    return quiet
