// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_BENCH_CARD_DRIVER_H_
#define MEMTRACE_INTERPOSE_BENCH_CARD_DRIVER_H_

#include <cstddef>
#include <cstdint>

namespace memtrace::bench {

// The driver of the card on which allocators are tried: a context, streams, and what the judge asks
// it, all by functions of cuda.h. The driver is loaded already (RTLD_NOLOAD), simulated or not.
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

  // Returns what the driver says is free; 0 if it does not say it.
  uint64_t FreeBytes() const;

  void* library() const { return library_; }

 private:
  void* library_ = nullptr;
  void* context_ = nullptr;
};

}  // namespace memtrace::bench

#endif  // MEMTRACE_INTERPOSE_BENCH_CARD_DRIVER_H_
