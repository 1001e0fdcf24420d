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


def _text(text: str) -> bytes:
    """Returns UTF-8; characters that UTF-8 cannot encode, as in file names, become '?'."""
    return text.encode(errors="replace")


class Core:
    """The calls that Python makes. None blocks; the short ones keep the interpreter's lock (PyDLL)."""

    def __init__(self) -> None:
        """Loads the library for the whole process. Raises OSError if it is missing or of another ABI."""
        self._library = ctypes.CDLL(str(CORE_LIBRARY), mode=ctypes.RTLD_GLOBAL)
        short = ctypes.PyDLL(str(CORE_LIBRARY), mode=ctypes.RTLD_GLOBAL)
        self._library.memtrace_abi_version.restype = c_uint32
        if self._library.memtrace_abi_version() != ABI_VERSION:
            raise OSError(f"{CORE_LIBRARY} has another ABI than this package. Install memtrace again.")
        self._library.memtrace_trace_path.restype = c_char_p
        self._library.memtrace_set_info.argtypes = (c_char_p, c_char_p)
        self._library.memtrace_annotate.argtypes = (c_char_p, c_char_p)
        self._library.memtrace_set_before_out_of_memory.argtypes = (c_void_p, c_void_p)
        self._library.memtrace_set_collector.argtypes = (c_void_p, c_void_p)
        self._library.memtrace_close.restype = None
        self._library.memtrace_pause_activities.restype = self._library.memtrace_resume_activities.restype = None
        self._library.memtrace_take_explanation.argtypes = (c_char_p, c_uint64)
        self._library.memtrace_take_explanation.restype = c_uint64
        self.push_tag = short.memtrace_push_tag
        self.pop_tag = short.memtrace_pop_tag
        self.push_module = short.memtrace_push_module
        self.pop_module = short.memtrace_pop_module
        self.module_depth = short.memtrace_module_depth
        self.enter_module: Callable[[int], bool] = builtin(self._library, "memtrace_python_enter_module", METH_O)
        self.leave_module: Callable[[], bool] = builtin(self._library, "memtrace_python_leave_module", METH_NOARGS)
        self.forget: Callable[..., None] = builtin(self._library, "memtrace_python_forget", METH_VARARGS)
        call_before: Callable[[Callable[[], object]], None] = builtin(
            self._library, "memtrace_python_call_before_out_of_memory", METH_O
        )
        self.before_out_of_memory: Callable[[Callable[[], object]], None] = call_before
        self.before_spill: Callable[[Callable[[], object]], None] = builtin(
            self._library, "memtrace_python_call_before_spill", METH_O
        )
        call_to_collect: Callable[[Callable[[], object]], None] = builtin(
            self._library, "memtrace_python_call_to_collect", METH_O
        )
        self.collect_before_failing: Callable[[Callable[[], object]], None] = call_to_collect
        self.push_role = short.memtrace_push_role
        self.pop_role = short.memtrace_pop_role
        self.current_scope = short.memtrace_current_scope
        self.scope_of_forward = short.memtrace_scope_of_forward
        self.enter_scope = short.memtrace_enter_scope
        self.leave_scope = short.memtrace_leave_scope
        self.set_phase = short.memtrace_set_phase
        self.begin_step = short.memtrace_begin_step
        self.relabel = short.memtrace_relabel
        self._relabel_all = short.memtrace_relabel_all
        self._intern = short.memtrace_intern
        self._note_idle = short.memtrace_note_idle
        self.push_tag.argtypes = self.push_module.argtypes = self.enter_scope.argtypes = (c_uint32,)
        self.pop_tag.argtypes = self.pop_module.argtypes = self.pop_role.argtypes = self.leave_scope.argtypes = ()
        self.current_scope.argtypes, self.current_scope.restype = (), c_uint32
        self.module_depth.argtypes, self.module_depth.restype = (), c_uint32
        self.scope_of_forward.argtypes, self.scope_of_forward.restype = (c_uint64,), c_uint32
        self.set_phase.argtypes = self.push_role.argtypes = (c_int,)
        self.begin_step.argtypes = ()
        self.relabel.argtypes = (c_int, c_uint64, c_uint64, c_int, c_uint32, c_uint32)
        self._relabel_all.argtypes = (c_int, c_void_p, c_size_t)
        self._intern.argtypes, self._intern.restype = (c_char_p,), c_uint32
        for function in (
            self.push_tag,
            self.pop_tag,
            self.push_module,
            self.pop_module,
            self.push_role,
            self.pop_role,
        ):
            function.restype = None
        for function in (self.enter_scope, self.leave_scope, self.set_phase, self.begin_step):
            function.restype = None
        self._note_idle.argtypes = (c_int, c_void_p, c_uint64)
        self.relabel.restype = self._relabel_all.restype = self._note_idle.restype = None

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
