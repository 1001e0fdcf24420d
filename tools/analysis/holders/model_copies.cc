// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/holders/model_copies.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "tools/analysis/holders/block_parts.h"
#include "tools/analysis/source/site_names.h"

namespace memtrace::analysis {
namespace {

// Calls `visit` with each part of the blocks in use whose path a hook stated.
template <typename Visit>
void ForEachStated(const std::vector<CapturedBlock>& captured, const LiveSet& live,
                   const Visit& visit) {
  for (const CapturedBlock& entry : captured) {
    if (entry.waiting) continue;
    const Block& block = live.block(entry.id);
    for (const Part& part :
         PartsOf(block, live.Labels(entry.id), live.position(), Evidence::kStated)) {
      if (part.identity.evidence == Evidence::kStated && part.identity.path != 0)
        visit(block, part);
    }
  }
}

using PathAndBytes = std::pair<trace::StringId, uint64_t>;

// The parameters of one card's models.
struct Parameters {
  std::map<PathAndBytes, std::vector<const Block*>> blocks;
  std::set<trace::StringId> trained;  // paths that also have a gradient or optimizer states
};

Parameters FindParameters(const std::vector<CapturedBlock>& captured, const LiveSet& live) {
  Parameters found;
  ForEachStated(captured, live, [&](const Block& block, const Part& part) {
    const Identity& identity = part.identity;
    if (identity.role == trace::Role::kParameter)
      found.blocks[{identity.path, part.bytes}].push_back(&block);
    if (identity.role == trace::Role::kGradient || identity.role == trace::Role::kOptimizerState)
      found.trained.insert(identity.path);
  });
  return found;
}

// Collects, for each line of the program, the copies that it made.
class CopiesByLine {
 public:
  explicit CopiesByLine(const EventSource& source) : lines_(source) {}

  // Adds all but the oldest of these blocks, which hold the same parameter.
  void Add(std::vector<const Block*> blocks, uint64_t bytes) {
    std::sort(blocks.begin(), blocks.end(),
              [](const Block* a, const Block* b) { return a->sequence < b->sequence; });
    const std::string original = LineOf(*blocks.front());
    for (size_t i = 1; i < blocks.size(); ++i) {
      const std::string line = LineOf(*blocks[i]);
      if (line == original) continue;  // made again, by the line that made the first
      ModelCopy& copy = copies_[line];
      copy.site = line;
      copy.bytes += bytes;
      ++copy.parameters;
    }
  }

  // Returns those of at least so many bytes, the largest first.
  std::vector<ModelCopy> OfAtLeast(uint64_t bytes) const {
    std::vector<ModelCopy> large;
    for (const auto& [line, copy] : copies_)
      if (copy.bytes >= bytes) large.push_back(copy);
    std::stable_sort(large.begin(), large.end(),
                     [](const ModelCopy& a, const ModelCopy& b) { return a.bytes > b.bytes; });
    return large;
  }

 private:
  std::string LineOf(const Block& block) {
    return lines_.Name(
        lines_.Site(trace::Role::kUnknown, 0, 0, block.allocation.stack, block.birth.phase));
  }

  SiteNames lines_;
  std::map<std::string, ModelCopy> copies_;
};

}  // namespace

std::vector<ModelCopy> FindModelCopies(const std::vector<CapturedBlock>& captured,
                                       const LiveSet& live, const EventSource& source) {
  const Parameters parameters = FindParameters(captured, live);
  CopiesByLine copies(source);
  uint64_t originals = 0;
  for (const auto& [key, blocks] : parameters.blocks) {
    const auto& [path, bytes] = key;
    originals += bytes;
    // Layers that are not yet part of a model also have the same paths.
    if (!parameters.trained.contains(path) && blocks.size() <= kMostModels)
      copies.Add(blocks, bytes);
  }
  return copies.OfAtLeast(originals / 2);
}

UnsteppedGradients FindUnstepped(const std::vector<CapturedBlock>& captured, const LiveSet& live,
                                 const EventSource& source) {
  std::set<trace::StringId> stepped;
  std::map<trace::StringId, uint64_t> gradients;
  ForEachStated(captured, live, [&](const Block&, const Part& part) {
    if (part.identity.role == trace::Role::kOptimizerState) stepped.insert(part.identity.path);
    if (part.identity.role == trace::Role::kGradient) gradients[part.identity.path] += part.bytes;
  });
  UnsteppedGradients unstepped;
  if (stepped.empty()) return unstepped;
  std::map<std::string, uint64_t> names;
  for (const auto& [path, bytes] : gradients) {
    if (stepped.contains(path)) continue;
    unstepped.bytes += bytes;
    names[CollapsedPath(source.String(path), true)] += bytes;
  }
  const auto largest = std::max_element(
      names.begin(), names.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (largest != names.end()) unstepped.name = largest->first;
  return unstepped;
}

}  // namespace memtrace::analysis
