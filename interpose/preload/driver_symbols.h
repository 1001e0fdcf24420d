// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_PRELOAD_DRIVER_SYMBOLS_H_
#define MEMTRACE_INTERPOSE_PRELOAD_DRIVER_SYMBOLS_H_

#include "interpose/preload/cuda_driver.h"

// Which functions of the driver we stand before, and where the driver's own are. Thread rule: any
// thread, before this library's constructor has run and after the end of main, too. No lock.
namespace memtrace::preload {

enum class Symbol : unsigned char {
#define MEMTRACE_CUDA_SYMBOL(symbol, base, since, per_thread) symbol,
#include "interpose/preload/cuda_symbols.def"
#undef MEMTRACE_CUDA_SYMBOL
  kCount
};

// What is asked for by an exported name; kCount if it is none of ours.
Symbol FindSymbol(const char* name);
// What is asked for by cuGetProcAddress; kCount likewise.
Symbol FindSymbol(const char* base, int version, bool per_thread);

// The driver's function; looked for, in the libcuda.so.1 that is loaded, if nobody has asked for it
// by name before. Null if there is none.
void* FindReal(Symbol symbol);
template <typename Function>
Function* Real(Symbol symbol, Function* /*of_this_type*/) {
  return reinterpret_cast<Function*>(FindReal(symbol));
}

// `found` is what somebody who asked for `symbol` was given. Returns what we give: our own, or
// `found` itself if it belongs to another driver than ours leads to.
void* StandBefore(Symbol symbol, void* found);
// Our own function of that name.
void* OurOwn(Symbol symbol);

// Another function of the driver that is loaded; null if there is none.
void* FindOther(const char* name);

}  // namespace memtrace::preload

#endif  // MEMTRACE_INTERPOSE_PRELOAD_DRIVER_SYMBOLS_H_
