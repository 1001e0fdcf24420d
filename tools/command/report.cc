// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "tools/analysis/explanation.h"
#include "tools/analysis/native_names.h"
#include "tools/analysis/run_facts.h"
#include "tools/command/moment_option.h"
#include "tools/command/output_file.h"
#include "tools/command/replayed_remedies.h"
#include "tools/command/trace_verb.h"
#include "tools/command/verbs.h"
#include "tools/report/json_report.h"
#include "tools/report/page/page.h"
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
    "  memtrace report --at step:5 run.trace            as step 5 begins\n"
    "  memtrace report -o page.html run.trace           the same as a page, with pictures\n"
    "  memtrace report --json run.trace | jq .verdict   for programs: bytes as integers";

struct Options : TraceOptions {
  MomentOption moment;
  bool map = false;
  std::string page;
  bool force = false;
};

// The text is empty: what a person wants of it is in the file.
absl::StatusOr<std::string> WritePage(const analysis::Explanation& explanation,
                                      const analysis::RunFacts& run, const Options& options) {
  absl::Status written = OutputFile(options.page).KeepText(report::Page(explanation, run));
  if (!written.ok()) return written;
  Note("wrote " + options.page + "; open it with a browser");
  return "";
}

absl::StatusOr<std::string> Report(const TraceInput& input, const Options& options) {
  if (!options.page.empty()) {
    absl::Status wrong = OutputFile(options.page).Check(options.force);
    if (!wrong.ok()) return wrong;
  }
  const analysis::NativeNames named(input);
  absl::StatusOr<analysis::Explanation> explained =
      analysis::Explain(named, options.moment.spec, options.map);
  if (!explained.ok()) return explained.status();
  analysis::Explanation& explanation = *explained;
  AddReplayedRemedies(input, explanation);
  for (const std::string& file : named.differing_files())
    Note(file + " is not the file that was recorded; its frames without a name keep their offsets");
  const analysis::RunFacts run = input.Facts(explanation.annotations);
  if (!options.page.empty()) return WritePage(explanation, run, options);
  return options.json ? report::JsonReport(explanation, run) : report::TextReport(explanation, run);
}

}  // namespace

void DefineReport(CLI::App& app, const Invocation& /*invocation*/, int& exit_code) {
  auto options = std::make_shared<Options>();
  app.description(kDescription);
  app.footer(kExamples);
  AddTraceOptions(app, *options, "memtrace.report/1");
  AddMomentOptions(app, options->moment);
  app.add_flag("--map", options->map, "Also what lies where in the card's segments")
      ->group("Output");
  app.add_option("-o,--output", options->page,
                 "Write a page for the browser instead: one file that needs no network")
      ->type_name("PAGE.html")
      ->excludes("--json")
      ->group("Output");
  app.add_flag("-f,--force", options->force, "Overwrite PAGE.html")->group("Output");
  app.callback([options, &exit_code] {
    exit_code = PrintFromTrace(
        *options, [&options](const TraceInput& input) { return Report(input, *options); });
  });
}

}  // namespace memtrace::command
