// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/jobs/job_shape.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>
#include <utility>

namespace memtrace::analysis {
namespace {

struct KnownName {
  std::string_view word;
  Parallelism parallelism;
};

// Words between characters that are no letters, in lower case. An earlier one wins.
constexpr std::array kNames = {
    KnownName{"pp", Parallelism::kPipeline},       KnownName{"pipe", Parallelism::kPipeline},
    KnownName{"pipeline", Parallelism::kPipeline}, KnownName{"ep", Parallelism::kExpert},
    KnownName{"expert", Parallelism::kExpert},     KnownName{"tp", Parallelism::kTensor},
    KnownName{"tensor", Parallelism::kTensor},     KnownName{"cp", Parallelism::kContext},
    KnownName{"context", Parallelism::kContext},   KnownName{"dp", Parallelism::kData},
    KnownName{"ddp", Parallelism::kData},          KnownName{"fsdp", Parallelism::kData},
    KnownName{"hsdp", Parallelism::kData},         KnownName{"data", Parallelism::kData},
    KnownName{"shard", Parallelism::kData},        KnownName{"replicate", Parallelism::kData},
    KnownName{"batch", Parallelism::kData}};

// Returns the words of "PIPELINE_MODEL_PARALLEL_GROUP" in lower case, with a blank around each.
// What follows "with" says what else such a group spans: Megatron's DATA_PARALLEL_GROUP_WITH_CP is
// of data parallelism.
std::string WordsOf(std::string_view name) {
  std::string words = " ";
  for (const char c : name) {
    const auto letter = static_cast<unsigned char>(c);
    words += std::isalpha(letter) != 0 ? static_cast<char>(std::tolower(letter)) : ' ';
  }
  words += ' ';
  const size_t with = words.find(" with ");
  return with == words.npos ? words : words.substr(0, with + 1);
}

using Direction = std::pair<uint64_t, uint64_t>;  // stride, size
using Names = std::map<Direction, std::string>;

bool IsKnown(const std::string& name) { return ParallelismNamed(name) != Parallelism::kOther; }

// True if the group is one of equal ones side by side, of which the rank's is this one.
bool IsDirection(const RankGroup& group, uint64_t rank, uint64_t world) {
  if (group.stride == 0 || group.size >= world || group.stride >= world) return false;
  const uint64_t span = group.stride * group.size;
  return span <= world && world % span == 0 && rank / group.stride % group.size == group.at &&
         rank == group.first + group.at * group.stride;
}

Names DirectionsOf(const ProcessView& view, uint64_t world) {
  Names names;
  const std::optional<uint64_t> rank = RankOf(view);
  if (!rank) return names;
  for (const RankGroup& group : view.run.groups) {
    if (!IsDirection(group, *rank, world)) continue;
    std::string& name = names[{group.stride, group.size}];
    if (name.empty() || (!IsKnown(name) && IsKnown(group.name))) name = group.name;
  }
  return names;
}

Names CommonDirections(const std::vector<ProcessView>& views, uint64_t world) {
  std::optional<Names> common;
  for (const ProcessView& view : views) {
    if (!view.is_readable() || view.run.groups.empty()) continue;
    const Names names = DirectionsOf(view, world);
    if (!common) {
      common = names;
      continue;
    }
    std::erase_if(*common, [&names](const auto& each) { return !names.contains(each.first); });
  }
  return common.value_or(Names());
}

// A way to arrange the ranks that ends with a direction.
struct Chain {
  size_t length = 0;
  size_t known = 0;                // of its names
  std::optional<size_t> previous;  // the direction before, with a smaller stride

  bool operator<(const Chain& other) const {
    return std::pair(length, known) < std::pair(other.length, other.known);
  }
};

// Returns the longest chain of directions, each of which begins where the one before ends, or at a
// multiple of that.
std::vector<JobDimension> LongestChain(const Names& names) {
  const std::vector<std::pair<Direction, std::string>> all(names.begin(), names.end());
  std::vector<Chain> chains(all.size());
  std::optional<size_t> last;
  for (size_t i = 0; i < all.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      const uint64_t end = all[j].first.first * all[j].first.second;
      const Chain longer{chains[j].length, chains[j].known, j};
      if (all[i].first.first % end == 0 && chains[i] < longer) chains[i] = longer;
    }
    ++chains[i].length;
    if (IsKnown(all[i].second)) ++chains[i].known;
    if (!last || chains[*last] < chains[i]) last = i;
  }
  std::vector<JobDimension> dimensions;
  for (; last; last = chains[*last].previous) {
    const auto& [direction, name] = all[*last];
    dimensions.push_back({.name = name, .size = direction.second, .stride = direction.first});
  }
  return dimensions;
}

}  // namespace

Parallelism ParallelismNamed(std::string_view name) {
  const std::string words = WordsOf(name);
  const auto* found = std::find_if(kNames.begin(), kNames.end(), [&words](const KnownName& known) {
    return words.find(" " + std::string(known.word) + " ") != std::string::npos;
  });
  return found == kNames.end() ? Parallelism::kOther : found->parallelism;
}

const JobDimension* JobShape::pipeline() const {
  const auto found = std::find_if(dimensions.begin(), dimensions.end(), [](const JobDimension& of) {
    return of.parallelism() == Parallelism::kPipeline;
  });
  return found == dimensions.end() ? nullptr : &*found;
}

std::vector<JobDimension> JobShape::Whole() const {
  std::vector<JobDimension> whole;
  uint64_t end = world;
  for (const JobDimension& dimension : dimensions) {
    const uint64_t span = dimension.stride * dimension.size;
    if (span < end) whole.push_back({.name = "", .size = end / span, .stride = span});
    whole.push_back(dimension);
    end = dimension.stride;
  }
  if (end > 1) whole.push_back({.name = "", .size = end, .stride = 1});
  return whole;
}

JobShape ShapeOf(const std::vector<ProcessView>& views) {
  JobShape shape{.world = WorldOf(views), .dimensions = {}};
  if (shape.world > 1) shape.dimensions = LongestChain(CommonDirections(views, shape.world));
  return shape;
}

}  // namespace memtrace::analysis
