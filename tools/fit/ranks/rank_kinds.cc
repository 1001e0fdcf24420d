// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/ranks/rank_kinds.h"

#include <algorithm>
#include <fstream>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"

namespace memtrace::fit {
namespace {

// A rank that goes on to its first step takes more than the one that looked for kinds.
constexpr double kGrowth = 1.5;

}  // namespace

absl::StatusOr<RankKinds> ReadRankKinds(const std::string& file) {
  std::ifstream in(file);
  if (!in) return absl::NotFoundError(absl::StrCat("there is no file ", file));
  const nlohmann::json read = nlohmann::json::parse(in, nullptr, /*allow_exceptions=*/false);
  const bool is_whole = read.is_object() && read.contains("kinds") && read["kinds"].is_array() &&
                        !read["kinds"].empty();
  if (!is_whole) return absl::DataLossError(absl::StrCat(file, " is not whole"));
  RankKinds found;
  for (const nlohmann::json& kind : read["kinds"])
    found.kinds.push_back({kind.value("rank", 0), kind.value("alike", 1)});
  found.stages = read.value("stages", 1);
  found.has_groups = read.value("has_groups", false);
  found.host_bytes = read.value("host_bytes", uint64_t{0});
  return found;
}

uint64_t HostBytesOfRank(const RankKinds& found) {
  return static_cast<uint64_t>(static_cast<double>(found.host_bytes) * kGrowth);
}

launch::JobRanks WithRanks(launch::JobRanks job, const RankKinds& found, uint64_t host_bytes) {
  const uint64_t room = host_bytes / std::max<uint64_t>(HostBytesOfRank(found), 1);
  const auto most = static_cast<size_t>(std::clamp<uint64_t>(room, 1, found.kinds.size()));
  std::vector<RankKind> kept = found.kinds;
  kept.resize(most);
  std::sort(kept.begin(), kept.end(),
            [](const RankKind& a, const RankKind& b) { return a.rank < b.rank; });
  job.is_auto = false;
  job.stages = found.stages;
  job.real.clear();
  job.alike.clear();
  job.left_out.clear();
  for (const RankKind& kind : kept) {
    job.real.push_back(kind.rank);
    job.alike.push_back(kind.alike);
  }
  for (size_t i = most; i < found.kinds.size(); ++i) job.left_out.push_back(found.kinds[i].rank);
  return job;
}

}  // namespace memtrace::fit
