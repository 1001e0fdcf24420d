// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_HOST_VALUES_CARD_THREAD_H_
#define MEMTRACE_INTERPOSE_TORCH_HOST_VALUES_CARD_THREAD_H_

#include <array>
#include <cstdint>
#include <optional>

#include "interpose/torch/host_values/card_contents.h"

namespace memtrace::shim {

// While it lives, the card leaves it to us to account for this thread's launches.
class OperatorScope {
 public:
  // `delivers` is a Known or MEMTRACE_CARD_BY_BYTE.
  OperatorScope(memtrace_card_thread_state& thread, int32_t delivers)
      : thread_(thread), outer_delivers_(thread.delivers) {
    ++thread_.operators;
    thread_.delivers = delivers;
  }
  ~OperatorScope() {
    --thread_.operators;
    thread_.delivers = outer_delivers_;
    thread_.answer_bytes = 0;
  }
  OperatorScope(const OperatorScope&) = delete;
  OperatorScope& operator=(const OperatorScope&) = delete;

 private:
  memtrace_card_thread_state& thread_;
  int32_t outer_delivers_;
};

// Watches if an operator itself copies something to the host, and how well it was known. Copies
// that a nested operator has already accounted for are not counted again.
class ReadWatch {
 public:
  explicit ReadWatch(const memtrace_card_thread_state& thread)
      : thread_(thread), before_(UnaccountedCopies()) {}

  // Returns how well the copied bytes were known, the weakest of several copies; nothing if there
  // was no copy.
  std::optional<Known> Seen() const;

  // Marks all of them as accounted for.
  void MarkAccounted() const;

 private:
  using Counts = std::array<uint64_t, 3>;

  Counts UnaccountedCopies() const;

  const memtrace_card_thread_state& thread_;
  Counts before_;
};

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_HOST_VALUES_CARD_THREAD_H_
