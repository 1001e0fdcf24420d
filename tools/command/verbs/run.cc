// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include <csignal>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_join.h"
#include "messages/message.h"
#include "tools/command/help/usage_error.h"
#include "tools/command/inputs/changes_option.h"
#include "tools/command/inputs/number_check.h"
#include "tools/command/outputs/rank_search.h"
#include "tools/command/program/exit_code.h"
#include "tools/command/verbs/verbs.h"
#include "tools/fit/trials/trial.h"
#include "tools/launch/card_keys.h"
#include "tools/launch/child_process.h"
#include "tools/launch/job_ranks.h"
#include "tools/launch/launch_plan.h"
#include "tools/launch/rank_plans.h"
#include "tools/launch/real_cards.h"
#include "tools/launch/written_traces.h"

namespace memtrace::command {
namespace {

constexpr const char* kRunDescription =
    "Run a program and record how it uses card memory\n"
    "The program itself is not changed. Its child processes (torchrun, accelerate) are also\n"
    "recorded.\n"
    "\n"
    "Usage: memtrace run [OPTIONS] [--] COMMAND [ARGS]...";
constexpr const char* kRunExamples =
    "CARD is [Nx]SIZE or [Nx]PROFILE, then keys: 24GiB · 2x80GiB,other=3GiB · "
    "8xa100-80gb,link=pcie\n"
    "\n"
    "Examples:\n"
    "  memtrace run -- python train.py                               on the real card\n"
    "  memtrace run --card 24GiB -o run.trace -- python train.py     on a simulated card\n"
    "  memtrace run --allocator native -- torchrun train.py          with torch's own allocator\n"
    "  memtrace run --with fit.json -- python train.py               with changes that fit found\n"
    "  memtrace run --card 8xh100-80gb --world 64x8 --ranks auto -o traces/ -- torchrun train.py\n"
    "\n"
    "The exit status is the program's own. With MEMTRACE=0 the program runs without memtrace.";

struct RunOptions {
  launch::LaunchRequest request;
  std::string nccl;   // what each communicator takes of a simulated card
  std::string world;  // the ranks of the job, of which `ranks` are started; empty: no job
  std::string ranks;
  ChangesOption changes;
  launch::Environment environment;  // of the program
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
    case absl::StatusCode::kDeadlineExceeded:
      return kEnvironment;
    case absl::StatusCode::kCancelled:
      return 128 + SIGINT;
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
  Note(has_card
           ? Message("no trace was written: the program did not use CUDA, or ended before it did")
           : Message("no trace was written: the program did not use CUDA, or ended before it did; "
                     "this machine has no NVIDIA driver; memtrace run --card 24GiB simulates a "
                     "card"));
}

void PrintTraces(const std::vector<std::string>& traces, const std::vector<std::string>& cards) {
  if (traces.empty()) return WarnThatNoTraceWasWritten(cards);
  const std::string first = Shown(traces.front());
  Note(traces.size() == 1
           ? Message("wrote $0; next: memtrace report $0", first)
           : Message("wrote $0 and $1 more; next: memtrace report $0", first, traces.size() - 1));
}

// Returns "SIGKILL" for signals that end programs often.
std::string SignalName(int signal) {
  constexpr std::pair<int, const char*> kNames[] = {
      {SIGHUP, "SIGHUP"},   {SIGINT, "SIGINT"},   {SIGQUIT, "SIGQUIT"}, {SIGILL, "SIGILL"},
      {SIGABRT, "SIGABRT"}, {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},   {SIGKILL, "SIGKILL"},
      {SIGSEGV, "SIGSEGV"}, {SIGPIPE, "SIGPIPE"}, {SIGTERM, "SIGTERM"}};
  for (const auto& [number, name] : kNames)
    if (number == signal) return name;
  return std::to_string(signal);
}

// Says how the program ended, if it did not end with exit code 0.
void PrintEnd(const launch::ExitStatus& status) {
  constexpr int kKilledChild = 128 + SIGKILL;  // a shell's exit code
  if (status.signal == SIGKILL && status.asked_to_stop == 0) {
    Note(Message("the program was killed by SIGKILL; perhaps the host ran out of memory"));
  } else if (status.signal != 0) {
    Note(Message("the program was ended by signal $0", SignalName(status.signal)));
  } else if (status.code == kKilledChild) {
    Note(
        Message("the program ended with exit code $0: a process that it started was killed by "
                "SIGKILL; perhaps the host ran out of memory",
                status.code));
  } else if (status.code != 0) {
    Note(Message("the program ended with exit code $0", status.code));
  }
}

// A machine may have both kinds of card; a process only ever gets one of them.
void PrintWhichCards(const std::vector<std::string>& cards) {
  const std::string driver = cards.empty() ? "" : launch::RealDriverFile();
  if (driver.empty()) return;
  Note(Message(
      "the program uses only the simulated card, not NVIDIA's driver $0; without --card it uses "
      "the driver",
      driver));
}

int RunPlan(const launch::LaunchPlan& plan, const RunOptions& options) {
  const bool switched_off = launch::IsSwitchedOff(plan.environment);
  if (switched_off && !options.quiet)
    Note(
        Message("MEMTRACE=0 is set, so the program runs without memtrace and no trace is written"));
  if (!switched_off && !options.quiet) PrintWhichCards(options.request.cards);
  // The file is removed before the start, so that the first process to create it gets its name.
  std::error_code ignored;
  if (options.request.force && !plan.output.empty()) std::filesystem::remove(plan.output, ignored);
  const launch::WrittenTraces traces(plan.output);
  const absl::StatusOr<launch::ExitStatus> status = launch::RunToEnd(plan);
  if (!status.ok()) return Refuse(status.status());
  if (!options.quiet && !switched_off) PrintEnd(*status);
  const bool is_told = !options.quiet && !switched_off && !options.request.no_trace;
  if (is_told) PrintTraces(traces.Find(), options.request.cards);
  return status->code;
}

// Says which ranks of a job are started, and that the others are virtual.
void PrintRanks(const launch::JobRanks& job) {
  if (static_cast<int>(job.real.size()) == job.world) return;
  Note(Message("of a job of $1 ranks these run: $0; the others are virtual",
               absl::StrJoin(job.real, ","), job.world));
}

// Says which rank failed first. Its end is that of the job.
void PrintFailure(const launch::JobRanks& job, const launch::JointEnd& end) {
  if (!end.failed) return;
  const int rank = job.real[*end.failed];
  Note(end.ends.size() == 1 ? Message("rank $0 failed", rank)
                            : Message("rank $0 failed first; the other ranks were stopped", rank));
  PrintEnd(end.ends[*end.failed]);
}

// Removes old traces with -f, so that the first process of each rank gets the trace's name.
std::vector<launch::WrittenTraces> WatchTraces(const std::vector<launch::LaunchPlan>& plans,
                                               bool force) {
  std::vector<launch::WrittenTraces> traces;
  for (const launch::LaunchPlan& plan : plans) {
    std::error_code ignored;
    if (force && !plan.output.empty()) std::filesystem::remove(plan.output, ignored);
    if (traces.empty() || !plan.output.empty()) traces.emplace_back(plan.output);
  }
  return traces;
}

// Names the folder of the ranks' traces if they have one of their own, else the first trace.
void PrintRankTraces(const std::vector<std::string>& traces, const RunOptions& options) {
  const std::string& folder = options.request.output;
  std::error_code ignored;
  if (traces.size() < 2 || !std::filesystem::is_directory(folder, ignored))
    return PrintTraces(traces, options.request.cards);
  Note(Message("wrote $0 traces; next: memtrace report $1", traces.size(), Shown(folder)));
}

int RunRanks(const std::vector<launch::LaunchPlan>& plans, const launch::JobRanks& job,
             const RunOptions& options) {
  const bool is_told = !options.quiet && !launch::IsSwitchedOff(plans.front().environment);
  if (is_told) PrintWhichCards(options.request.cards);
  if (is_told) PrintRanks(job);
  const std::vector<launch::WrittenTraces> traces = WatchTraces(plans, options.request.force);
  const absl::StatusOr<launch::JointEnd> end = launch::RunTogether(plans);
  if (!end.ok()) return Refuse(end.status());
  if (is_told) PrintFailure(job, *end);
  std::vector<std::string> written;
  for (const launch::WrittenTraces& of_rank : traces)
    for (std::string& trace : of_rank.Find()) written.push_back(std::move(trace));
  if (is_told && !options.request.no_trace) PrintRankTraces(written, options);
  return end->failed ? end->ends[*end->failed].code : kDone;
}

// Returns the run that finds which ranks of the job differ.
fit::Trial TrialOf(const RunOptions& options, const launch::JobRanks& job) {
  fit::Trial trial;
  trial.command = options.request.command;
  trial.cards = options.request.cards;
  trial.job = job;
  trial.host_values = options.request.host_values;
  return trial;
}

int RunJob(const RunOptions& options) {
  absl::StatusOr<launch::JobRanks> job =
      launch::ParseJobRanks(options.world, options.ranks, options.request.cards);
  if (job.ok() && job->is_auto && !launch::IsSwitchedOff(options.environment))
    job = FindRanksToRun(TrialOf(options, *job), options.quiet);
  if (!job.ok()) return Refuse(job.status());
  if (!options.quiet) PrintIfHostIsSmall(*job);
  const absl::StatusOr<std::vector<launch::LaunchPlan>> plans =
      launch::PlanRanks(options.request, *job, options.environment);
  return plans.ok() ? RunRanks(*plans, *job, options) : Refuse(plans.status());
}

int Run(const CLI::App& app, const Invocation& invocation, RunOptions& options) {
  const std::vector<std::string> remaining = app.remaining();
  if (!remaining.empty() && remaining.front().rfind('-', 0) == 0) {
    Note(UnexpectedWordText(app, remaining.front()));
    return kUsage;
  }
  options.request.command = CommandOf(remaining, invocation);
  if (options.request.command.empty()) {
    Note(Message(
        "there is no command to run; write it after --, as in memtrace run -- python train.py"));
    return kUsage;
  }
  launch::AddCardKey("nccl", options.nccl, &options.request.cards);
  options.environment = launch::CurrentEnvironment();
  const bool has_allocator = app.count("--allocator") > 0;
  const absl::StatusOr<std::vector<std::string>> applied =
      AddChanges(options.changes, has_allocator, options.request, options.environment);
  if (!applied.ok()) return Refuse(applied.status());
  if (!options.quiet)
    for (const std::string& sentence : *applied) Note(sentence);
  if (!options.world.empty() || !options.ranks.empty()) return RunJob(options);
  const absl::StatusOr<launch::LaunchPlan> plan =
      launch::PlanLaunch(options.request, options.environment);
  return plan.ok() ? RunPlan(*plan, options) : Refuse(plan.status());
}

void DefineCard(CLI::App& app, RunOptions& options) {
  CLI::Option* card =
      app.add_option(
             "--card", options.request.cards,
             "Simulate this card instead of using a real one; repeat the option for unequal cards")
          ->type_name("CARD")
          ->allow_extra_args(false)
          ->group("Card and allocator");
  app.add_option("--events", options.request.events,
                 "When work on a simulated card completes. eager (default): immediately, so the "
                 "least memory is held for it; lazy: only when the host waits, so the most is")
      ->type_name("WHEN")
      ->check(CLI::IsMember({"eager", "lazy"}))
      ->group("Card and allocator");
  app.add_option(
         "--nccl", options.nccl,
         "What each communicator of NCCL takes of a simulated card, such as 800MiB, instead "
         "of what NCCL's rule gives; memtrace explain NCCL")
      ->type_name("SIZE")
      ->needs(card)
      ->group("Card and allocator");
  app.add_option("--allocator", options.request.allocator,
                 "memtrace (default): memtrace's own allocator; native: torch's allocator, which "
                 "memtrace observes")
      ->type_name("NAME")
      ->check(CLI::IsMember({"memtrace", "native"}))
      ->group("Card and allocator");
  app.add_option("--plan", options.request.plan,
                 "Place blocks at the addresses in FILE, as written by memtrace plan; other blocks "
                 "are placed as usual")
      ->type_name("FILE")
      ->group("Card and allocator");
  app.add_option(
         "--spill", options.request.spill,
         "Before a request fails, move up to SIZE of each card's memory to the host, at the "
         "same addresses. The program becomes slower instead of ending")
      ->type_name("SIZE")
      ->group("Card and allocator");
  app.add_option("--host-values", options.request.host_values,
                 "Keep the true values of small tensors on a simulated card: on (default if torch "
                 "allows it), off, or FILE with answers for values that are unknown")
      ->type_name("on|off|FILE")
      ->group("Card and allocator");
  app.add_option("--generate-length", options.request.generate_length,
                 "Number of tokens that generate() makes on a simulated card, whatever they are "
                 "(default: the program's own)")
      ->type_name("N")
      ->check(CountFromOne())
      ->group("Card and allocator");
}

void DefineJob(CLI::App& app, RunOptions& options) {
  app.add_option(
         "--world", options.world,
         "Number of ranks of a job, such as 512 or 64x8. Only those of --ranks are started; the "
         "others are virtual, and nothing waits for them")
      ->type_name("RANKS")
      ->group("Job of many ranks");
  app.add_option("--ranks", options.ranks,
                 "The ranks that are started, such as 0,448 or 0-3 (default: 0). auto: one of each "
                 "kind, which a first run of rank 0 finds")
      ->type_name("LIST")
      ->group("Job of many ranks");
}

void DefineRecording(CLI::App& app, RunOptions& options) {
  CLI::Option* output =
      app.add_option("-o,--output", options.request.output,
                     "Trace file (default: memtrace-SCRIPT.PID.trace in this "
                     "folder); additional processes write FILE.PID. With --world, "
                     "FILE or FOLDER/; the name of each trace has its rank")
          ->type_name("FILE")
          ->group("Recording");
  app.add_flag("-f,--force", options.request.force, "Overwrite FILE")->group("Recording");
  app.add_flag("--native-stacks", options.request.native_stacks,
               "Also record the C++ frames of every allocation; this costs a few us for each")
      ->group("Recording");
  app.add_option("--keep", options.request.keep,
                 "Limit each trace to SIZE, at least 4MiB; the oldest events are dropped. 256MiB "
                 "holds about 25 million events")
      ->type_name("SIZE")
      ->group("Recording");
  app.add_flag("--no-paths", options.request.no_paths,
               "Record files, the script and arguments without their folders")
      ->group("Recording");
  app.add_flag("--no-source", options.request.no_source,
               "Record no call stacks: no file, function or line of your code")
      ->group("Recording");
  app.add_flag(
         "--keep-secrets", options.request.keep_secrets,
         "Record passwords, tokens and keys that are in the command; by default *** replaces them")
      ->group("Recording");
  CLI::Option* cupti =
      app.add_flag("--cupti", options.request.cupti,
                   "Also record kernels and copies with CUPTI, to show how long each block has "
                   "been idle. With --spill, blocks that no operation uses then move first. Costs "
                   "a few MiB of card memory and some speed")
          ->group("Recording");
  app.add_flag("--no-trace", options.request.no_trace,
               "Record nothing, so that memtrace's allocator runs at full speed")
      ->excludes(output)
      ->excludes(cupti)
      ->group("Recording");
  app.add_flag("-q,--quiet", options.quiet,
               "Do not print notes about the run, such as which trace was written")
      ->group("Recording");
}

}  // namespace

void DefineRun(CLI::App& app, const Invocation& invocation, int& exit_code) {
  auto options = std::make_shared<RunOptions>();
  app.description(kRunDescription);
  app.footer(kRunExamples);
  app.prefix_command();
  DefineCard(app, *options);
  DefineChanges(app, options->changes);
  DefineJob(app, *options);
  DefineRecording(app, *options);
  app.callback(
      [&app, &invocation, options, &exit_code] { exit_code = Run(app, invocation, *options); });
}

}  // namespace memtrace::command
