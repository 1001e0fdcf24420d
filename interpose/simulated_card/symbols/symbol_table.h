// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_SYMBOLS_SYMBOL_TABLE_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_SYMBOLS_SYMBOL_TABLE_H_

#include <span>
#include <string_view>

namespace memtrace::card {

struct Symbol {
  std::string_view name;
  int since;  // the lowest version of CUDA that a caller must name; 0: any
  void (*address)();
};

// All symbols that our libcuda.so.1 exports, including the unsupported ones, sorted by name.
// Generated.
std::span<const Symbol> DriverSymbols();

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_SYMBOLS_SYMBOL_TABLE_H_
