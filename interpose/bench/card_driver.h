// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_BENCH_CARD_DRIVER_H_
#define MEMTRACE_INTERPOSE_BENCH_CARD_DRIVER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace memtrace::bench {

// The driver of the card on which allocators are tried: a context, streams, and what the judge asks
// it. The driver is loaded already (RTLD_NOLOAD), simulated or not.
class CardDriver {
 public:
  // Returns false if there is no driver, or it has no card.
  bool Open();
  // Makes the card's primary context current in this thread, as the runtime does.
  void Enter() const;
  void* MakeStream() const;

  // Do the same as cudaMalloc and cudaFree. Allocate returns null if the card is full.
  void* Allocate(size_t bytes) const;
  void Free(void* address) const;

  // True if the byte is memory of the card.
  bool IsOnCard(uintptr_t address) const;

  // Makes the card as large as that. Returns false if the driver is not a simulated one.
  bool Resize(uint64_t bytes) const;
  uint64_t InUse() const;
  uint64_t Peak() const;  // the most that was in use so far

  // Counts the calls that are made from here on.
  void StartCalls() const;
  // Adds the calls since the last start to `calls`, by the function's name, and starts again.
  // Counts only calls that take memory, give it back, or wait.
  void TakeCalls(std::map<std::string, uint64_t>* calls) const;

 private:
  void* library_ = nullptr;
  void* context_ = nullptr;
};

}  // namespace memtrace::bench

#endif  // MEMTRACE_INTERPOSE_BENCH_CARD_DRIVER_H_
