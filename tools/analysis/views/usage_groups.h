// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_VIEWS_USAGE_GROUPS_H_
#define MEMTRACE_TOOLS_ANALYSIS_VIEWS_USAGE_GROUPS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/analysis/views/origins.h"
#include "tools/analysis/views/usage_curve.h"

namespace memtrace::analysis {

struct UsageKey {
  std::string name;
  std::vector<uint64_t> bytes;  // of each column, when it was most
};

// The columns of a curve split by one property; keys and rest sum to each column's most.
struct UsageGroups {
  std::vector<UsageKey> keys;  // the one that ever had most first
  std::vector<uint64_t> rest;  // of all that are smaller
};

// Follows the live bytes of each name over a run, and notes them where a column was most.
class UsageGrouper {
 public:
  using Naming = std::function<std::string(OriginId)>;

  // `curve` must outlive this.
  UsageGrouper(const UsageCurve& curve, Naming name) : curve_(curve), name_(std::move(name)) {}

  void Count(OriginId origin, uint64_t bytes, bool born);
  // Must be called after each event of the trace, counted from 1.
  void EndOf(uint64_t event);

  // Returns at most `keys` names.
  UsageGroups Finish(size_t keys) const;

 private:
  using NameId = uint32_t;
  using Sample = std::vector<std::pair<NameId, uint64_t>>;

  NameId NameOf(OriginId origin);
  std::vector<NameId> Largest(size_t keys) const;

  const UsageCurve& curve_;
  Naming name_;
  std::vector<NameId> name_of_;  // name + 1, by origin; 0: not known yet
  absl::flat_hash_map<std::string, NameId> by_name_;
  std::vector<std::string> names_;
  std::vector<uint64_t> live_;   // by name
  std::vector<Sample> samples_;  // of the columns so far; without what is too little to be seen
};

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_VIEWS_USAGE_GROUPS_H_
