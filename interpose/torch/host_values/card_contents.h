// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_HOST_VALUES_CARD_CONTENTS_H_
#define MEMTRACE_INTERPOSE_TORCH_HOST_VALUES_CARD_CONTENTS_H_

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "interpose/simulated_card/interface/card_ranges.h"

namespace memtrace::shim {

// Knowledge of a tensor's values on a simulated card. Ordered: the weakest of several is their
// minimum.
enum class Known : int {
  kUnknown = MEMTRACE_CARD_UNKNOWN,
  kAssumed = MEMTRACE_CARD_ASSUMED,
  kKnown = MEMTRACE_CARD_KNOWN,
};

// The contents of the simulated card's memory, by tensor: strided tensors element by element, so
// that the gaps of a view keep their own state. Nothing here allocates on the card, and the card
// does not count it as the program's copies.
//
// Thread rule: any thread. REQUIRES: tensors are dense, plain and on the card.
class CardContents {
 public:
  // Returns null if the process has no simulated card.
  static const CardContents* OfProcess();

  Known KnownOf(const at::Tensor& tensor) const;
  void Set(const at::Tensor& tensor, Known known) const;
  void Forget(const at::Tensor& tensor) const;
  // Makes all elements zero and known. REQUIRES: there is no gap between them.
  void Clear(const at::Tensor& tensor) const;
  // Tells that an allocator hands out the block.
  void HandOut(uint64_t address, uint64_t bytes) const { hand_out_(address, bytes); }

  // Returns a copy on the host with the tensor's sizes and strides; undefined if it cannot be read.
  at::Tensor Read(const at::Tensor& tensor) const;
  // `values` are on the host and have the tensor's sizes and type. False if it cannot be written.
  bool Write(const at::Tensor& tensor, const at::Tensor& values, Known known) const;

  memtrace_card_thread_state& thread() const { return *thread_(); }

 private:
  CardContents() = default;
  bool FindAll();

  decltype(&memtrace_card_known_at) known_at_ = nullptr;
  decltype(&memtrace_card_set_known) set_known_ = nullptr;
  decltype(&memtrace_card_hand_out) hand_out_ = nullptr;
  decltype(&memtrace_card_clear) clear_ = nullptr;
  decltype(&memtrace_card_read) read_ = nullptr;
  decltype(&memtrace_card_write) write_ = nullptr;
  decltype(&::memtrace_card_thread) thread_ = nullptr;
};

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_HOST_VALUES_CARD_CONTENTS_H_
