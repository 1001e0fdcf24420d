// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_READING_THREAD_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_READING_THREAD_H_

#include "interpose/simulated_card/interface/card_ranges.h"

namespace memtrace::card {

// The calling thread's own statement about the operator that it is in (card_ranges.h).
inline struct memtrace_card_thread_state& ReadingThread() {
  static thread_local struct memtrace_card_thread_state thread {
    .size = sizeof(struct memtrace_card_thread_state), .operators = 0,
    .delivers = MEMTRACE_CARD_UNKNOWN, .answer_bytes = 0, .answer = 0, .reads = {}, .writes = 0
  };
  return thread;
}

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_READING_THREAD_H_
