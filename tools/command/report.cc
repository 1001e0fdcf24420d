// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include <iostream>
#include <memory>
#include <string>

#include "CLI/CLI.hpp"
#include "tools/analysis/explanation.h"
#include "tools/analysis/run_facts.h"
#include "tools/command/exit_code.h"
#include "tools/command/trace_input.h"
#include "tools/command/verbs.h"
#include "tools/report/json_report.h"
#include "tools/report/run_header.h"
#include "tools/report/text_report.h"

namespace memtrace::command {
namespace {

constexpr const char* kDescription =
    "Say why a program ran out of memory, and who holds the card\n"
    "The verdict first, then the ledger of the card to the last byte, the request, the holders.\n"
    "\n"
    "Usage: memtrace report [OPTIONS] FILE";
constexpr const char* kExamples =
    "Examples:\n"
    "  memtrace report run.trace                        the last out-of-memory, or the peak\n"
    "  memtrace report --oom 1 run.trace                the first out-of-memory\n"
    "  memtrace report --json run.trace | jq .verdict   for programs: bytes as integers";

struct Options {
  std::string file;
  uint64_t oom = 0;
  bool json = false;
};

std::string Sentence(uint64_t wanted, uint64_t there) {
  if (there == 0) return "there is no out-of-memory in this trace; leave out --oom";
  return "there is no out-of-memory " + std::to_string(wanted) + " in this trace; it has " +
         std::to_string(there);
}

int Report(const Options& options) {
  const absl::StatusOr<TraceInput> input = TraceInput::Open(options.file);
  if (!input.ok()) {
    Note(std::string(input.status().message()));
    return kUnreadable;
  }
  const analysis::Explanation explanation = analysis::Explain(*input, options.oom);
  if (options.oom > explanation.counts.out_of_memory) {
    Note(Sentence(options.oom, explanation.counts.out_of_memory));
    return kUsage;
  }
  const trace::Completeness& completeness = input->reader().completeness();
  const analysis::RunFacts run = input->Facts(explanation.annotations);
  std::cout << (options.json ? report::JsonReport(explanation, run)
                             : report::TextReport(explanation, run))
            << std::flush;
  // In JSON the banner is in "lost"; a person at the terminal still has to see it.
  if (options.json && !completeness.whole()) Note(report::PartialBanner(completeness));
  return input->exit_code();
}

}  // namespace

void DefineReport(CLI::App& app, const Invocation& /*invocation*/, int& exit_code) {
  auto options = std::make_shared<Options>();
  app.description(kDescription);
  app.footer(kExamples);
  app.add_option("FILE", options->file, "A trace that memtrace run wrote")
      ->required()
      ->group("Input");
  app.add_option("--oom", options->oom, "Explain the Nth out-of-memory, from 1 (default: the last)")
      ->type_name("N")
      ->check(CLI::PositiveNumber)
      ->group("Input");
  app.add_flag("--json", options->json, "Print JSON (schema memtrace.report/1) instead of text")
      ->group("Output");
  app.callback([options, &exit_code] { exit_code = Report(*options); });
}

}  // namespace memtrace::command
