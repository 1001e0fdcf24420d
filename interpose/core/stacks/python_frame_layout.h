// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_STACKS_PYTHON_FRAME_LAYOUT_H_
#define MEMTRACE_INTERPOSE_CORE_STACKS_PYTHON_FRAME_LAYOUT_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace memtrace {

// Byte offsets that a walk of a thread's frames needs in one minor version of CPython, in structs
// of Include/cpython/pystate.h, Include/cpython/code.h and Include/internal/pycore_frame.h. CPython
// does not guarantee them, so PythonFrames trusts a layout only after the public functions have
// given the same frames.
struct PythonFrameLayout {
  int minor = 0;  // of Python 3

  // PyThreadState: the innermost frame; through a _PyCFrame before 3.13.
  size_t thread_frame = 0;
  bool has_cframe = false;
  size_t cframe_frame = 0;

  // _PyInterpreterFrame
  size_t code = 0;
  size_t previous = 0;
  size_t instruction = 0;
  size_t owner = 0;

  // PyCodeObject
  size_t first_instruction = 0;  // co_code_adaptive
  size_t first_traceable = 0;    // _co_firsttraceable, in code units of 2 bytes
};

// Returns the layout for Py_GetVersion()'s text ("3.11.2 (main, ...) [GCC ...]"); null for a
// version without a known layout and for builds without the interpreter's lock, whose layout
// differs.
const PythonFrameLayout* FindPythonFrameLayout(std::string_view version);

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_STACKS_PYTHON_FRAME_LAYOUT_H_
