// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_PRELOAD_PYTHON_START_H_
#define MEMTRACE_INTERPOSE_PRELOAD_PYTHON_START_H_

namespace memtrace::preload {

// In a Python interpreter: puts our sitecustomize first on PYTHONPATH, as `memtrace run` does, so
// that memtrace comes with torch. Nothing in any other program. Before main, in the constructor.
void HookPython(int argc, char** argv);

// One line on stderr if this is a Python that does not look at PYTHONPATH: once CUDA is used, and
// not before, since many an interpreter that is started so has nothing to do with it.
void SayWhyPythonIsNotHooked();

}  // namespace memtrace::preload

#endif  // MEMTRACE_INTERPOSE_PRELOAD_PYTHON_START_H_
