// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_PRELOAD_PYTHON_START_H_
#define MEMTRACE_INTERPOSE_PRELOAD_PYTHON_START_H_

namespace memtrace::preload {

// In a Python interpreter: puts our sitecustomize first on PYTHONPATH, as `memtrace run` does, so
// that memtrace is loaded with torch. Does nothing in other programs. Call before main, in the
// constructor.
void HookPython(int argc, char** argv);

// Prints one line on stderr if this Python ignores PYTHONPATH. Called once CUDA is used and not
// before, because many interpreters started that way never use it.
void WarnIfPythonIsNotHooked();

}  // namespace memtrace::preload

#endif  // MEMTRACE_INTERPOSE_PRELOAD_PYTHON_START_H_
