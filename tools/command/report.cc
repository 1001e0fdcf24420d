// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "tools/analysis/explanation.h"
#include "tools/analysis/native_names.h"
#include "tools/analysis/run_facts.h"
#include "tools/command/number_check.h"
#include "tools/command/trace_verb.h"
#include "tools/command/verbs.h"
#include "tools/report/json_report.h"
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

struct Options : TraceOptions {
  uint64_t oom = 0;
};

std::string Sentence(uint64_t wanted, uint64_t there) {
  if (there == 0) return "there is no out-of-memory in this trace; leave out --oom";
  return "there is no out-of-memory " + std::to_string(wanted) + " in this trace; it has " +
         std::to_string(there);
}

absl::StatusOr<std::string> Report(const TraceInput& input, const Options& options) {
  const analysis::NativeNames named(input);
  const analysis::Explanation explanation = analysis::Explain(named, options.oom);
  for (const std::string& file : named.differing_files())
    Note(file + " is not the file that was recorded; its frames without a name keep their offsets");
  if (options.oom > explanation.counts.out_of_memory) {
    return absl::OutOfRangeError(Sentence(options.oom, explanation.counts.out_of_memory));
  }
  const analysis::RunFacts run = input.Facts(explanation.annotations);
  return options.json ? report::JsonReport(explanation, run) : report::TextReport(explanation, run);
}

}  // namespace

void DefineReport(CLI::App& app, const Invocation& /*invocation*/, int& exit_code) {
  auto options = std::make_shared<Options>();
  app.description(kDescription);
  app.footer(kExamples);
  AddTraceOptions(app, *options, "memtrace.report/1");
  app.add_option("--oom", options->oom, "Explain the Nth out-of-memory, from 1 (default: the last)")
      ->type_name("N")
      ->check(CountFromOne())
      ->group("Input");
  app.callback([options, &exit_code] {
    exit_code = PrintFromTrace(
        *options, [&options](const TraceInput& input) { return Report(input, *options); });
  });
}

}  // namespace memtrace::command
