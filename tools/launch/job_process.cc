// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/launch/job_process.h"

#include <string>
#include <utility>

#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "tools/launch/program_file.h"
#include "tools/launch/rank_plans.h"

namespace memtrace::launch {
namespace {

// Returns the words of `memtrace run` for the job.
std::vector<std::string> WordsOf(const LaunchRequest& request, const JobRanks& job) {
  std::vector<std::string> words = {"memtrace", "run", "-q", "-f"};
  for (const std::string& card : request.cards) words.insert(words.end(), {"--card", card});
  if (!request.host_values.empty())
    words.insert(words.end(), {"--host-values", request.host_values});
  words.insert(words.end(),
               {"--allocator", request.allocator,                                               //
                "--world", std::to_string(job.world), "--ranks", absl::StrJoin(job.real, ","),  //
                "-o", request.output, "--"});
  words.insert(words.end(), request.command.begin(), request.command.end());
  return words;
}

}  // namespace

absl::StatusOr<LaunchPlan> PlanJob(const LaunchRequest& request, const JobRanks& job,
                                   Environment environment) {
  MEMTRACE_RETURN_IF_ERROR(PlanRanks(request, job, environment).status());
  LaunchPlan plan;
  plan.program = OwnProgram();
  plan.arguments = WordsOf(request, job);
  plan.environment = std::move(environment);
  plan.output = request.output;
  plan.passes_on_signals = true;
  return plan;
}

std::vector<WrittenTraces> WatchTracesOf(const LaunchRequest& request, const JobRanks& job) {
  std::vector<WrittenTraces> traces;
  traces.reserve(job.real.size());
  for (const int rank : job.real) traces.emplace_back(OutputOfRank(request.output, rank));
  return traces;
}

}  // namespace memtrace::launch
