// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "CLI/CLI.hpp"
#include "messages/message.h"
#include "profiler/trace/events/amount.h"
#include "tools/analysis/explanation.h"
#include "tools/analysis/limits.h"
#include "tools/command/program/exit_code.h"
#include "tools/command/program/program.h"
#include "tools/command/verbs/trace_verb.h"
#include "tools/command/verbs/verbs.h"
#include "tools/report/check_report.h"
#include "tools/report/words/vocabulary_words.h"

namespace memtrace::command {
namespace {

constexpr const char* kCheckDescription =
    "Check that a run stayed within limits, for CI: exit code 1 if it did not\n"
    "Every card must stay within every limit, and a run that ran out of memory stays within\n"
    "none. A failed request does not count if the program recovered from it: torch tried a\n"
    "smaller size, or a retry succeeded. Growth needs five steps: with fewer it is not known,\n"
    "and the exit code is 6.\n"
    "\n"
    "Usage: memtrace check [OPTIONS] FILE";
constexpr const char* kCheckExamples =
    "Examples:\n"
    "  memtrace check --max-peak 70GiB run.trace\n"
    "  memtrace check --max-growth 1MiB/step run.trace        no leak\n"
    "  memtrace check --max-role activation=20GiB --max-role gradient=4GiB run.trace";

struct CheckOptions : TraceOptions {
  analysis::Limits limits;
};

uint64_t BytesIn(const std::string& text) {
  const auto bytes = trace::BytesOf(text);
  if (!bytes)
    throw CLI::ValidationError(
        Message("'$0' is not a size; write for example 512MiB or 70GiB", text));
  return *bytes;
}

// Parses "1MiB/step".
uint64_t ParseRate(const std::string& text) {
  constexpr std::string_view kPerStep = "/step";
  const size_t slash = text.find('/');
  if (slash == std::string::npos || text.substr(slash) != kPerStep)
    throw CLI::ValidationError(
        Message("'$0' is not a growth per step; write for example 1MiB/step", text));
  return BytesIn(text.substr(0, slash));
}

// Parses "activation=20GiB".
void AddRole(const std::string& text, analysis::Limits& limits) {
  const size_t equals = text.find('=');
  const auto role = report::RoleNamed(text.substr(0, equals));
  if (equals == std::string::npos || !role) {
    throw CLI::ValidationError(
        Message("'$0' is not a role and its limit; write for example activation=20GiB (memtrace "
                "stats lists the roles)",
                text));
  }
  limits.roles[*role] = BytesIn(text.substr(equals + 1));
}

int AnswerOf(const std::vector<analysis::LimitCheck>& checks) {
  using analysis::LimitCheck;
  const auto is_exceeded = [](const LimitCheck& check) { return check.is_exceeded(); };
  const auto holds = [](const LimitCheck& check) { return check.holds(); };
  if (std::any_of(checks.begin(), checks.end(), is_exceeded)) return kLimitExceeded;
  return std::all_of(checks.begin(), checks.end(), holds) ? kDone : kNotKnown;
}

int Check(const CheckOptions& options) {
  int answer = kDone;
  const int code = PrintFromTrace(
      options, [&options, &answer](const TraceInput& input) -> absl::StatusOr<std::string> {
        const analysis::Explanation explanation = analysis::ExplainPeaks(input);
        const auto checks = analysis::CheckLimits(explanation, options.limits);
        answer = AnswerOf(checks);
        const analysis::RunFacts run = input.Facts(explanation.run.annotations);
        return options.json ? report::JsonCheck(checks, run) : report::TextCheck(checks, run);
      });
  if (answer == kLimitExceeded) return answer;
  return code == kDone ? answer : code;
}

}  // namespace

void DefineCheck(CLI::App& app, const Invocation& /*invocation*/, int& exit_code) {
  auto options = std::make_shared<CheckOptions>();
  app.description(kCheckDescription);
  app.footer(kCheckExamples);
  AddTraceOptions(app, *options, "memtrace.check/1");
  analysis::Limits& limits = options->limits;
  app.add_option_function<std::string>(
         "--max-peak", [&limits](const std::string& text) { limits.peak = BytesIn(text); },
         "Maximum bytes requested at any moment")
      ->type_name("SIZE")
      ->group("Limits");
  app.add_option_function<std::string>(
         "--max-growth",
         [&limits](const std::string& text) { limits.growth_per_step = ParseRate(text); },
         "Maximum growth of memory in use per step, on average from step 3 on (needs 5 steps)")
      ->type_name("SIZE/step")
      ->group("Limits");
  app.add_option_function<std::vector<std::string>>(
         "--max-role",
         [&limits](const std::vector<std::string>& texts) {
           for (const std::string& text : texts) AddRole(text, limits);
         },
         "Maximum bytes of a role at the peak; can be repeated")
      ->type_name("ROLE=SIZE")
      ->type_size(1)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->group("Limits");
  app.add_flag("--allow-oom", limits.allow_out_of_memory,
               "Let a run pass although it ran out of memory")
      ->group("Limits");
  app.add_flag("--fail-on-retry", limits.fail_on_retry,
               "Fail a run that had a failed request, even if the program recovered")
      ->group("Limits");
  app.callback([options, &exit_code] {
    if (!options->limits.any()) {
      Note("no limit is given; memtrace check --help lists the limits");
      exit_code = kUsage;
      return;
    }
    exit_code = Check(*options);
  });
}

}  // namespace memtrace::command
