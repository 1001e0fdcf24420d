// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fleet/fleet_row.h"

#include <map>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "profiler/trace/reading/trace_files.h"
#include "tools/analysis/source/run_facts.h"
#include "tools/analysis/views/run_summary.h"
#include "tools/fleet/card_columns.h"
#include "tools/fleet/column_values.h"

namespace memtrace::fleet {
namespace {

using analysis::RunSummary;

using Info = std::map<std::string, std::string>;

std::string Fact(const Info& info, const std::string& key) {
  const auto found = info.find(key);
  return found == info.end() ? "" : found->second;
}

// Returns the name that the processes of one job share: the scheduler's, torchrun's, or that of
// their traces. "none" is what torchrun calls a job without a name.
std::string JobOf(const std::string& path, const Info& info) {
  if (std::string job = Fact(info, "environment.SLURM_JOB_ID"); !job.empty()) return job;
  const std::string run = Fact(info, "environment.TORCHELASTIC_RUN_ID");
  return run.empty() || run == "none" ? trace::WithoutPid(path) : run;
}

void AddProcess(const std::string& path, const Info& info, ColumnValues& row) {
  const analysis::RunFacts run = analysis::ReadRunFacts(path, info, {}, {});
  row.Text("job", JobOf(path, info));
  row.Text("host", run.host);
  row.ParsedNumber("pid", run.process);
  row.ParsedNumber("rank", run.rank);
  row.ParsedNumber("local_rank", Fact(info, "environment.LOCAL_RANK"));
  row.ParsedNumber("world_size", run.world_size);
  row.Text("script", Fact(info, "script"));
  row.Text("script_version", Fact(info, "script_version"));
  row.Text("command", run.command);
  for (const char* version : {"python", "torch", "cuda", "memtrace"})
    row.Text(version, Fact(info, version));
  row.Text("allocator", run.allocator);
  row.Truth("simulated", run.simulated);
  row.Text("simulated_card", run.card);
  row.Moment("started_utc", run.started_unix_ns);
}

void AddFailure(const RunSummary& summary, ColumnValues& row) {
  row.Number("out_of_memory", summary.out_of_memory);
  if (!summary.last_failure) return;
  const analysis::SummaryFailure& failure = *summary.last_failure;
  row.Text("oom_cause", failure.cause);
  row.Text("oom_line", failure.line);
  row.Text("oom_owner", failure.owner);
  row.Signed("oom_card", failure.card);
  row.Number("oom_requested_bytes", failure.requested);
  row.Number("oom_available_bytes", failure.obtainable);
  row.Number("oom_step", failure.at.step);
  row.Text("oom_phase", failure.at.phase);
}

void AddSummary(const RunSummary& summary, ColumnValues& row) {
  row.Moment("summary_utc", summary.unix_ns);
  row.Seconds("seconds", summary.time_ns);
  row.Number("events", summary.events);
  row.Number("steps", summary.steps);
  row.Text("phase", summary.at.phase);
  AddCardColumns(summary, row);
  AddFailure(summary, row);
}

absl::StatusOr<RunSummary> SummaryOf(const std::string& path, const trace::TraceFront& front) {
  if (!front.summary.ok()) return front.summary.status();
  const auto json =
      nlohmann::ordered_json::parse(*front.summary, nullptr, /*allow_exceptions=*/false);
  absl::StatusOr<RunSummary> summary = analysis::ParseRunSummary(json);
  if (summary.ok()) return summary;
  return absl::InvalidArgumentError(absl::StrCat(path, ": ", summary.status().message()));
}

std::string ProblemOf(const std::string& path, const trace::TraceFront& front,
                      const absl::Status& summary) {
  if (!summary.ok()) return std::string(summary.message());
  if (front.end_missing)
    return path + " is cut short: its events are not complete, but its summary is";
  return "";
}

}  // namespace

Row RowOfProblem(const std::string& path, const std::string& problem) {
  ColumnValues values;
  values.Text("file", path);
  values.Text("problem", problem);
  return {.json = values.Line(), .problem = problem};
}

Row RowOf(const std::string& path, const absl::StatusOr<trace::TraceFront>& front) {
  if (!front.ok()) return RowOfProblem(path, std::string(front.status().message()));
  const absl::StatusOr<RunSummary> summary = SummaryOf(path, *front);
  const std::string problem = ProblemOf(path, *front, summary.status());
  const bool is_finished = front->is_closed || (summary.ok() && summary->is_last);
  ColumnValues values;
  values.Text("file", path);
  values.Text("problem", problem);
  values.Text("state", is_finished ? "finished" : "open");
  values.Number("file_bytes", front->file_bytes);
  values.Number("lost_events", front->lost_events);
  AddProcess(path, front->info, values);
  if (summary.ok()) AddSummary(*summary, values);
  return {.json = values.Line(), .problem = problem, .has_figures = summary.ok()};
}

}  // namespace memtrace::fleet
