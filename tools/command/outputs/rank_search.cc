// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command/outputs/rank_search.h"

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <system_error>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/host_memory.h"
#include "base/status_macros.h"
#include "messages/message.h"
#include "tools/command/program/program.h"
#include "tools/fit/files/cache_folders.h"
#include "tools/fit/ranks/rank_kinds.h"
#include "tools/fit/ranks/scout.h"
#include "tools/fit/trials/scratch_folder.h"
#include "tools/launch/launch_plan.h"
#include "tools/report/words/printable.h"
#include "tools/report/words/quantity.h"

namespace memtrace::command {
namespace {

// True if the kinds stand for all ranks of the job.
bool IsGrid(const launch::JobRanks& job, const fit::RankKinds& found) {
  int64_t ranks = 0;
  for (const fit::RankKind& kind : found.kinds) ranks += kind.alike;
  return ranks == job.world;
}

std::string FoundText(const launch::JobRanks& job, const fit::RankKinds& found) {
  const std::string ranks = absl::StrJoin(job.real, ",");
  if (!found.has_groups)
    return Message(
        "rank 0 made no process group, so nothing tells which of the $0 ranks differ; only rank 0 "
        "runs, and --ranks can name others",
        job.world);
  if (!IsGrid(job, found))
    return Message(
        "the process groups of rank 0 do not account for all $0 ranks, of which ranks $1 run; "
        "--ranks can name others",
        job.world, ranks);
  if (found.kinds.size() == 1)
    return Message("the $0 ranks are of one kind, of which rank $1 runs", job.world, ranks);
  return Message("the $0 ranks are of $1 kinds, of which ranks $2 run", job.world,
                 found.kinds.size(), ranks);
}

void PrintFound(const launch::JobRanks& job, const fit::RankKinds& found) {
  Note(FoundText(job, found));
  if (job.left_out.empty()) return;
  Note(
      Message("the host has memory for $0 ranks of about $1 each, so ranks $2, which are of other "
              "kinds, do not run; --ranks can name them instead",
              job.real.size(), report::FormatBytes(fit::HostBytesOfRank(found)),
              absl::StrJoin(job.left_out, ",")));
}

// Returns the line without the "[rank0]: " that torch puts before it.
absl::string_view WithoutRank(absl::string_view line) {
  const size_t end = absl::StartsWith(line, "[rank") ? line.find("]: ") : line.npos;
  return end == line.npos ? line : line.substr(end + 3);
}

// Runs rank 0 again without a layer over its files if the layer may be why the first run failed.
absl::StatusOr<fit::RankKinds> FindKinds(const fit::Trial& trial,
                                         const std::filesystem::path& folder,
                                         const fit::FileKeeping& keeping, std::string& log_end) {
  absl::StatusOr<fit::RankKinds> found = fit::FindRankKinds(trial, folder, keeping, log_end);
  const bool may_be_layers = found.status().code() == absl::StatusCode::kFailedPrecondition &&
                             keeping.layer_bytes > 0 && keeping.has_own_users;
  if (!may_be_layers) return found;
  std::string own_log_end;
  absl::StatusOr<fit::RankKinds> without =
      fit::FindRankKinds(trial, folder / "without", fit::FileKeeping(), own_log_end);
  if (!without.ok()) return found;
  log_end.clear();
  return without;
}

}  // namespace

absl::StatusOr<launch::JobRanks> FindRanks(const fit::Trial& trial,
                                           const std::filesystem::path& folder,
                                           const fit::FileKeeping& keeping, bool is_quiet,
                                           std::string& log_end) {
  if (!is_quiet)
    Note(Message("rank 0 runs up to its first backward pass, to find which ranks differ"));
  MEMTRACE_ASSIGN_OR_RETURN(const fit::RankKinds found, FindKinds(trial, folder, keeping, log_end));
  launch::JobRanks job = fit::WithRanks(*trial.job, found, ReadHostMemory().available);
  if (!is_quiet) PrintFound(job, found);
  return job;
}

absl::StatusOr<launch::JobRanks> FindRanksToRun(const fit::Trial& trial, bool is_quiet) {
  MEMTRACE_ASSIGN_OR_RETURN(const fit::ScratchFolder scratch, fit::ScratchFolder::Make());
  MEMTRACE_ASSIGN_OR_RETURN(
      const fit::FileKeeping keeping,
      fit::FindFileKeeping(launch::CurrentEnvironment(), scratch.path().string()));
  std::error_code ignored;
  const fit::HeldCaches caches(
      fit::CacheFolders(launch::CurrentEnvironment(), std::filesystem::current_path(ignored)));
  std::string log_end;
  absl::StatusOr<launch::JobRanks> job =
      FindRanks(trial, scratch.path() / "ranks", keeping, is_quiet, log_end);
  if (!job.ok()) PrintLogEnd(log_end);
  return job;
}

void PrintIfHostIsSmall(const launch::JobRanks& job) {
  constexpr Bytes kRank = 300_MiB;  // of its own, once it has imported torch
  const Bytes available = ReadHostMemory().available;
  if (job.real.size() * kRank <= available) return;
  Note(
      Message("$0 ranks with torch need more than $1 of this machine's memory, and $2 are "
              "available; --ranks auto runs one rank of each kind",
              job.real.size(), report::FormatBytes(job.real.size() * kRank),
              report::FormatBytes(available)));
}

void PrintLogEnd(const std::string& log_end) {
  constexpr size_t kLines = 12;
  const std::vector<absl::string_view> lines = absl::StrSplit(log_end, '\n', absl::SkipEmpty());
  std::vector<absl::string_view> told;
  bool is_ours = false;  // a frame of memtrace's own package, and its line of code
  for (const absl::string_view line : lines) {
    const absl::string_view bare = WithoutRank(line);
    const bool is_frame = absl::StartsWith(bare, "  File \"");
    if (is_frame) is_ours = absl::StrContains(bare, "/memtrace/_");
    if (!absl::StartsWith(bare, "  ")) is_ours = false;
    if (!is_ours) told.push_back(line);
  }
  for (size_t i = told.size() - std::min(told.size(), kLines); i < told.size(); ++i)
    std::cerr << "  | " << report::Printable({told[i].data(), told[i].size()}) << "\n";
}

}  // namespace memtrace::command
