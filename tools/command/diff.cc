// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "tools/analysis/explanation.h"
#include "tools/analysis/native_names.h"
#include "tools/command/exit_code.h"
#include "tools/command/memory_limit.h"
#include "tools/command/moment_option.h"
#include "tools/command/program.h"
#include "tools/command/row_options.h"
#include "tools/command/trace_input.h"
#include "tools/command/verbs.h"
#include "tools/report/diff_report.h"

namespace memtrace::command {
namespace {

constexpr const char* kDescription =
    "Print what changed between two runs, or two moments of one\n"
    "Who holds the card before and after, the largest change first.\n"
    "\n"
    "Usage: memtrace diff [OPTIONS] BEFORE [AFTER]";
constexpr const char* kExamples =
    "Examples:\n"
    "  memtrace diff old.trace new.trace                       their last out-of-memory, or peak\n"
    "  memtrace diff --at peak:2 old.trace new.trace           the highest of step 2 in both\n"
    "  memtrace diff --at step:3 --at step:9 run.trace         what six steps left behind\n"
    "  memtrace diff --by role,module old.trace new.trace      lines that moved do not matter";

struct Options {
  std::vector<std::string> files;
  std::vector<analysis::MomentSpec> moments;
  report::DiffStyle style;
  bool json = false;
};

struct Side {
  TraceInput input;
  analysis::Explanation explanation;
  analysis::RunFacts run;
};

// Prints why not; the exit code.
int Read(const std::string& file, const analysis::MomentSpec& moment, std::vector<Side>& sides) {
  absl::StatusOr<TraceInput> input = TraceInput::Open(file);
  if (!input.ok()) {
    Note(std::string(input.status().message()));
    return kUnreadable;
  }
  absl::StatusOr<analysis::Explanation> explanation =
      analysis::Explain(analysis::NativeNames(*input), moment);
  if (!explanation.ok()) {
    Note(file + ": " + std::string(explanation.status().message()));
    return kUsage;
  }
  analysis::RunFacts run = input->Facts(explanation->annotations);
  const int code = input->exit_code();
  sides.push_back({*std::move(input), *std::move(explanation), std::move(run)});
  return code;
}

int Diff(const Options& options) {
  if (options.files.size() == 1 && options.moments.size() < 2) {
    Note("one file needs two moments to compare, as --at step:3 --at step:9; or name another file");
    return kUsage;
  }
  const analysis::MomentSpec first =
      options.moments.empty() ? analysis::MomentSpec() : options.moments.front();
  const analysis::MomentSpec second = options.moments.empty() ? first : options.moments.back();
  std::vector<Side> sides;
  int worst = kDone;
  for (const auto& [file, moment] :
       {std::pair(options.files.front(), first), std::pair(options.files.back(), second)}) {
    const int code = Read(file, moment, sides);
    if (code != kDone && code != kPartial) return code;
    worst = std::max(worst, code);
  }
  const report::DiffSide before{sides[0].explanation, sides[0].run};
  const report::DiffSide after{sides[1].explanation, sides[1].run};
  std::cout << (options.json ? report::JsonDiff(before, after, options.style)
                             : report::TextDiff(before, after, options.style))
            << std::flush;
  return worst;
}

}  // namespace

void DefineDiff(CLI::App& app, const Invocation& /*invocation*/, int& exit_code) {
  auto options = std::make_shared<Options>();
  using report::TreeLevel;
  options->style.levels = {TreeLevel::kRole, TreeLevel::kModule, TreeLevel::kSite};
  app.description(kDescription);
  app.footer(kExamples);
  app.add_option("FILE", options->files, "Traces that memtrace run wrote, or snapshots of torch")
      ->required()
      ->expected(1, 2)
      ->group("Input");
  app.add_option_function<std::vector<std::string>>(
         "--at",
         [options](const std::vector<std::string>& texts) {
           for (const std::string& text : texts) options->moments.push_back(MomentIn(text));
           if (texts.size() > 2) throw CLI::ValidationError("--at is given at most twice");
         },
         std::string(kMomentHelp) + ";\ntwice: before and after")
      ->type_name("MOMENT")
      ->type_size(1)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->group("Input");
  AddLevelsOption(app, "What to tell rows apart by", options->style.levels);
  AddRowsOption(app, options->style.rows);
  app.add_flag("--json", options->json, "Print JSON (schema memtrace.diff/1) instead of text")
      ->group("Output");
  app.callback([options, &exit_code] {
    exit_code = WithinMemoryLimit(options->files, [&] { return Diff(*options); });
  });
}

}  // namespace memtrace::command
