// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>

#include "CLI/CLI.hpp"
#include "base/status_macros.h"
#include "tools/analysis/planning/memory_plan.h"
#include "tools/analysis/replayed/timeline.h"
#include "tools/command/program/exit_code.h"
#include "tools/command/program/output_file.h"
#include "tools/command/verbs/trace_verb.h"
#include "tools/command/verbs/verbs.h"
#include "tools/report/plan_report.h"

namespace memtrace::command {
namespace {

constexpr const char* kPlanDescription =
    "Compute where the blocks of a recorded run should be placed\n"
    "The blocks that repeat, as in each training step, are packed into as little memory as\n"
    "possible. A run with --plan FILE uses the plan; requests that are not in it are placed\n"
    "as usual.\n"
    "\n"
    "Usage: memtrace plan [OPTIONS] FILE";
constexpr const char* kPlanExamples =
    "Examples:\n"
    "  memtrace plan run.trace -o run.plan                write the plan, print its figures\n"
    "  memtrace plan --json run.trace                     only print its figures, for programs\n"
    "  memtrace run --plan run.plan -- python train.py    use the plan";

struct PlanOptions {
  TraceOptions trace;
  std::string output;
  bool force = false;
};

// Writes the plan by renaming, so that a run that starts meanwhile reads the old plan or the new
// one.
absl::StatusOr<std::string> Render(const TraceInput& input, const PlanOptions& options) {
  OutputFile output(options.output);
  if (!options.output.empty()) {
    if (absl::Status wrong = output.Check(options.force); !wrong.ok()) return wrong;
  }
  analysis::Timeline timeline(input, 0);
  input.ForEach([&timeline](const trace::Event& event) { timeline.Apply(event); });
  const analysis::RunFacts facts = input.Facts(timeline.annotations());
  const auto log = analysis::RequestLog::Of(input, facts.allocator == "memtrace");
  if (log.streams().empty()) {
    return absl::InvalidArgumentError(
        options.trace.file +
        ": no block above 1 MiB was requested from a default pool, so there is nothing to plan");
  }
  const analysis::MemoryPlan plan = analysis::PlanMemory(log);
  if (!options.output.empty()) {
    MEMTRACE_RETURN_IF_ERROR(output.KeepText(plan.plan().Text()));
    Note("wrote " + options.output + "; next: memtrace run --plan " + options.output +
         " -- COMMAND");
  }
  return options.trace.json ? report::JsonPlan(plan, facts) : report::TextPlan(plan, facts);
}

}  // namespace

void DefinePlan(CLI::App& app, const Invocation& /*invocation*/, int& exit_code) {
  auto options = std::make_shared<PlanOptions>();
  options->trace.keeps_events = true;
  app.description(kPlanDescription);
  app.footer(kPlanExamples);
  AddTraceOptions(app, options->trace, "memtrace.plan/1");
  app.add_option("-o,--output", options->output,
                 "Plan file to write (default: none; only figures are printed)")
      ->type_name("FILE")
      ->group("Output");
  app.add_flag("-f,--force", options->force, "Overwrite FILE")->group("Output");
  app.callback([options, &exit_code] {
    exit_code = PrintFromTrace(options->trace,
                               [&](const TraceInput& input) { return Render(input, *options); });
  });
}

}  // namespace memtrace::command
