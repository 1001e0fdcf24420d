// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/bench/tried_functions.h"

#include <dlfcn.h>

#include <utility>

namespace memtrace::bench {
namespace {

template <typename Function>
bool Find(void* library, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  return *function != nullptr;
}

}  // namespace

bool OpenTriedLibrary(const char* path, const char* allocate, const char* release,
                      TriedFunctions* functions, OpenFailure* failure) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* reason = dlerror();
    *failure = {.is_missing_function = false, .detail = reason == nullptr ? "" : reason};
    return false;
  }
  for (const auto& [name, is_found] :
       {std::pair{allocate, Find(library, allocate, &functions->allocate)},
        std::pair{release, Find(library, release, &functions->release)}}) {
    if (is_found) continue;
    *failure = {.is_missing_function = true, .detail = name};
    return false;
  }
  Find(library, "memtrace_bench_init", &functions->init);
  Find(library, "memtrace_bench_begin_step", &functions->begin_step);
  Find(library, "memtrace_bench_empty_cache", &functions->empty_cache);
  return true;
}

}  // namespace memtrace::bench
