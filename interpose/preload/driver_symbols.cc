// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/preload/driver_symbols.h"

#include <dlfcn.h>

#include <atomic>
#include <cstddef>
#include <cstring>

#include "interpose/preload/symbol_lookup.h"

namespace memtrace::preload {
namespace {

constexpr size_t kCount = static_cast<size_t>(Symbol::kCount);

struct Entry {
  const char* name;
  const char* base;
  int since;
  bool per_thread;
  void* ours;
};

const Entry kEntries[kCount] = {
// NOLINTBEGIN(bugprone-macro-parentheses): a function's name
#define MEMTRACE_CUDA_SYMBOL(symbol, base, since, per_thread) \
  {#symbol, base, since, per_thread, reinterpret_cast<void*>(&symbol)},
#include "interpose/preload/cuda_symbols.def"
#undef MEMTRACE_CUDA_SYMBOL
    // NOLINTEND(bugprone-macro-parentheses)
};

std::atomic<void*> real[kCount];

const Entry& EntryOf(Symbol symbol) { return kEntries[static_cast<size_t>(symbol)]; }
std::atomic<void*>& RealOf(Symbol symbol) { return real[static_cast<size_t>(symbol)]; }

void* BaseOf(void* function) {
  Dl_info info = {};
  return dladdr(function, &info) != 0 ? info.dli_fbase : nullptr;
}

// Prevents unloading by the library's loader, because we keep calling the function.
void KeepLoaded(void* function) {
  Dl_info info = {};
  if (dladdr(function, &info) == 0 || info.dli_fname == nullptr) return;
  dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

void* LoadedDriver() { return dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD); }

}  // namespace

Symbol FindSymbol(const char* name) {
  for (size_t i = 0; i < kCount; ++i) {
    if (std::strcmp(kEntries[i].name, name) == 0) return static_cast<Symbol>(i);
  }
  return Symbol::kCount;
}

Symbol FindSymbol(const char* base, int version, bool per_thread) {
  size_t best = kCount;
  for (size_t i = 0; i < kCount; ++i) {
    const Entry& entry = kEntries[i];
    if (std::strcmp(entry.base, base) != 0 || entry.since > version) continue;
    if (entry.per_thread && !per_thread) continue;
    const bool is_better = best == kCount || entry.since > kEntries[best].since ||
                           entry.per_thread > kEntries[best].per_thread;
    if (is_better) best = i;
  }
  return static_cast<Symbol>(best);
}

void* FindReal(Symbol symbol) {
  void* known = RealOf(symbol).load(std::memory_order_acquire);
  if (known != nullptr) return known;
  void* found = FindOther(EntryOf(symbol).name);
  if (found != nullptr) ReplacementFor(symbol, found);
  return RealOf(symbol).load(std::memory_order_acquire);
}

void* ReplacementFor(Symbol symbol, void* found) {
  void* ours = OurFunction(symbol);
  if (found == ours) return ours;
  void* known = nullptr;
  if (RealOf(symbol).compare_exchange_strong(known, found, std::memory_order_acq_rel)) {
    KeepLoaded(found);
    return ours;
  }
  return known == found || BaseOf(known) == BaseOf(found) ? ours : found;
}

void* OurFunction(Symbol symbol) { return EntryOf(symbol).ours; }

void* FindOther(const char* name) {
  void* driver = LoadedDriver();
  return driver != nullptr ? LookUp(driver, name) : nullptr;
}

}  // namespace memtrace::preload
