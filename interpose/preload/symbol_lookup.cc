// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/preload/symbol_lookup.h"

#include <dlfcn.h>

#include <atomic>
#include <cstring>

#include "interpose/preload/driver_symbols.h"
#include "interpose/preload/settings.h"

namespace memtrace::preload {
namespace {

using Lookup = void* (*)(void* handle, const char* name);

std::atomic<Lookup> known_lookup;

__attribute__((noinline, cold)) Lookup FindLookup() {
  Lookup found = nullptr;
  for (const char* version : {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"}) {
    found = reinterpret_cast<Lookup>(dlvsym(RTLD_NEXT, "dlsym", version));
    if (found != nullptr) break;
  }
  known_lookup.store(found, std::memory_order_relaxed);
  return found;
}

inline Lookup RealLookup() {
  Lookup known = known_lookup.load(std::memory_order_relaxed);
  return __builtin_expect(known != nullptr, 1) ? known : FindLookup();
}

// True for our own allocator, which gets the driver's functions: its calls are not the program's.
bool IsOurs(const void* caller) {
  Dl_info info = {};
  if (dladdr(caller, &info) == 0 || info.dli_fname == nullptr) return false;
  const char* folder_end = std::strrchr(info.dli_fname, '/');
  const char* file = folder_end != nullptr ? folder_end + 1 : info.dli_fname;
  return std::strncmp(file, "libmemtrace", std::strlen("libmemtrace")) == 0;
}

// Kept apart from dlsym, which must stay small enough to be left by a jump.
__attribute__((noinline, cold)) void* LookUpSymbol(void* handle, const char* name, Symbol symbol,
                                                   const void* caller) {
  void* found = LookUp(handle, name);
  if (found == nullptr || IsOurs(caller)) return found;
  if (found != OurFunction(symbol)) return ReplacementFor(symbol, found);
  // The function was found only because we export it. A program that checks for a driver must not
  // take that for one.
  return FindReal(symbol) != nullptr ? found : LookUp(RTLD_NEXT, name);
}

inline Symbol SymbolOf(const char* name) {
  if (name == nullptr || name[0] != 'c' || name[1] != 'u') return Symbol::kCount;
  return FindSymbol(name);
}

}  // namespace

void* LookUp(void* handle, const char* name) { return RealLookup()(handle, name); }

}  // namespace memtrace::preload

// The C library inspects its caller (RTLD_NEXT, namespaces), so names that are not hooked are
// passed on by a jump and it sees the program as caller. That needs an optimising compiler;
// preload_test asserts it.
extern "C" __attribute__((visibility("default"))) void* dlsym(
    void* __restrict handle, const char* __restrict name) noexcept {
  using namespace memtrace::preload;  // NOLINT(google-build-using-namespace)
  const Symbol symbol = SymbolOf(name);
  if (__builtin_expect(symbol != Symbol::kCount, 0) && handle != RTLD_NEXT && !IsSwitchedOff())
    return LookUpSymbol(handle, name, symbol, __builtin_return_address(0));
  return RealLookup()(handle, name);
}
