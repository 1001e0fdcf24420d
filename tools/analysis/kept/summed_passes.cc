// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/kept/summed_passes.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "profiler/trace/vocabulary/facts.h"
#include "tools/analysis/holders/block_parts.h"

namespace memtrace::analysis {
namespace {

std::optional<SummedPasses> Parsed(const std::string& text) {
  const std::vector<std::string> words = absl::StrSplit(text, '\t');
  SummedPasses found;
  if (words.size() != 4 || !absl::SimpleAtoi(words[3], &found.passes)) return std::nullopt;
  found.name = words[0];
  found.loop = words[1];
  found.backward = words[2];
  return found;
}

// Memory that a backward made also belongs to the passes, if it made a graph of its own.
bool IsOfPasses(trace::Role role) {
  return role == trace::Role::kActivation || role == trace::Role::kTemporary;
}

}  // namespace

std::optional<SummedPasses> FindSummedPasses(const std::vector<CapturedBlock>& captured,
                                             const Position& now, const LiveSet& live,
                                             const EventSource& source,
                                             const Annotations& annotations) {
  std::optional<SummedPasses> found = Parsed(AnnotatedText(annotations, fact::kPassesSummed));
  if (!found || found->hands_on()) return found;
  uint64_t bytes = 0;
  for (const CapturedBlock& entry : captured) {
    const Block& block = live.block(entry.id);
    if (entry.waiting || block.birth.step < now.step) continue;
    for (const Part& part :
         PartsOf(block, live.Labels(entry.id), live.position(), source.best_evidence()))
      if (IsOfPasses(part.identity.role)) bytes += part.bytes;
  }
  found->bytes = bytes / (found->passes + 1) * found->passes;
  return found;
}

}  // namespace memtrace::analysis
