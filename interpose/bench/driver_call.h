// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_BENCH_DRIVER_CALL_H_
#define MEMTRACE_INTERPOSE_BENCH_DRIVER_CALL_H_

#include <dlfcn.h>

namespace memtrace::bench {

// Returns a function of the driver's library. `Function` is its type; the driver's handles are
// pointers.
template <typename Function>
Function* FindInDriver(void* library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

// Calls such a function. Returns its result, or -1 if there is none of that name.
template <typename Function, typename... Arguments>
int CallDriver(void* library, const char* name, Arguments... arguments) {
  auto* function = FindInDriver<Function>(library, name);
  return function == nullptr ? -1 : function(arguments...);
}

}  // namespace memtrace::bench

#endif  // MEMTRACE_INTERPOSE_BENCH_DRIVER_CALL_H_
