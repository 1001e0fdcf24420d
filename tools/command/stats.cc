// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include <iostream>
#include <memory>
#include <string>

#include "CLI/CLI.hpp"
#include "tools/analysis/explanation.h"
#include "tools/analysis/run_facts.h"
#include "tools/analysis/timeline.h"
#include "tools/command/exit_code.h"
#include "tools/command/trace_input.h"
#include "tools/command/verbs.h"
#include "tools/report/run_header.h"
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

struct Options {
  std::string file;
  bool json = false;
};

int Stats(const Options& options) {
  const absl::StatusOr<TraceInput> input = TraceInput::Open(options.file);
  if (!input.ok()) {
    Note(std::string(input.status().message()));
    return kUnreadable;
  }
  analysis::Timeline timeline(*input, 0);
  input->ForEach([&timeline](const trace::Event& event) { timeline.Apply(event); });
  const trace::Completeness& completeness = input->reader().completeness();
  const analysis::RunFacts run = input->Facts(timeline.annotations());
  std::cout << (options.json ? report::JsonStats(timeline, run)
                             : report::TextStats(timeline, analysis::Explain(*input, 0), run))
            << std::flush;
  if (options.json && !completeness.whole()) Note(report::PartialBanner(completeness));
  return input->exit_code();
}

}  // namespace

void DefineStats(CLI::App& app, const Invocation& /*invocation*/, int& exit_code) {
  auto options = std::make_shared<Options>();
  app.description(kDescription);
  app.footer(kExamples);
  app.add_option("FILE", options->file, "A trace that memtrace run wrote")
      ->required()
      ->group("Input");
  app.add_flag("--json", options->json, "Print JSON (schema memtrace.stats/1) instead of text")
      ->group("Output");
  app.callback([options, &exit_code] { exit_code = Stats(*options); });
}

}  // namespace memtrace::command
