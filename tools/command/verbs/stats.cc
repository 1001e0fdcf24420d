// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include <iostream>
#include <memory>
#include <string>

#include "CLI/CLI.hpp"
#include "base/status_macros.h"
#include "nlohmann/json.hpp"
#include "profiler/trace/reading/summary_reader.h"
#include "tools/analysis/explanation.h"
#include "tools/analysis/replayed/timeline.h"
#include "tools/analysis/source/run_facts.h"
#include "tools/analysis/views/run_summary.h"
#include "tools/command/program/exit_code.h"
#include "tools/command/verbs/trace_verb.h"
#include "tools/command/verbs/verbs.h"
#include "tools/report/stats_report.h"
#include "tools/report/summary_report.h"
#include "tools/report/words/json_text.h"

namespace memtrace::command {
namespace {

constexpr const char* kStatsDescription =
    "Print each card's figures at the end of a trace\n"
    "The figures are the bytes requested, allocated and reserved, the peak, and the number of\n"
    "events.\n"
    "\n"
    "Usage: memtrace stats [OPTIONS] FILE";
constexpr const char* kStatsExamples =
    "Examples:\n"
    "  memtrace stats run.trace                         a table\n"
    "  memtrace stats --json run.trace                  for programs: bytes as integers\n"
    "  memtrace stats --summary run.trace               only the process's own summary\n"
    "  memtrace stats --json run.trace | jq '.devices[0].peak'";

struct StatsOptions {
  TraceOptions trace;
  bool summary = false;
};

// Returns the summary that the process wrote about itself, without reading events.
absl::StatusOr<std::string> Summary(const TraceOptions& options) {
  MEMTRACE_ASSIGN_OR_RETURN(const std::string text, trace::ReadSummary(options.file));
  const auto json = nlohmann::ordered_json::parse(text, nullptr, false);
  MEMTRACE_ASSIGN_OR_RETURN(const analysis::RunSummary summary, analysis::ParseRunSummary(json));
  constexpr size_t kRows = 20;
  return options.json ? report::JsonText(json)
                      : report::TextSummary(summary, options.file, 0, kRows);
}

int PrintSummary(const TraceOptions& options) {
  const absl::StatusOr<std::string> text = Summary(options);
  if (!text.ok()) {
    Note(std::string(text.status().message()) +
         "; memtrace stats without --summary reads the whole trace");
    return kUnreadable;
  }
  std::cout << *text << std::flush;
  return kDone;
}

std::string Json(const TraceInput& input) {
  analysis::Timeline timeline(input, 0);
  input.ForEach([&timeline](const trace::Event& event) { timeline.Apply(event); });
  return report::JsonStats(timeline, input.Facts(timeline.annotations()));
}

std::string Text(const TraceInput& input) {
  const analysis::Explanation explanation = analysis::ExplainPeaks(input);
  return report::TextStats(explanation, input.Facts(explanation.run.annotations));
}

}  // namespace

void DefineStats(CLI::App& app, const Invocation& /*invocation*/, int& exit_code) {
  auto options = std::make_shared<StatsOptions>();
  app.description(kStatsDescription);
  app.footer(kStatsExamples);
  AddTraceOptions(app, options->trace, "memtrace.stats/1");
  app.add_flag("--summary", options->summary,
               "Print only the process's own summary, at most 10 s old if the process was killed. "
               "Reads 32 KiB of a trace of any size (schema memtrace.summary/1)")
      ->group("Output");
  app.callback([options, &exit_code] {
    exit_code = options->summary
                    ? PrintSummary(options->trace)
                    : PrintFromTrace(options->trace, options->trace.json ? Json : Text);
  });
}

}  // namespace memtrace::command
