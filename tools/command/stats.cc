// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>

#include "CLI/CLI.hpp"
#include "tools/analysis/explanation.h"
#include "tools/analysis/run_facts.h"
#include "tools/analysis/timeline.h"
#include "tools/command/trace_verb.h"
#include "tools/command/verbs.h"
#include "tools/report/stats_report.h"

namespace memtrace::command {
namespace {

constexpr const char* kDescription =
    "Print each card's figures at the end of a trace\n"
    "Bytes requested, allocated and reserved, the peak, and how many events there are.\n"
    "\n"
    "Usage: memtrace stats [OPTIONS] FILE";
constexpr const char* kExamples =
    "Examples:\n"
    "  memtrace stats run.trace                         a table\n"
    "  memtrace stats --json run.trace                  for programs: bytes as integers\n"
    "  memtrace stats --json run.trace | jq '.devices[0].peak'";

std::string Json(const TraceInput& input) {
  analysis::Timeline timeline(input, 0);
  input.ForEach([&timeline](const trace::Event& event) { timeline.Apply(event); });
  return report::JsonStats(timeline, input.Facts(timeline.annotations()));
}

std::string Text(const TraceInput& input) {
  const analysis::Explanation explanation = analysis::Explain(input, 0);
  return report::TextStats(explanation, input.Facts(explanation.annotations));
}

}  // namespace

void DefineStats(CLI::App& app, const Invocation& /*invocation*/, int& exit_code) {
  auto options = std::make_shared<TraceOptions>();
  app.description(kDescription);
  app.footer(kExamples);
  AddTraceOptions(app, *options, "memtrace.stats/1");
  app.callback(
      [options, &exit_code] { exit_code = PrintFromTrace(*options, options->json ? Json : Text); });
}

}  // namespace memtrace::command
