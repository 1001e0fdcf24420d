// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_STACKS_PYTHON_SYMBOL_H_
#define MEMTRACE_INTERPOSE_CORE_STACKS_PYTHON_SYMBOL_H_

#include <dlfcn.h>

namespace memtrace {

// Returns a function of the interpreter that runs in this process, or null if there is none, so
// that one library serves every Python and programs without one.
template <typename Symbol>
Symbol* PythonSymbol(const char* name) {
  return reinterpret_cast<Symbol*>(dlsym(RTLD_DEFAULT, name));
}

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_STACKS_PYTHON_SYMBOL_H_
