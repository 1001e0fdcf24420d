// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "absl/strings/str_join.h"
#include "base/environment.h"
#include "messages/message.h"
#include "tools/command/help/usage_error.h"
#include "tools/command/inputs/fit_values.h"
#include "tools/command/inputs/number_check.h"
#include "tools/command/outputs/fit_search.h"
#include "tools/command/outputs/layout_search.h"
#include "tools/command/program/exit_code.h"
#include "tools/command/program/program.h"
#include "tools/command/verbs/verbs.h"
#include "tools/fit/answer/question.h"
#include "tools/fit/sizes/largest_value.h"
#include "tools/fit/trials/card_limit.h"
#include "tools/launch/card_keys.h"
#include "tools/launch/job_ranks.h"

namespace memtrace::command {
namespace {

constexpr const char* kFitDescription =
    "Predict whether a program fits a card, and find changes that make it fit\n"
    "The unchanged program runs on a simulated card, first without a limit and then within\n"
    "it, until its peak stops growing. No GPU is needed and nothing is trained. What the\n"
    "program writes is kept away from your files.\n"
    "\n"
    "Usage: memtrace fit --card CARD [OPTIONS] [--] COMMAND [ARGS]...";
constexpr const char* kFitExamples =
    "Examples:\n"
    "  memtrace fit --card 24GiB -- python train.py              memory needed, verdict, remedies\n"
    "  memtrace fit --card rtx-4090 --json -- python train.py    for programs\n"
    "  memtrace fit --card 24GiB --vary n=8,4,2 -- python train.py --batch {n}\n"
    "  memtrace fit --card 24GiB --whole-job -- python train.py  evaluation, saving, resuming\n"
    "  memtrace fit --smallest-card -- python train.py           which card to buy\n"
    "  memtrace fit --card 24GiB --scale n=1,2,4 -- python train.py --batch {n}\n"
    "  memtrace fit --card 24GiB --largest n -- python train.py --batch {n}\n"
    "  memtrace fit --card 24GiB --save-plan fit.json -- python train.py  for run --with\n"
    "  memtrace fit --card 2x24GiB -- torchrun --nproc-per-node 2 train.py\n"
    "  memtrace fit --card 8xh100-80gb --world 64x8 -- python train.py    a job of 512 ranks\n"
    "\n"
    "Exit codes: 0 it fits, 1 it does not fit, 2 an option is wrong, 3 the program fails by "
    "itself, 5 it cannot be started, 6 it is not known: a moment of the job was not seen, the peak "
    "was still growing, the time limit was reached, or ranks that did not run may need more, "
    "130 stopped by Ctrl-C.";

struct FitOptions {
  fit::Question question;
  std::string steps;  // empty: the usual number, for as long as `watch` says
  uint64_t watch = 20;
  std::vector<std::string> variations;
  std::vector<std::string> scalings;
  std::string largest;  // option whose largest value is searched for; empty: none
  std::string nccl;     // what each communicator takes
  std::string world;    // the ranks of the job; empty: no job
  std::string ranks = "auto";
  bool no_remedies = false;
  FitOutput output;
};

// Reads what the trials run and how long. Returns false after printing one sentence.
bool ReadTrial(const FitOptions& options, const std::vector<std::string>& command,
               fit::Question& question) {
  if (options.steps.empty()) {
    question.trial.watch_seconds = options.watch;
  } else if (!ReadSteps(options.steps, question.trial)) {
    Note("--steps: '" + options.steps + "' is not a number of steps; write 3, or 2:8 for 2 to 8");
    return false;
  }
  if (command.empty()) {
    Note(
        "there is no command to run; write it after --, as in memtrace fit --card 24GiB -- python "
        "train.py");
    return false;
  }
  if (question.trial.cards.empty() && !question.with_smallest_card && options.scalings.empty()) {
    Note(
        "no card is given; write for example --card 24GiB (memtrace cards lists the profiles), or "
        "--smallest-card");
    return false;
  }
  if (question.trial.cards.empty() && options.world.empty()) {  // a job needs its own cards
    question.trial.cards = {fit::kAnyCard};
    question.asks_card = false;
  }
  launch::AddCardKey("nccl", options.nccl, &question.trial.cards);
  question.trial.command = command;
  return true;
}

// Reads the job of many ranks, if there is one. Returns false after printing one sentence.
bool ReadJob(const FitOptions& options, fit::Question& question) {
  if (options.world.empty()) return true;
  absl::StatusOr<launch::JobRanks> job =
      launch::ParseJobRanks(options.world, options.ranks, question.trial.cards);
  if (!job.ok()) {
    Note(std::string(job.status().message()));
    return false;
  }
  question.trial.job = *std::move(job);
  const bool asks_twice =
      !question.variations.empty() && (question.with_smallest_card || !question.scalings.empty());
  if (asks_twice)
    Note("--world with --vary compares layouts; ask for --scale or --smallest-card without --vary");
  return !asks_twice;
}

// Reads the option whose largest value is asked for. Returns false after printing one sentence.
bool ReadLargest(const FitOptions& options, const std::vector<std::string>& command,
                 fit::Question& question) {
  if (options.largest.empty()) return true;
  const absl::StatusOr<fit::LargestOption> largest = fit::ParseLargest(options.largest);
  if (!largest.ok()) {
    Note(std::string(largest.status().message()));
    return false;
  }
  if (!Mentions(command, {.name = largest->name, .values = {}})) {
    Note(Message("--largest: the command does not contain {$0}", largest->name));
    return false;
  }
  question.largest = *largest;
  return true;
}

// Lets the number of processes vary if a launcher starts more than there are cards.
void VaryProcesses(fit::Question& question) {
  const size_t cards = fit::BytesOfCards(question.trial.cards).size();
  if (auto processes = fit::ProcessVariation(question.trial.command, cards))
    question.variations.push_back(*std::move(processes));
}

int Fit(FitOptions& options, const std::vector<std::string>& command) {
  fit::Question& question = options.question;
  if (!ReadTrial(options, command, question) ||
      !ReadVariations("--vary", options.variations, command, question.variations) ||
      !ReadVariations("--scale", options.scalings, command, question.scalings) ||
      !AreNumbers(question.scalings) || !ReadLargest(options, command, question) ||
      !ReadJob(options, question))
    return kUsage;
  const bool asks_layouts = question.trial.job && !question.variations.empty();
  if (asks_layouts && options.output.page.is_asked()) {
    Note(Message("--world with --vary compares layouts, for which there is no page"));
    return kUsage;
  }
  if (asks_layouts && (!options.output.changes.path.empty() || options.output.patch)) {
    Note(Message("--save-plan and --diff are about changes of one program; layouts have none"));
    return kUsage;
  }
  if (asks_layouts && question.whole_job) {
    Note(
        Message("--world with --vary compares layouts by their steps; ask for --whole-job without "
                "--vary, with the values of one layout in the command"));
    return kUsage;
  }
  if (asks_layouts) return RunLayoutSearch(question, options.output);
  if (!question.trial.job && !question.largest) VaryProcesses(question);
  question.with_remedies = !options.no_remedies;
  options.output.page.force = options.output.changes.overwrite;
  options.output.title = absl::StrJoin(command, " ");
  question.user_settings = env::Text(env::kTorchCudaAllocConf);
  return RunFitSearch(question, options.output);
}

void DefinePlaces(CLI::App& app, FitOptions& options) {
  app.add_option("--card", options.question.trial.cards,
                 "Card to test, written as for memtrace run; repeat the option for unequal cards")
      ->type_name("CARD")
      ->allow_extra_args(false)
      ->group("Runs");
  CLI::Option* world =
      app.add_option("--world", options.world,
                     "Number of ranks of a job, such as 512 or 64x8. One rank of each kind runs; "
                     "the others are virtual, and nothing waits for them")
          ->type_name("RANKS")
          ->group("Runs");
  app.add_option("--ranks", options.ranks,
                 "The ranks that run, such as 0,448 or 0-3 (default: auto, one of each kind)")
      ->type_name("LIST")
      ->needs(world)
      ->group("Runs");
  app.add_option("--nccl", options.nccl,
                 "What each communicator of NCCL takes of a card, such as 800MiB, instead of what "
                 "NCCL's rule gives; memtrace explain NCCL")
      ->type_name("SIZE")
      ->group("Runs");
  app.add_option("--steps", options.steps,
                 "Optimizer steps of each run: N, or MIN:MAX to stop as soon as the peak stops "
                 "growing (default: 2:8; --watch decides for the first two runs)")
      ->type_name("N")
      ->group("Runs");
  app.add_option("--watch", options.watch,
                 "Seconds that the first two runs continue after their first step, to see later "
                 "data (default: 20; 0: until the peak stops growing)")
      ->type_name("N")
      ->check(CLI::Range(0, 86400))
      ->group("Runs");
  app.add_option("--batch-order", options.question.trial.batch_order,
                 "largest (default): DataLoaders give the largest batches first, until two steps "
                 "were made with them; as-is: in the program's order")
      ->type_name("largest|as-is")
      ->check(CLI::IsMember({"largest", "as-is"}))
      ->group("Runs");
  app.add_option("--measure-time", options.question.trial.measure_seconds,
                 "Time limit for measuring the items of a data set, in seconds (default: 10)")
      ->type_name("N")
      ->check(CLI::Range(0, 86400))
      ->group("Runs");
  app.add_option("--time", options.question.trial.seconds,
                 "Time limit of each run, in seconds (default: 600)")
      ->type_name("N")
      ->check(CountFromOne())
      ->group("Runs");
  app.add_option("--stub", options.question.trial.stub,
                 "Python file that runs before the program's first line. It replaces functions, to "
                 "stand in for data, a network or a hub")
      ->type_name("FILE")
      ->check(CLI::ExistingFile)
      ->group("Runs");
  app.add_option("--host-values", options.question.trial.host_values,
                 "As for memtrace run: on (default), off, or a file of answers for values that the "
                 "program reads back from the card")
      ->type_name("on|off|FILE")
      ->group("Runs");
}

void DefineMoments(CLI::App& app, FitOptions& options) {
  fit::Question& question = options.question;
  CLI::Option* whole_job =
      app.add_flag("--whole-job", question.whole_job,
                   "Also run the job to its end with short data: its largest batches, an "
                   "evaluation, a checkpoint, resuming from it, generation, the last batch and "
                   "the end. The answer lists what each of them needs")
          ->group("Moments of the job");
  app.add_option("--also", question.also,
                 "Call to evaluate once after the second step, in the running function of the "
                 "script, such as 'evaluate(model, loader)'; repeat the option for more")
      ->type_name("CALL")
      ->allow_extra_args(false)
      ->needs(whole_job)
      ->group("Moments of the job");
  app.add_option("--resumed-by", question.resumed_by,
                 "Command that resumes the job, with {checkpoint} for what it saved last: 'python "
                 "train.py --resume {checkpoint}' (default: the way of transformers or Lightning)")
      ->type_name("COMMAND")
      ->needs(whole_job)
      ->group("Moments of the job");
}

void DefineTries(CLI::App& app, FitOptions& options) {
  CLI::Option* vary =
      app.add_option("--vary", options.variations,
                     "Values to try for one of the script's own options, the usual value first: "
                     "batch_size=8,4,2 -- python train.py --batch {batch_size}. With --world, all "
                     "combinations are compared as layouts of the job")
          ->type_name("NAME=V1,V2,...")
          ->allow_extra_args(false)
          ->group("Changes to try");
  CLI::Option* scale =
      app.add_option(
             "--scale", options.scalings,
             "Show how the memory needed grows with an option, and the largest value that fits "
             "the card: batch=1,2,4 -- python train.py --batch {batch}")
          ->type_name("NAME=V1,V2,...")
          ->allow_extra_args(false)
          ->group("Changes to try");
  CLI::Option* smallest =
      app.add_flag("--smallest-card", options.question.with_smallest_card,
                   "Find by bisection the smallest card that the program fits: with torch's "
                   "allocator, with expandable segments, and with memtrace's allocator")
          ->group("Changes to try");
  app.add_option("--largest", options.largest,
                 "Only find the largest value of an option that fits the card: batch -- python "
                 "train.py --batch {batch}; length=64 tries multiples of 64")
      ->type_name("NAME")
      ->excludes(vary)
      ->excludes(scale)
      ->excludes(smallest)
      ->group("Changes to try");
  app.add_option("--margin", options.question.margin_percent,
                 "Percent of the card that a recommended change must leave free (default: 5)")
      ->type_name("N")
      ->check(CLI::Range(0, 90))
      ->group("Changes to try");
  app.add_option("--trials", options.question.most_runs,
                 "Runs with changes that the search for the cheapest plan may make (default: 25)")
      ->type_name("N")
      ->check(CountFromOne())
      ->group("Changes to try");
  options.question.runs_at_once = fit::UsualRunsAtOnce();
  app.add_option("--at-once", options.question.runs_at_once,
                 "Runs that are made at the same time where the host has memory for them (default: "
                 "2, with one processor 1)")
      ->type_name("N")
      ->check(CountFromOne())
      ->group("Changes to try");
  app.add_flag("--no-remedies", options.no_remedies,
               "Only say whether the program fits; try no changes")
      ->group("Changes to try");
}

void DefineOutput(CLI::App& app, FitOptions& options) {
  CLI::Option* json =
      app.add_flag("--json", options.output.json,
                   "Print JSON (schema memtrace.fit/1; of layouts memtrace.layouts/1) instead of "
                   "text")
          ->group("Output");
  app.add_option("--save-plan", options.output.changes.path,
                 "File to write the recommended changes to; memtrace run --with FILE applies them")
      ->type_name("FILE")
      ->group("Output");
  app.add_option("-o,--output", options.output.page.file,
                 "Write a page for the browser instead, with a drawing of memory against time: one "
                 "file that needs no network")
      ->type_name("PAGE.html")
      ->excludes(json)
      ->group("Output");
  app.add_flag("-f,--force", options.output.changes.overwrite, "Overwrite FILE and PAGE.html")
      ->group("Output");
  app.add_flag("--diff", options.output.patch,
               "Also print the recommended changes as a patch to your files, where a change is one "
               "line; no file is changed")
      ->excludes(json)
      ->group("Output");
  app.add_flag("-q,--quiet", options.output.quiet, "Do not print which run is in progress")
      ->group("Output");
}

}  // namespace

void DefineFit(CLI::App& app, const Invocation& invocation, int& exit_code) {
  auto options = std::make_shared<FitOptions>();
  app.description(kFitDescription);
  app.footer(kFitExamples);
  app.prefix_command();
  DefinePlaces(app, *options);
  DefineMoments(app, *options);
  DefineTries(app, *options);
  DefineOutput(app, *options);
  app.callback([&app, &invocation, options, &exit_code] {
    if (const std::vector<std::string> words = app.remaining();
        !words.empty() && words.front().rfind('-', 0) == 0) {
      Note(UnexpectedWordText(app, words.front()));
      exit_code = kUsage;
      return;
    }
    exit_code = Fit(*options, CommandOf(app.remaining(), invocation));
  });
}

}  // namespace memtrace::command
