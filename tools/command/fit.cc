// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tools/analysis/native_names.h"
#include "tools/command/exit_code.h"
#include "tools/command/number_check.h"
#include "tools/command/program.h"
#include "tools/command/trace_input.h"
#include "tools/command/verbs.h"
#include "tools/fit/scratch_folder.h"
#include "tools/fit/search.h"
#include "tools/report/fit/fit_document.h"
#include "tools/report/fit/fit_json.h"
#include "tools/report/printable.h"
#include "tools/report/quantity.h"
#include "tools/report/text_document.h"

namespace memtrace::command {
namespace {

constexpr const char* kDescription =
    "Say before the run whether a program fits a card, and try what would make it\n"
    "The unchanged program runs on a simulated card, without a limit and then within it, until "
    "its\n"
    "peak settles. No GPU is needed, nothing is trained, and no file of yours is touched.\n"
    "\n"
    "Usage: memtrace fit --card CARD [OPTIONS] [--] COMMAND [ARGS]...";
constexpr const char* kExamples =
    "Examples:\n"
    "  memtrace fit --card 24GiB -- python train.py              need, verdict, remedies\n"
    "  memtrace fit --card rtx-4090 --json -- python train.py    for programs\n"
    "  memtrace fit --card 24GiB --vary n=8,4,2 -- python train.py --batch {n}\n"
    "  memtrace fit --card 2x24GiB -- torchrun --nproc-per-node 2 train.py\n"
    "\n"
    "Exit codes: 0 it fits, 1 it does not, 3 the program fails by itself.";

struct Options {
  fit::Question question;
  std::string steps = "2:8";
  std::vector<std::string> variations;
  bool json = false;
  bool no_remedies = false;
  bool quiet = false;
};

// "3" or "2:8".
bool ReadSteps(const std::string& text, fit::Trial& trial) {
  const std::vector<std::string> parts = absl::StrSplit(absl::string_view(text), ':');
  return parts.size() <= 2 && absl::SimpleAtoi(parts.front(), &trial.least_steps) &&
         absl::SimpleAtoi(parts.back(), &trial.most_steps) && trial.least_steps >= 1 &&
         trial.least_steps <= trial.most_steps;
}

bool Mentions(const std::vector<std::string>& command, const fit::Variation& variation) {
  return std::any_of(command.begin(), command.end(), [&variation](const std::string& word) {
    return word.find("{" + variation.name + "}") != std::string::npos;
  });
}

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Runs trials in folders of their own, and reads what they left.
class Trials {
 public:
  Trials(std::filesystem::path folder, bool quiet) : folder_(std::move(folder)), quiet_(quiet) {}

  absl::StatusOr<fit::Outcome> Run(const fit::Trial& trial, std::string_view name) {
    const std::filesystem::path folder = folder_ / std::to_string(++number_);
    absl::StatusOr<fit::TrialResult> result = fit::RunTrial(trial, folder);
    if (!result.ok()) return result.status();
    fit::Outcome outcome = Read(*result);
    Tell(name, outcome);
    log_end_ = outcome.log_end;
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
    return outcome;
  }

  // The last lines of a trial that failed by itself, told as what it printed.
  void TellLog() const {
    if (log_end_.empty()) return;
    for (const absl::string_view line : absl::StrSplit(log_end_, '\n', absl::SkipEmpty()))
      std::cerr << "  | " << report::Printable({line.data(), line.size()}) << "\n";
  }

 private:
  static fit::Outcome Read(const fit::TrialResult& result) {
    constexpr size_t kLogLines = 12;
    fit::Outcome outcome;
    outcome.exit_code = result.exit_code;
    outcome.is_late = result.is_late;
    outcome.completed = result.exit_code == 0 && !result.is_late;
    outcome.seconds = result.seconds;
    for (const std::string& trace : result.traces) ReadProcess(trace, outcome);
    if (!outcome.completed && !outcome.Failed()) outcome.log_end = fit::LogEnd(result, kLogLines);
    return outcome;
  }

  static void ReadProcess(const std::string& trace, fit::Outcome& outcome) {
    const absl::StatusOr<TraceInput> input = TraceInput::Open(trace);
    if (!input.ok()) return;
    const absl::StatusOr<analysis::Explanation> explained =
        analysis::Explain(analysis::NativeNames(*input));
    if (!explained.ok()) return;
    fit::ProcessNeed need = fit::NeedOf(*explained);
    if (need.cards.empty()) return;
    if (outcome.processes.empty()) {
      outcome.annotations.insert(explained->annotations.begin(), explained->annotations.end());
      outcome.reads = input->Facts(explained->annotations).simulation.reads;
    }
    outcome.processes.push_back(std::move(need));
  }

  void Tell(std::string_view name, const fit::Outcome& outcome) const {
    if (quiet_) return;
    std::string end = outcome.completed ? "completes" : "fails";
    if (outcome.Failed()) end = "runs out of memory at " + outcome.Failed()->line;
    Note(absl::StrCat(std::string(name), ": ", end, " (",
                      report::FormatSeconds(static_cast<uint64_t>(outcome.seconds * 1e9)), ")"));
  }

  std::filesystem::path folder_;
  std::string log_end_;
  bool quiet_;
  int number_ = 0;
};

int CodeOf(const absl::Status& status) {
  if (status.code() == absl::StatusCode::kFailedPrecondition) return kUnreadable;
  return status.code() == absl::StatusCode::kInvalidArgument ? kUsage : kEnvironment;
}

int Fit(Options& options, const std::vector<std::string>& command) {
  fit::Question& question = options.question;
  if (!ReadSteps(options.steps, question.trial)) {
    Note("--steps: '" + options.steps + "' is no number of steps; write 3, or 2:8 for 2 to 8");
    return kUsage;
  }
  if (command.empty()) {
    Note(
        "there is no command to run; write it behind --, as in memtrace fit --card 24GiB -- "
        "python train.py");
    return kUsage;
  }
  for (const std::string& text : options.variations) {
    absl::StatusOr<fit::Variation> variation = fit::ParseVariation(text);
    const bool is_used = variation.ok() && Mentions(command, *variation);
    if (!is_used) {
      Note(variation.ok() ? "--vary: no word of the command is {" + variation->name + "}"
                          : std::string(variation.status().message()));
      return kUsage;
    }
    question.variations.push_back(*std::move(variation));
  }
  question.trial.command = command;
  question.with_remedies = !options.no_remedies;
  question.user_settings = Variable("PYTORCH_CUDA_ALLOC_CONF");
  absl::StatusOr<fit::ScratchFolder> scratch = fit::ScratchFolder::Make();
  if (!scratch.ok()) {
    Note(std::string(scratch.status().message()));
    return kEnvironment;
  }
  Trials trials(scratch->path(), options.quiet || options.json || isatty(STDERR_FILENO) == 0);
  fit::Search search([&trials](const fit::Trial& trial, std::string_view name) {
    return trials.Run(trial, name);
  });
  const absl::StatusOr<fit::Answer> answer = search.Run(question);
  if (!answer.ok()) {
    Note(std::string(answer.status().message()));
    trials.TellLog();
    return CodeOf(answer.status());
  }
  std::cout << (options.json ? report::JsonFit(*answer)
                             : report::TextOf(report::FitDocument(*answer)))
            << std::flush;
  return answer->fits() ? kDone : kLimitExceeded;
}

std::vector<std::string> CommandOf(std::vector<std::string> remaining,
                                   const Invocation& invocation) {
  if (!remaining.empty() && invocation.has_dashes) remaining.emplace_back("--");
  remaining.insert(remaining.end(), invocation.after_dashes.begin(), invocation.after_dashes.end());
  return remaining;
}

}  // namespace

void DefineFit(CLI::App& app, const Invocation& invocation, int& exit_code) {
  auto options = std::make_shared<Options>();
  app.description(kDescription);
  app.footer(kExamples);
  app.prefix_command();
  app.add_option("--card", options->question.trial.cards,
                 "The card that is asked about, as memtrace run takes it; repeat it for unequal "
                 "cards")
      ->required()
      ->type_name("CARD")
      ->allow_extra_args(false)
      ->group("Where it runs");
  app.add_option("--steps", options->steps,
                 "Optimizer steps of each run: N, or LEAST:MOST until the peak\n"
                 "rises no more (default: 2:8)")
      ->type_name("N")
      ->group("Where it runs");
  app.add_option("--time", options->question.trial.seconds,
                 "Seconds that a run may take (default: 600)")
      ->type_name("N")
      ->check(CountFromOne())
      ->group("Where it runs");
  app.add_option("--vary", options->variations,
                 "Values of the script's own option that may be tried, the usual\n"
                 "first: batch_size=8,4,2 -- python train.py --batch {batch_size}")
      ->type_name("NAME=V1,V2,...")
      ->allow_extra_args(false)
      ->group("What is tried");
  app.add_flag("--no-remedies", options->no_remedies, "Say whether it fits, and try nothing")
      ->group("What is tried");
  app.add_flag("--json", options->json, "Print JSON (schema memtrace.fit/1) instead of text")
      ->group("Output");
  app.add_flag("-q,--quiet", options->quiet, "Do not say what is being run")->group("Output");
  app.callback([&app, &invocation, options, &exit_code] {
    exit_code = Fit(*options, CommandOf(app.remaining(), invocation));
  });
}

}  // namespace memtrace::command
