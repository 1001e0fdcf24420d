// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/planning/repetition.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"

namespace memtrace::analysis {
namespace {

using Blocks = absl::Span<const RequestedBlock>;

constexpr size_t kCandidates = 64;

// Counts each distance between an equal run of `gram` sizes and the next one.
absl::flat_hash_map<size_t, size_t> Distances(Blocks blocks, size_t gram) {
  absl::flat_hash_map<uint64_t, size_t> last;
  absl::flat_hash_map<size_t, size_t> counts;
  for (size_t i = gram; i <= blocks.size(); ++i) {
    uint64_t hash = 0;
    for (size_t k = i - gram; k < i; ++k) hash = absl::HashOf(hash, blocks[k].size);
    const auto [seen, is_new] = last.try_emplace(hash, i);
    if (!is_new) ++counts[i - std::exchange(seen->second, i)];
  }
  return counts;
}

// Returns the periods that may cover most, the smallest first.
std::vector<size_t> CandidatePeriods(Blocks blocks) {
  std::vector<std::pair<size_t, size_t>> by_weight;  // negated, so that it sorts downwards
  absl::flat_hash_map<size_t, size_t> weights;
  for (const size_t gram : {size_t{1}, size_t{3}, size_t{8}}) {
    for (const auto& [distance, count] : Distances(blocks, gram)) {
      size_t& weight = weights[distance];
      weight = std::max(weight, count * distance);
    }
  }
  by_weight.reserve(weights.size());
  for (const auto& [distance, weight] : weights) by_weight.emplace_back(~weight, distance);
  std::sort(by_weight.begin(), by_weight.end());
  by_weight.resize(std::min(by_weight.size(), kCandidates));
  std::vector<size_t> periods;
  periods.reserve(by_weight.size());
  for (const auto& [weight, distance] : by_weight) periods.push_back(distance);
  std::sort(periods.begin(), periods.end());
  return periods;
}

// Returns the longest stretch that repeats with this period, the last one among equals.
Repetition Longest(Blocks blocks, size_t period) {
  Repetition longest{.period = period};
  size_t begin = 0;
  for (size_t i = 0; i + period <= blocks.size(); ++i) {
    const size_t end = i + period;
    if (end - begin >= longest.end - longest.begin) longest = {begin, end, period};
    if (end < blocks.size() && blocks[i].size != blocks[end].size) begin = i + 1;
  }
  return longest;
}

// True if nearly all bytes that were requested in the repetition, except at its end, were freed
// soon.
bool IsBalanced(Blocks blocks, const Repetition& repetition) {
  Bytes all = 0;
  Bytes kept = 0;
  for (size_t i = repetition.begin; i + repetition.period < repetition.end; ++i) {
    const size_t soon = i + Repetition::kMostPeriods * repetition.period;
    all += blocks[i].size;
    const bool is_unknown = blocks[i].death == RequestedBlock::kNever && soon > blocks.size();
    if (blocks[i].death > soon && !is_unknown) kept += blocks[i].size;
  }
  return kept <= all / 100;
}

}  // namespace

Repetition FindRepetition(Blocks blocks) {
  Repetition best;
  for (const size_t period : CandidatePeriods(blocks)) {
    const Repetition found = Longest(blocks, period);
    const size_t covered = found.end - found.begin;
    if (covered < 2 * period || 3 * covered < blocks.size()) continue;
    if (covered <= best.end - best.begin || !IsBalanced(blocks, found)) continue;
    best = found;
  }
  return best;
}

}  // namespace memtrace::analysis
