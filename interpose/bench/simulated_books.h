// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_BENCH_SIMULATED_BOOKS_H_
#define MEMTRACE_INTERPOSE_BENCH_SIMULATED_BOOKS_H_

#include "interpose/bench/card_books.h"

namespace memtrace::bench {

// The ledger and the call log of a simulated card, which are exact.
class SimulatedBooks final : public CardBooks {
 public:
  // `library`: the simulated driver's.
  explicit SimulatedBooks(void* library) : library_(library) {}

  bool Bound(uint64_t bytes) override;
  uint64_t InUse() const override;
  uint64_t Peak() const override;
  void Note() override {}
  void StartCalls() override;
  void TakeCalls(std::map<std::string, uint64_t>& calls) override;

 private:
  void* const library_;
};

}  // namespace memtrace::bench

#endif  // MEMTRACE_INTERPOSE_BENCH_SIMULATED_BOOKS_H_
