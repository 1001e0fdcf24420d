// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/kept/kept_results.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

#include "profiler/trace/vocabulary/facts.h"
#include "tools/analysis/holders/block_parts.h"
#include "tools/analysis/source/frame_rules.h"
#include "tools/analysis/source/frames.h"
#include "tools/analysis/source/variables.h"

namespace memtrace::analysis {
namespace {

using trace::Phase;
using trace::Role;

constexpr uint64_t kFewest = 2;  // passes

// True where no backward follows the pass: gradients are off, or more passes went before it than
// ever before a backward.
bool IsWithoutBackward(const ResultsMoment& moment) {
  if (moment.at.phase == Phase::kEvaluate) return true;
  if (!moment.is_failure || moment.at.phase != Phase::kForward) return false;
  const auto number = [&moment](std::string_view key) {
    return AnnotatedNumber(moment.annotations, key).value_or(0);
  };
  const uint64_t before = number(fact::kForwardBeforeBackward);
  return before > 0 && number(fact::kForwardSinceBackward) > before;
}

bool IsComputed(Role role) {
  return role == Role::kActivation || role == Role::kTemporary || role == Role::kUnknown;
}

// True if the variable is one of the running call of a module: what it holds is not of earlier
// passes. `stack`: of the failed request.
bool IsWithinCall(const Variable& variable, const std::vector<trace::Frame>& stack) {
  const size_t comma = variable.place.find(", ");
  if (comma == std::string::npos) return false;
  const std::string_view function = BareFunction(std::string_view(variable.place).substr(0, comma));
  const auto outermost = std::find_if(stack.rbegin(), stack.rend(), IsModuleCall).base();
  return std::any_of(stack.begin(), outermost, [function](const trace::Frame& frame) {
    return BareFunction(frame.function) == function;
  });
}

class ResultsFinder {
 public:
  ResultsFinder(const ResultsMoment& moment, const LiveSet& live, const EventSource& source)
      : moment_(moment), live_(live), source_(source) {}

  std::optional<KeptResults> Run() {
    if (!IsWithoutBackward(moment_)) return std::nullopt;
    FindRepeated();
    if (!moment_.is_failure) {
      KeptResults results;
      AddOldest(UINT64_MAX, results);
      return results;
    }
    for (const Variable& variable : ParseVariables(moment_.annotations, moment_.device)) {
      if (!IsContainer(variable) || IsWithinCall(variable, moment_.request_stack)) continue;
      KeptResults results;
      results.name = variable.name;
      results.kind = variable.kind;
      results.place = variable.place;
      AddOldest(variable.count, results);
      if (Holds(variable, results)) return results;
    }
    return std::nullopt;
  }

 private:
  // Blocks of one operation are of one stack and one module.
  using Operation = std::pair<trace::StackId, trace::StringId>;

  static bool IsContainer(const Variable& variable) {
    constexpr std::array<std::string_view, 5> kKinds = {"list", "tuple", "dict", "set", "deque"};
    return variable.count >= kFewest &&
           std::find(kKinds.begin(), kKinds.end(), variable.kind) != kKinds.end();
  }

  // True if the container reaches about these blocks. A graph keeps more than the container
  // reaches.
  static bool Holds(const Variable& variable, const KeptResults& results) {
    const uint64_t least = results.has_graphs ? results.bytes / 4 : results.bytes / 2;
    return results.bytes > 0 && variable.bytes >= least &&
           variable.bytes <= results.bytes + results.bytes / 4;
  }

  // Collects what was made by an operation that the step's passes repeat, oldest first.
  void FindRepeated() {
    for (const CapturedBlock& entry : moment_.captured) {
      const Block& block = live_.block(entry.id);
      if (entry.waiting || block.birth.step != moment_.at.step ||
          block.birth.phase != moment_.at.phase)
        continue;
      if (!IsComputed(MainIdentity(entry.id, live_, source_.best_evidence()).role)) continue;
      repeated_[{block.allocation.stack, block.allocation.module}].push_back(&block);
    }
    for (auto& [operation, blocks] : repeated_) DropSmall(blocks);
    std::erase_if(repeated_, [](const auto& entry) { return entry.second.size() < kFewest; });
  }

  // Passes of one loop have about equal results. Other calls of a module, for example for the
  // levels of a pyramid, do not.
  static void DropSmall(std::vector<const Block*>& blocks) {
    uint64_t largest = 0;
    for (const Block* block : blocks) largest = std::max(largest, block->allocation.requested);
    std::erase_if(blocks, [largest](const Block* block) {
      return block->allocation.requested < largest / 2;
    });
    std::sort(blocks.begin(), blocks.end(),
              [](const Block* a, const Block* b) { return a->sequence < b->sequence; });
  }

  // Adds the oldest blocks of each operation, at most `passes` of them. If that is not known, the
  // newest is of the running pass.
  void AddOldest(uint64_t passes, KeptResults& results) const {
    uint64_t most = 0;
    for (const auto& [operation, blocks] : repeated_) {
      const size_t earlier = moment_.is_failure ? blocks.size() : blocks.size() - 1;
      uint64_t bytes = 0;
      for (size_t i = 0; i < std::min<uint64_t>(earlier, passes); ++i) {
        bytes += blocks[i]->allocation.requested;
        results.sequences.insert(blocks[i]->sequence);
      }
      results.bytes += bytes;
      if (bytes <= most) continue;
      most = bytes;
      results.line = UserLine(source_.Stack(operation.first));
    }
    results.has_graphs = moment_.at.phase == Phase::kForward;
  }

  const ResultsMoment& moment_;
  const LiveSet& live_;
  const EventSource& source_;
  std::map<Operation, std::vector<const Block*>> repeated_;
};

}  // namespace

std::optional<KeptResults> FindKeptResults(const ResultsMoment& moment, const LiveSet& live,
                                           const EventSource& source) {
  std::optional<KeptResults> results = ResultsFinder(moment, live, source).Run();
  if (results && results->bytes == 0) return std::nullopt;
  return results;
}

std::vector<CapturedBlock> WithoutResults(std::vector<CapturedBlock> blocks,
                                          const std::optional<KeptResults>& results,
                                          const LiveSet& live) {
  if (!results) return blocks;
  std::erase_if(blocks, [&](const CapturedBlock& entry) {
    return results->sequences.contains(live.block(entry.id).sequence);
  });
  return blocks;
}

}  // namespace memtrace::analysis
