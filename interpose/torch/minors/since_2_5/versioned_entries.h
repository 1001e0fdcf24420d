// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_MINORS_SINCE_2_5_VERSIONED_ENTRIES_H_
#define MEMTRACE_INTERPOSE_TORCH_MINORS_SINCE_2_5_VERSIONED_ENTRIES_H_

#include <utility>

#include "interpose/torch/mempool_id.h"
#include "interpose/torch/minors/entry_facts.h"
#include "interpose/torch/minors/history_words.h"

namespace memtrace::shim {

inline TraceEntry MakeTraceEntry(TraceEntry::Action action, EntryFacts facts) {
  return {action,
          facts.device,
          facts.address,
          facts.bytes,
          static_cast<EntryStream>(facts.stream),
          facts.time,
          std::move(facts.context)};
}

// An entry does not tell its pool; the default one is assumed.
inline MempoolId_t PoolOf(const TraceEntry& /*entry*/) { return {0, 0}; }

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_MINORS_SINCE_2_5_VERSIONED_ENTRIES_H_
