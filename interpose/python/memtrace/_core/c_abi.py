# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Typed access by ctypes to libmemtrace.so, the C ABI of `interpose/core/memtrace.h`."""

import ctypes
from array import array
from collections.abc import Callable
from ctypes import c_char_p, c_int, c_size_t, c_uint32, c_uint64, c_void_p
from functools import cache

from memtrace._core.builtin_functions import METH_NOARGS, METH_O, METH_VARARGS, builtin
from memtrace._core.package import CORE_LIBRARY

ABI_VERSION = 1
LABEL_WORDS = 5
UNKNOWN_MODULE = 0xFFFFFFFF

_Registration = Callable[[Callable[[], object]], object]


def _text(text: str) -> bytes:
    """Returns UTF-8; characters that UTF-8 cannot encode, as in file names, become '?'."""
    return text.encode(errors="replace")


def _declared(library: ctypes.CDLL, name: str, result: type | None, *arguments: type) -> Callable[..., int]:
    """Returns the library's function memtrace_`name`, which ctypes then calls with these types."""
    function = getattr(library, f"memtrace_{name}")  # which the library keeps; library[...] would be another object
    function.argtypes, function.restype = arguments, result
    # ctypes has no type for its functions. Those without a result return None, and nobody reads it.
    typed: Callable[..., int] = function
    return typed


class Core:
    """The calls that Python makes. None blocks; the short ones keep the interpreter's lock (PyDLL)."""

    def __init__(self) -> None:
        """Loads the library for the whole process. Raises OSError if it is missing or of another ABI."""
        self._library = ctypes.CDLL(str(CORE_LIBRARY), mode=ctypes.RTLD_GLOBAL)
        if _declared(self._library, "abi_version", c_uint32)() != ABI_VERSION:
            raise OSError(f"{CORE_LIBRARY} has another ABI than this package. Install memtrace again.")
        self._declare_long_calls()
        self._declare_short_calls(ctypes.PyDLL(str(CORE_LIBRARY), mode=ctypes.RTLD_GLOBAL))
        self._find_builtins()

    def _declare_long_calls(self) -> None:
        for name, result, arguments in (
            ("trace_path", c_char_p, ()),
            ("set_info", None, (c_char_p, c_char_p)),
            ("annotate", None, (c_char_p, c_char_p)),
            ("set_before_out_of_memory", None, (c_void_p, c_void_p)),
            ("set_collector", None, (c_void_p, c_void_p)),
            ("set_before_spill", None, (c_void_p, c_void_p)),
            ("pause_activities", None, ()),
            ("resume_activities", None, ()),
            ("take_explanation", c_uint64, (c_char_p, c_uint64)),
            ("close", None, ()),
        ):
            _declared(self._library, name, result, *arguments)

    def _declare_short_calls(self, short: ctypes.PyDLL) -> None:
        self.push_tag = _declared(short, "push_tag", None, c_uint32)
        self.pop_tag = _declared(short, "pop_tag", None)
        self.push_module = _declared(short, "push_module", None, c_uint32)
        self.pop_module = _declared(short, "pop_module", None)
        self.module_depth = _declared(short, "module_depth", c_uint32)
        self.push_role = _declared(short, "push_role", None, c_int)
        self.pop_role = _declared(short, "pop_role", None)
        self.current_scope = _declared(short, "current_scope", c_uint32)
        self.scope_of_forward = _declared(short, "scope_of_forward", c_uint32, c_uint64)
        self.enter_scope = _declared(short, "enter_scope", None, c_uint32)
        self.leave_scope = _declared(short, "leave_scope", None)
        self.set_phase = _declared(short, "set_phase", None, c_int)
        self.begin_step = _declared(short, "begin_step", None)
        self.relabel = _declared(short, "relabel", None, c_int, c_uint64, c_uint64, c_int, c_uint32, c_uint32)
        self._relabel_all = _declared(short, "relabel_all", None, c_int, c_void_p, c_size_t)
        self._intern = _declared(short, "intern", c_uint32, c_char_p)
        self._note_idle = _declared(short, "note_idle", None, c_int, c_void_p, c_uint64)

    def _find_builtins(self) -> None:
        self.enter_module: Callable[[int], bool] = builtin(self._library, "memtrace_python_enter_module", METH_O)
        self.leave_module: Callable[[], bool] = builtin(self._library, "memtrace_python_leave_module", METH_NOARGS)
        self.forget: Callable[..., object] = builtin(self._library, "memtrace_python_forget", METH_VARARGS)
        self.before_out_of_memory: _Registration = builtin(
            self._library, "memtrace_python_call_before_out_of_memory", METH_O
        )
        self.before_spill: _Registration = builtin(self._library, "memtrace_python_call_before_spill", METH_O)
        self.collect_before_failing: _Registration = builtin(self._library, "memtrace_python_call_to_collect", METH_O)

    def intern(self, name: str) -> int:
        """Returns the number of a name; the same name has the same number."""
        return int(self._intern(_text(name)))

    def relabel_all(self, role: int, labels: "array[int]") -> None:
        """States the role of ranges; each has five words, as in memtrace.h."""
        address, words = labels.buffer_info()
        self._relabel_all(role, address, words // LABEL_WORDS)

    def note_idle(self, device: int, addresses: "array[int]") -> None:
        """States that the model with tensors at these addresses is idle; within the function of `before_spill` only."""
        address, count = addresses.buffer_info()
        self._note_idle(device, address, count)

    def take_explanation(self) -> str:
        """Returns why the observed allocator last ran out of memory; "" if it was already returned."""
        text = ctypes.create_string_buffer(4096)
        length: int = self._library.memtrace_take_explanation(text, c_uint64(len(text)))
        return text.raw[:length].decode(errors="replace")

    def set_info(self, key: str, value: str) -> None:
        """States a fact for the trace's header; before CUDA is used."""
        self._library.memtrace_set_info(_text(key), _text(value))

    def annotate(self, key: str, value: str) -> None:
        """States a fact about now, by key."""
        self._library.memtrace_annotate(_text(key), _text(value))

    def pause_activities(self) -> None:
        """Notes that another user of CUPTI begins; does nothing without MEMTRACE_CUPTI."""
        self._library.memtrace_pause_activities()

    def resume_activities(self) -> None:
        """Notes that it has ended."""
        self._library.memtrace_resume_activities()

    def close(self) -> None:
        """Ends the trace. Nothing calls Python after that: the interpreter may be gone before the last allocation."""
        self._library.memtrace_set_before_out_of_memory(None, None)
        self._library.memtrace_set_collector(None, None)
        self._library.memtrace_set_before_spill(None, None)
        self._library.memtrace_close()

    def trace_path(self) -> str:
        """Returns the path of the trace being written; empty if there is none."""
        return bytes(self._library.memtrace_trace_path()).decode(errors="replace")


@cache
def core() -> Core:
    """Returns the only core of the process, loaded on first use."""
    return Core()
