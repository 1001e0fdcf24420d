// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command/outputs/rank_search.h"

#include <algorithm>
#include <iostream>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "messages/message.h"
#include "tools/command/program/program.h"
#include "tools/fit/ranks/rank_kinds.h"
#include "tools/fit/ranks/scout.h"
#include "tools/fit/scratch_folder.h"
#include "tools/launch/launch_plan.h"
#include "tools/report/words/printable.h"
#include "tools/report/words/quantity.h"

namespace memtrace::command {
namespace {

void PrintFound(const launch::JobRanks& job, const fit::RankKinds& found) {
  const std::string ranks = absl::StrJoin(job.real, ",");
  if (!found.has_groups) {
    Note(
        Message("rank 0 made no process group before its first backward pass, so it stands for "
                "all $0 ranks",
                job.world));
  } else if (found.kinds.size() == 1) {
    Note(Message("the $0 ranks are of one kind, of which rank $1 runs", job.world, ranks));
  } else {
    Note(Message("the $0 ranks are of $1 kinds, of which ranks $2 run", job.world,
                 found.kinds.size(), ranks));
  }
  if (job.left_out.empty()) return;
  Note(
      Message("the host has memory for $0 ranks of about $1 each, so ranks $2, which are of other "
              "kinds, do not run; --ranks can name them instead",
              job.real.size(), report::FormatBytes(fit::HostBytesOfRank(found)),
              absl::StrJoin(job.left_out, ",")));
}

}  // namespace

absl::StatusOr<launch::JobRanks> FindRanks(const fit::Trial& trial,
                                           const std::filesystem::path& folder,
                                           const fit::FileKeeping& keeping, bool is_quiet,
                                           std::string& log_end) {
  if (!is_quiet)
    Note(Message("rank 0 runs up to its first backward pass, to find which ranks differ"));
  MEMTRACE_ASSIGN_OR_RETURN(const fit::RankKinds found,
                            fit::FindRankKinds(trial, folder, keeping, log_end));
  launch::JobRanks job = fit::WithRanks(*trial.job, found, fit::AvailableHostBytes());
  if (!is_quiet) PrintFound(job, found);
  return job;
}

absl::StatusOr<launch::JobRanks> FindRanksToRun(const fit::Trial& trial, bool is_quiet) {
  MEMTRACE_ASSIGN_OR_RETURN(const fit::ScratchFolder scratch, fit::ScratchFolder::Make());
  MEMTRACE_ASSIGN_OR_RETURN(
      const fit::FileKeeping keeping,
      fit::FindFileKeeping(launch::CurrentEnvironment(), scratch.path().string()));
  std::string log_end;
  absl::StatusOr<launch::JobRanks> job =
      FindRanks(trial, scratch.path() / "ranks", keeping, is_quiet, log_end);
  if (!job.ok()) PrintLogEnd(log_end);
  return job;
}

void PrintLogEnd(const std::string& log_end) {
  constexpr size_t kLines = 12;
  const std::vector<absl::string_view> lines = absl::StrSplit(log_end, '\n', absl::SkipEmpty());
  std::vector<absl::string_view> told;
  bool is_ours = false;  // a frame of memtrace's own package, and its line of code
  for (const absl::string_view line : lines) {
    const bool is_frame = absl::StartsWith(line, "  File \"");
    if (is_frame) is_ours = absl::StrContains(line, "/memtrace/_");
    if (!absl::StartsWith(line, "  ")) is_ours = false;
    if (!is_ours) told.push_back(line);
  }
  for (size_t i = told.size() - std::min(told.size(), kLines); i < told.size(); ++i)
    std::cerr << "  | " << report::Printable({told[i].data(), told[i].size()}) << "\n";
}

}  // namespace memtrace::command
