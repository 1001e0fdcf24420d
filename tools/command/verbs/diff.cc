// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "messages/message.h"
#include "tools/analysis/explanation.h"
#include "tools/analysis/source/native_names.h"
#include "tools/analysis/views/run_detail.h"
#include "tools/command/inputs/memory_limit.h"
#include "tools/command/inputs/moment_option.h"
#include "tools/command/inputs/row_options.h"
#include "tools/command/inputs/trace_input.h"
#include "tools/command/outputs/page_file.h"
#include "tools/command/program/exit_code.h"
#include "tools/command/program/program.h"
#include "tools/command/verbs/verbs.h"
#include "tools/report/diff_report.h"
#include "tools/report/page/diff_page.h"

namespace memtrace::command {
namespace {

constexpr const char* kDiffDescription =
    "Print what changed between two runs, or between two moments of one run\n"
    "It compares what holds the card before and after. The largest change comes first.\n"
    "\n"
    "Usage: memtrace diff [OPTIONS] BEFORE [AFTER]";
constexpr const char* kDiffExamples =
    "Examples:\n"
    "  memtrace diff old.trace new.trace                       their last out-of-memory error, or "
    "peak\n"
    "  memtrace diff --at peak:2 old.trace new.trace           the peak of step 2 in both\n"
    "  memtrace diff --at step:3 --at step:9 run.trace         what six steps left behind\n"
    "  memtrace diff --by role,module old.trace new.trace      ignore lines that moved\n"
    "  memtrace diff -o page.html old.trace new.trace          the same as a page, with pictures";

struct DiffOptions {
  std::vector<std::string> files;
  std::vector<analysis::MomentSpec> moments;
  report::DiffStyle style;
  bool json = false;
  PageOption page;

  bool is_one_run() const { return files.front() == files.back(); }
};

// An open trace.
struct Source {
  explicit Source(TraceInput opened) : input(std::move(opened)), named(input) {}

  const TraceInput input;
  const analysis::NativeNames named;
};

struct Side {
  std::shared_ptr<const Source> source;  // shared by both sides if they are one run
  analysis::Explanation explanation;
  analysis::RunFacts run;

  report::DiffSide words() const { return {explanation, run}; }
};

// Reads one side. If that fails, prints why and returns the exit code.
int Read(const std::string& file, const analysis::MomentSpec& moment, std::vector<Side>& sides,
         bool again) {
  std::shared_ptr<const Source> source;
  if (again) {
    source = sides.back().source;
  } else {
    absl::StatusOr<TraceInput> input = TraceInput::Open(file);
    if (!input.ok()) {
      Note(std::string(input.status().message()));
      return kUnreadable;
    }
    source = std::make_shared<const Source>(*std::move(input));
  }
  absl::StatusOr<analysis::Explanation> explanation = analysis::Explain(source->named, moment);
  if (!explanation.ok()) {
    Note(file + ": " + std::string(explanation.status().message()));
    return kUsage;
  }
  analysis::RunFacts run = source->input.Facts(explanation->run.annotations);
  const int code = source->input.exit_code();
  sides.push_back({std::move(source), *std::move(explanation), std::move(run)});
  return code;
}

report::RunPicture PictureOf(const Side& side, const Side* after = nullptr) {
  analysis::DetailLimits limits;
  if (after != nullptr)
    for (const analysis::CardExplanation& card : after->explanation.cards)
      limits.moments.push_back(card.when.ordinal);
  const analysis::EventSource& source = side.source->named;
  const analysis::RunDetail detail = analysis::DetailOf(source, side.explanation, limits);
  if (after == nullptr) return report::PictureOf(side.words(), detail, source);
  const report::DiffSide words_after = after->words();
  return report::PictureOf(side.words(), detail, source, &words_after);
}

std::string PageOf(const Side& before, const Side& after, const DiffOptions& options) {
  if (options.is_one_run())
    return report::DiffPage(before.words(), after.words(), options.style, PictureOf(before, &after),
                            nullptr);
  const report::RunPicture first = PictureOf(before);
  const report::RunPicture second = PictureOf(after);
  return report::DiffPage(before.words(), after.words(), options.style, first, &second);
}

int Print(const Side& before, const Side& after, const DiffOptions& options) {
  if (options.page.is_asked()) {
    const absl::Status written = WritePageFile(options.page.file, PageOf(before, after, options));
    return written.ok() ? kDone : RefuseResult(written);
  }
  std::cout << (options.json ? report::JsonDiff(before.words(), after.words(), options.style)
                             : report::TextDiff(before.words(), after.words(), options.style))
            << std::flush;
  return kDone;
}

int Diff(const DiffOptions& options) {
  if (options.files.size() == 1 && options.moments.size() < 2) {
    Note("one file needs two moments, such as --at step:3 --at step:9; or name a second file");
    return kUsage;
  }
  absl::Status wrong = CheckIsPage(options.page);
  if (wrong.ok()) wrong = options.page.Check();
  if (!wrong.ok()) {
    Note(std::string(wrong.message()));
    return kUsage;
  }
  const analysis::MomentSpec first =
      options.moments.empty() ? analysis::MomentSpec() : options.moments.front();
  const analysis::MomentSpec second = options.moments.empty() ? first : options.moments.back();
  std::vector<Side> sides;
  int worst = kDone;
  for (const auto& [file, moment] :
       {std::pair(options.files.front(), first), std::pair(options.files.back(), second)}) {
    const int code = Read(file, moment, sides, !sides.empty() && options.is_one_run());
    if (code != kDone && code != kPartial) return code;
    worst = std::max(worst, code);
  }
  const int code = Print(sides[0], sides[1], options);
  return code == kDone ? worst : code;
}

}  // namespace

void DefineDiff(CLI::App& app, const Invocation& /*invocation*/, int& exit_code) {
  auto options = std::make_shared<DiffOptions>();
  using report::TreeLevel;
  options->style.levels = {TreeLevel::kRole, TreeLevel::kModule, TreeLevel::kSite};
  app.description(kDiffDescription);
  app.footer(kDiffExamples);
  app.add_option("FILE", options->files, "Traces that memtrace run wrote, or snapshots of torch")
      ->required()
      ->expected(1, 2)
      ->group("Input");
  app.add_option_function<std::vector<std::string>>(
         "--at",
         [options](const std::vector<std::string>& texts) {
           for (const std::string& text : texts)
             options->moments.push_back(ParseMomentOption(text));
           if (texts.size() > 2)
             throw CLI::ValidationError(Message("--at can be given at most twice"));
         },
         std::string(kMomentHelp) + "; give it twice for before and after")
      ->type_name("MOMENT")
      ->type_size(1)
      ->expected(1)
      ->allow_extra_args(false)  // the next words are files
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->group("Input");
  AddLevelsOption(app, "What distinguishes rows", options->style.levels);
  AddRowsOption(app, options->style.rows);
  app.add_flag("--json", options->json, "Print JSON (schema memtrace.diff/1) instead of text")
      ->group("Output");
  AddPageOption(app, options->page);
  app.callback([options, &exit_code] {
    exit_code = WithinMemoryLimit(options->files, [&] { return Diff(*options); });
  });
}

}  // namespace memtrace::command
