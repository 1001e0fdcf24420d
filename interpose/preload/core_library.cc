// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/preload/core_library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

#include "interpose/preload/driver_symbols.h"
#include "interpose/preload/own_folder.h"
#include "interpose/preload/python_start.h"
#include "interpose/preload/settings.h"
#include "interpose/preload/symbol_lookup.h"

namespace memtrace::preload {
namespace {

Core core;                                // written once, before `started`
std::atomic<const Core*> started;         // null until then, and always after a failure
pthread_once_t once = PTHREAD_ONCE_INIT;  // glibc begins anew in a child forked meanwhile
std::atomic<bool> is_done;
thread_local bool is_starting __attribute__((tls_model("initial-exec")));

// Uses the library that is loaded already, because a second copy would be a second core with a
// second trace.
void* LoadCore() {
  if (void* loaded = dlopen("libmemtrace.so", RTLD_LAZY | RTLD_NOLOAD)) return loaded;
  const OwnPath file("libmemtrace.so");
  return dlopen(file.text(), RTLD_LAZY | RTLD_LOCAL);
}

bool FindFunctions(void* library) {
  bool all = true;
#define MEMTRACE_CORE_FIND(name)                                                         \
  core.name = reinterpret_cast<decltype(core.name)>(LookUp(library, "memtrace_" #name)); \
  all = all && core.name != nullptr;
  MEMTRACE_CORE_FUNCTIONS(MEMTRACE_CORE_FIND)
#undef MEMTRACE_CORE_FIND
  return all && core.abi_version() == MEMTRACE_ABI_VERSION;
}

int CardCount() {
  int count = 0;
  const auto ask = reinterpret_cast<decltype(&cuDeviceGetCount)>(FindOther("cuDeviceGetCount"));
  return ask != nullptr && ask(&count) == CUDA_SUCCESS ? count : 0;
}

// The core itself reports if it cannot write a trace.
void Start() {
  void* library = LoadCore();
  if (library == nullptr) {
    const char* reason = dlerror();
    Say("Nothing is recorded, and the program continues: ",
        reason != nullptr ? reason : "libmemtrace.so cannot be loaded");
    return;
  }
  if (!FindFunctions(library)) {
    Say("Nothing is recorded, and the program continues: libmemtrace.so has another version than "
        "libmemtrace_preload.so. Install memtrace again.");
    return;
  }
  WarnIfPythonIsNotHooked();
  const memtrace_mode mode = IsCacheWanted() ? MEMTRACE_MODE_ALLOCATE : MEMTRACE_MODE_OUTSIDE;
  if (core.start(CardCount(), mode) == MEMTRACE_OK) started.store(&core, std::memory_order_release);
}

}  // namespace

const Core* StartedCore() {
  if (!is_done.load(std::memory_order_acquire)) {
    if (is_starting) return nullptr;
    is_starting = true;
    pthread_once(&once, Start);
    is_starting = false;
    is_done.store(true, std::memory_order_release);
  }
  return CoreIfStarted();
}

const Core* CoreIfStarted() { return started.load(std::memory_order_acquire); }

void Say(const char* sentence, const char* detail) {
  const char* const parts[] = {"memtrace: ", sentence, detail, "\n"};
  iovec line[4];
  for (int i = 0; i < 4; ++i)
    line[i] = {.iov_base = const_cast<char*>(parts[i]), .iov_len = std::strlen(parts[i])};
  [[maybe_unused]] const ssize_t written = writev(STDERR_FILENO, line, 4);
}

}  // namespace memtrace::preload
