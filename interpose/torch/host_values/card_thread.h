// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_HOST_VALUES_CARD_THREAD_H_
#define MEMTRACE_INTERPOSE_TORCH_HOST_VALUES_CARD_THREAD_H_

#include <array>
#include <cstdint>
#include <optional>

#include "interpose/torch/host_values/card_contents.h"

namespace memtrace::shim {

// While it lives, the card takes this thread's launches as ours to account for.
class OperatorScope {
 public:
  // delivers: a Known, or MEMTRACE_CARD_BY_BYTE.
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

// Whether an operator copied something to the host itself, by what was known of it. An operator
// inside it that already said so is not counted again.
class ReadWatch {
 public:
  explicit ReadWatch(const memtrace_card_thread_state& thread)
      : thread_(thread), before_(Unsaid()) {}

  // What was known of it, the weakest of several copies; nothing if there was none.
  std::optional<Known> Seen() const;

  // All of them are accounted for by the caller.
  void Say() const;

 private:
  using Counts = std::array<uint64_t, 3>;

  Counts Unsaid() const;

  const memtrace_card_thread_state& thread_;
  Counts before_;
};

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_HOST_VALUES_CARD_THREAD_H_
