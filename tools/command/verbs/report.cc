// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "tools/analysis/explanation.h"
#include "tools/analysis/source/native_names.h"
#include "tools/analysis/source/run_facts.h"
#include "tools/analysis/views/run_detail.h"
#include "tools/command/inputs/moment_option.h"
#include "tools/command/inputs/other_traces.h"
#include "tools/command/inputs/sibling_traces.h"
#include "tools/command/outputs/folder_report.h"
#include "tools/command/outputs/page_file.h"
#include "tools/command/outputs/replayed_remedies.h"
#include "tools/command/program/exit_code.h"
#include "tools/command/verbs/trace_verb.h"
#include "tools/command/verbs/verbs.h"
#include "tools/report/json_report.h"
#include "tools/report/page/page.h"
#include "tools/report/picture/png_file.h"
#include "tools/report/picture/report_picture.h"
#include "tools/report/picture/svg_file.h"
#include "tools/report/text_report.h"

namespace memtrace::command {
namespace {

constexpr const char* kReportDescription =
    "Explain why a program ran out of memory, and what holds the card\n"
    "The verdict comes first, then where each byte of the card is, the request, and what\n"
    "holds memory. For a folder, it says which of its processes failed first, which kinds of\n"
    "ranks there are, which is the fullest, and why they differ.\n"
    "\n"
    "Usage: memtrace report [OPTIONS] FILE|FOLDER";
constexpr const char* kReportExamples =
    "Examples:\n"
    "  memtrace report run.trace                        the last out-of-memory error, or the peak\n"
    "  memtrace report --oom 1 run.trace                the first out-of-memory error\n"
    "  memtrace report --at step:5 run.trace            the start of step 5\n"
    "  memtrace report traces/                          the processes of a job side by side\n"
    "  memtrace report -o page.html run.trace           the same as a page, with pictures\n"
    "  memtrace report --json run.trace | jq .verdict   for programs: bytes as integers";

struct ReportOptions : TraceOptions {
  MomentOption moment;
  bool map = false;
  bool verbose = false;
  PageOption page;
};

absl::Status WritePicture(const report::Drawing& drawing, const PageOption& file) {
  if (file.is_svg()) return WritePictureFile(file.file, report::SvgFile(drawing));
  const absl::StatusOr<std::string> png = report::PngFile(drawing);
  return png.ok() ? WritePictureFile(file.file, *png) : png.status();
}

// Returns empty text, because everything that a person needs is in the file.
absl::StatusOr<std::string> WriteFile(const analysis::EventSource& source,
                                      const analysis::Explanation& explanation,
                                      const analysis::RunFacts& run, const ReportOptions& options) {
  const analysis::RunDetail detail = analysis::DetailOf(source, explanation);
  const analysis::UsageCurve& curve = detail.cards[explanation.card].curve;
  absl::Status written =
      options.page.is_picture()
          ? WritePicture(report::ReportPicture(explanation, run, curve), options.page)
          : WritePageFile(options.page.file, report::Page(explanation, run, detail, source));
  if (!written.ok()) return written;
  return "";
}

absl::StatusOr<std::string> Report(const TraceInput& input, const ReportOptions& options) {
  const analysis::NativeNames named(input);
  analysis::RunFacts run;
  const auto add_others = [&input, &run](analysis::Explanation& explanation) {
    run = input.Facts(explanation.run.annotations);
    AddMemoryOfOthers(input, run, explanation.cards[explanation.card]);
  };
  absl::StatusOr<analysis::Explanation> explained = analysis::Explain(
      named, options.moment.spec, {.with_map = options.map, .add_others = add_others});
  if (!explained.ok()) return explained.status();
  analysis::Explanation& explanation = *explained;
  AddReplayedRemedies(input, explanation);
  for (const std::string& file : named.differing_files())
    Note(file +
         " is not the file that was recorded, so its frames without a name keep their offsets");
  AddTracesThatRanOut(run, explanation.failure);
  if (options.page.is_asked()) return WriteFile(named, explanation, run, options);
  return options.json ? report::JsonReport(explanation, run)
                      : report::TextReport(explanation, run, options.verbose || options.map);
}

int ReportFile(const ReportOptions& options) {
  return PrintFromTrace(options,
                        [&options](const TraceInput& input) { return Report(input, options); });
}

// Reports on a file or a folder. The report of a folder with one trace is that trace's.
int ReportPath(const ReportOptions& options) {
  if (const absl::Status wrong = options.page.Check(); !wrong.ok()) {
    Note(std::string(wrong.message()));
    return kUsage;
  }
  std::error_code ignored;
  const bool is_folder = std::filesystem::is_directory(options.file, ignored);
  const std::vector<std::string> traces =
      is_folder ? TracesIn(options.file) : std::vector<std::string>();
  if (traces.empty()) return ReportFile(options);
  if (traces.size() == 1) {
    ReportOptions of_file = options;
    of_file.file = traces.front();
    return ReportFile(of_file);
  }
  if (const absl::Status wrong = CheckIsPage(options.page); !wrong.ok()) {
    Note(std::string(wrong.message()));
    return kUsage;
  }
  if (options.map || options.moment.spec != analysis::MomentSpec()) {
    Note("--at, --oom and --map are for one process; name one trace of " + options.file +
         ", such as " + traces.front());
    return kUsage;
  }
  return ReportFolder({.folder = options.file,
                       .traces = traces,
                       .json = options.json,
                       .verbose = options.verbose,
                       .page = options.page.file});
}

}  // namespace

void DefineReport(CLI::App& app, const Invocation& /*invocation*/, int& exit_code) {
  auto options = std::make_shared<ReportOptions>();
  app.description(kReportDescription);
  app.footer(kReportExamples);
  AddTraceOptions(app, *options, "memtrace.report/1");
  AddMomentOptions(app, options->moment);
  app.add_flag("-v,--verbose", options->verbose,
               "Print all the evidence after the first screen: the ledger of the card to the last "
               "byte, the request, the holders; of a folder, all kinds of ranks and all causes")
      ->group("Output");
  app.add_flag("--map", options->map, "Also print which block is where in the card's segments")
      ->group("Output");
  AddPageOrPictureOption(app, options->page);
  app.callback([options, &exit_code] { exit_code = ReportPath(*options); });
}

}  // namespace memtrace::command
