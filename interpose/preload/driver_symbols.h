// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_PRELOAD_DRIVER_SYMBOLS_H_
#define MEMTRACE_INTERPOSE_PRELOAD_DRIVER_SYMBOLS_H_

#include "interpose/preload/cuda_driver.h"

// Finds which of the driver's functions are hooked, and where the driver's own are. Thread rule:
// any thread, also before this library's constructor has run and after the end of main. Takes no
// lock.
namespace memtrace::preload {

enum class Symbol : unsigned char {
#define MEMTRACE_CUDA_SYMBOL(symbol, base, since, per_thread) symbol,
#include "interpose/preload/cuda_symbols.def"
#undef MEMTRACE_CUDA_SYMBOL
  kCount
};

// Returns the hooked function that is exported as `name`; kCount if there is none.
Symbol FindSymbol(const char* name);
// Returns the hooked function that cuGetProcAddress gives for these; kCount if there is none.
Symbol FindSymbol(const char* base, int version, bool per_thread);

// Returns the driver's function, looked up in the loaded libcuda.so.1 unless it was found by name
// before. Null if there is none.
void* FindReal(Symbol symbol);
template <typename Function>
Function* Real(Symbol symbol, Function* /*of_this_type*/) {
  return reinterpret_cast<Function*>(FindReal(symbol));
}

// `found` is the result of a lookup of `symbol`. Returns the address to give instead: our own, or
// `found` itself if it belongs to another driver than the one we call.
void* ReplacementFor(Symbol symbol, void* found);
// Returns our own function of that name.
void* OurFunction(Symbol symbol);

// Returns another function of the loaded driver; null if there is none.
void* FindOther(const char* name);

}  // namespace memtrace::preload

#endif  // MEMTRACE_INTERPOSE_PRELOAD_DRIVER_SYMBOLS_H_
