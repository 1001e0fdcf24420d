// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_PACKING_FAILED_PARTS_H_
#define MEMTRACE_TOOLS_ANALYSIS_PACKING_FAILED_PARTS_H_

#include <cstdint>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "tools/analysis/packing/part.h"

namespace memtrace::analysis {

// Parts that cannot be packed within one capacity, in any order. The same items at the same lows
// arise in many ways. A part is kept as 128 bits, so that no two are taken for one (among 10^6
// parts, with a probability of 10^-26), and only the first million parts are kept.
class FailedParts {
 public:
  using Key = std::pair<uint64_t, uint64_t>;

  static Key KeyOf(const OpenPart& part);
  bool Contains(const Key& key) const { return keys_.contains(key); }
  void Add(const Key& key) {
    if (keys_.size() < kMostKeys) keys_.insert(key);
  }

 private:
  static constexpr size_t kMostKeys = 1'000'000;

  absl::flat_hash_set<Key> keys_;
};

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_PACKING_FAILED_PARTS_H_
