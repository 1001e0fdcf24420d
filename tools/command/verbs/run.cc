// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "tools/command/help/suggestion.h"
#include "tools/command/inputs/number_check.h"
#include "tools/command/program/exit_code.h"
#include "tools/command/verbs/verbs.h"
#include "tools/launch/child_process.h"
#include "tools/launch/launch_plan.h"
#include "tools/launch/real_cards.h"
#include "tools/launch/written_traces.h"

namespace memtrace::command {
namespace {

constexpr const char* kDescription =
    "Run a program and record what it does with card memory\n"
    "Nothing in the program changes; its children (torchrun, accelerate) are recorded too.\n"
    "\n"
    "Usage: memtrace run [OPTIONS] [--] COMMAND [ARGS]...";
constexpr const char* kExamples =
    "CARD is [Nx]SIZE or [Nx]PROFILE, then keys: 24GiB · 2x80GiB,other=3GiB · rtx-4090,cc=8.9\n"
    "\n"
    "Examples:\n"
    "  memtrace run -- python train.py                               on the real card\n"
    "  memtrace run --card 24GiB -o run.trace -- python train.py     on a simulated one\n"
    "  memtrace run --allocator native -- torchrun train.py          torch's own allocator\n"
    "\n"
    "The exit status is the program's own; MEMTRACE=0 runs it plainly.";

struct Options {
  launch::LaunchRequest request;
  bool quiet = false;
};

int ExitCodeOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kNotFound:
      return kNotFound;
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kUnavailable:
      return kNotExecutable;
    case absl::StatusCode::kFailedPrecondition:
      return kEnvironment;
    default:
      return kUsage;
  }
}

int Refuse(const absl::Status& status) {
  Note(std::string(status.message()));
  return ExitCodeOf(status);
}

// Returns the path as the user would type it from here.
std::string Shown(const std::string& path) {
  std::error_code error;
  const std::filesystem::path relative = std::filesystem::proximate(path, error);
  const std::string text = error ? path : relative.string();
  return text.rfind("..", 0) == 0 ? path : text;
}

void WarnThatNoTraceWasWritten(const std::vector<std::string>& cards) {
  const bool has_card = !cards.empty() || !launch::RealDriverFile().empty();
  Note(std::string("no trace was written: the program did not use CUDA, or ended before it did") +
       (has_card ? ""
                 : "; this machine has no NVIDIA driver, and memtrace run --card 24GiB simulates a "
                   "card"));
}

void PrintTraces(const std::vector<std::string>& traces, const std::vector<std::string>& cards) {
  if (traces.empty()) return WarnThatNoTraceWasWritten(cards);
  const std::string first = Shown(traces.front());
  std::string sentence = "wrote " + first;
  if (traces.size() > 1) sentence += " and " + std::to_string(traces.size() - 1) + " more";
  Note(sentence + "; next: memtrace report " + first);
}

// A machine may have both kinds of card; a process only ever gets one of them.
void PrintWhichCards(const std::vector<std::string>& cards) {
  const std::string driver = cards.empty() ? "" : launch::RealDriverFile();
  if (driver.empty()) return;
  Note("the program gets the simulated card alone, not NVIDIA's driver " + driver +
       "; without --card it gets that");
}

int RunPlan(const launch::LaunchPlan& plan, const Options& options) {
  const bool switched_off = launch::IsSwitchedOff(plan.environment);
  if (switched_off && !options.quiet) Note("MEMTRACE=0 is set: the program runs plainly, no trace");
  if (!switched_off && !options.quiet) PrintWhichCards(options.request.cards);
  // The file is removed before the start, so that the first process to create it gets its name.
  std::error_code ignored;
  if (options.request.force && !plan.output.empty()) std::filesystem::remove(plan.output, ignored);
  const launch::WrittenTraces traces(plan.output);
  const absl::StatusOr<launch::ExitStatus> status = launch::RunToEnd(plan);
  if (!status.ok()) return Refuse(status.status());
  const bool is_told = !options.quiet && !switched_off && !options.request.no_trace;
  if (is_told) PrintTraces(traces.Find(), options.request.cards);
  return status->code;
}

int Run(const CLI::App& app, const Invocation& invocation, Options& options) {
  const std::vector<std::string> remaining = app.remaining();
  if (!remaining.empty() && remaining.front().rfind('-', 0) == 0) {
    Note(UnexpectedWord(app, remaining.front()) + "; memtrace run --help says more");
    return kUsage;
  }
  options.request.command = CommandOf(remaining, invocation);
  if (options.request.command.empty()) {
    Note("there is no command to run; write it behind --, as in memtrace run -- python train.py");
    return kUsage;
  }
  const absl::StatusOr<launch::LaunchPlan> plan =
      launch::PlanLaunch(options.request, launch::CurrentEnvironment());
  return plan.ok() ? RunPlan(*plan, options) : Refuse(plan.status());
}

}  // namespace

void DefineRun(CLI::App& app, const Invocation& invocation, int& exit_code) {
  auto options = std::make_shared<Options>();
  app.description(kDescription);
  app.footer(kExamples);
  app.prefix_command();
  app.add_option("--card", options->request.cards,
                 "Simulate a card instead of using a real one; repeat it for unequal cards")
      ->type_name("CARD")
      ->allow_extra_args(false)
      ->group("Where it runs");
  app.add_option("--events", options->request.events,
                 "When work on a simulated card is done. eager (default): at once, the "
                 "least memory waits for it; lazy: when the host waits, the most does")
      ->type_name("WHEN")
      ->check(CLI::IsMember({"eager", "lazy"}))
      ->group("Where it runs");
  app.add_option("--allocator", options->request.allocator,
                 "memtrace (default): our allocator; native: torch's own, observed")
      ->type_name("NAME")
      ->check(CLI::IsMember({"memtrace", "native"}))
      ->group("Where it runs");
  app.add_option("--plan", options->request.plan,
                 "Put blocks where FILE has them (memtrace plan makes it of a "
                 "trace); what it does not have is placed as without it")
      ->type_name("FILE")
      ->group("Where it runs");
  app.add_option("--host-values", options->request.host_values,
                 "Small tensors keep true values on a simulated card: on (default "
                 "where torch allows it), off, or FILE with own answers for "
                 "values that are unknown")
      ->type_name("on|off|FILE")
      ->group("Where it runs");
  app.add_option("--generate-length", options->request.generate_length,
                 "Tokens that generate() makes on a simulated card, whatever "
                 "they are (default: the program's own)")
      ->type_name("N")
      ->check(CountFromOne())
      ->group("Where it runs");
  CLI::Option* output = app.add_option("-o,--output", options->request.output,
                                       "Trace file (default: memtrace-SCRIPT.PID.trace here); more "
                                       "processes than one add FILE.PID")
                            ->type_name("FILE")
                            ->group("What it leaves");
  app.add_flag("-f,--force", options->request.force, "Overwrite FILE")->group("What it leaves");
  app.add_flag("--native-stacks", options->request.native_stacks,
               "Also record the C++ frames of every allocation; costs some us each")
      ->group("What it leaves");
  app.add_option("--keep", options->request.keep,
                 "Let no trace get larger: the oldest events are dropped (at least "
                 "4MiB; 256MiB are some 25 million events)")
      ->type_name("SIZE")
      ->group("What it leaves");
  app.add_flag("--no-paths", options->request.no_paths,
               "Leave folders out of what is recorded: files, script, arguments")
      ->group("What it leaves");
  app.add_flag("--no-source", options->request.no_source,
               "Leave call stacks out: no file, function or line of your code")
      ->group("What it leaves");
  app.add_flag("--keep-secrets", options->request.keep_secrets,
               "Record the command with its passwords, tokens and keys; without this, "
               "*** stands in their place")
      ->group("What it leaves");
  CLI::Option* cupti =
      app.add_flag("--cupti", options->request.cupti,
                   "Record kernels and copies, too, by NVIDIA's CUPTI: how long blocks lie "
                   "unwritten. It takes some MiB of the card, and time (docs/design/cupti.md)")
          ->group("What it leaves");
  app.add_flag("--no-trace", options->request.no_trace,
               "Record nothing: our allocator alone, at its full speed")
      ->excludes(output)
      ->excludes(cupti)
      ->group("What it leaves");
  app.add_flag("-q,--quiet", options->quiet, "Do not say which trace was written")
      ->group("What it leaves");
  app.callback(
      [&app, &invocation, options, &exit_code] { exit_code = Run(app, invocation, *options); });
}

}  // namespace memtrace::command
