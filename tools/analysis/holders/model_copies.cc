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

}  // namespace

std::vector<ModelCopy> FindModelCopies(const std::vector<CapturedBlock>& captured,
                                       const LiveSet& live, const EventSource& source) {
  using Key = std::pair<trace::StringId, uint64_t>;  // path, bytes
  std::map<Key, std::vector<const Block*>> parameters;
  std::set<trace::StringId> trained;
  ForEachStated(captured, live, [&](const Block& block, const Part& part) {
    if (part.identity.role == trace::Role::kParameter)
      parameters[{part.identity.path, part.bytes}].push_back(&block);
    if (part.identity.role == trace::Role::kGradient ||
        part.identity.role == trace::Role::kOptimizerState)
      trained.insert(part.identity.path);
  });
  SiteNames lines(source);
  const auto line_of = [&lines](const Block* block) -> std::string {
    return lines.Name(
        lines.Site(trace::Role::kUnknown, 0, 0, block->allocation.stack, block->birth.phase));
  };
  std::map<std::string, ModelCopy> by_line;
  uint64_t originals = 0;
  for (auto& [key, blocks] : parameters) {
    originals += key.second;
    if (trained.contains(key.first)) continue;
    std::sort(blocks.begin(), blocks.end(),
              [](const Block* a, const Block* b) { return a->sequence < b->sequence; });
    // Layers that are not yet part of a model also have the same paths.
    if (blocks.size() > kMostModels) continue;
    const std::string original = line_of(blocks.front());
    for (size_t i = 1; i < blocks.size(); ++i) {
      const std::string line = line_of(blocks[i]);
      if (line == original) continue;  // made again, by the line that made the first
      ModelCopy& copy = by_line[line];
      copy.site = line;
      copy.bytes += key.second;
      ++copy.parameters;
    }
  }
  std::vector<ModelCopy> copies;
  copies.reserve(by_line.size());
  for (auto& [line, copy] : by_line)
    if (copy.bytes >= originals / 2) copies.push_back(std::move(copy));
  std::stable_sort(copies.begin(), copies.end(),
                   [](const ModelCopy& a, const ModelCopy& b) { return a.bytes > b.bytes; });
  return copies;
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
