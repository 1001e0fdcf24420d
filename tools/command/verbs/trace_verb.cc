// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command/verbs/trace_verb.h"

#include <iostream>

#include "CLI/CLI.hpp"
#include "tools/command/inputs/memory_limit.h"
#include "tools/command/program/exit_code.h"
#include "tools/command/program/program.h"
#include "tools/report/run_header.h"

namespace memtrace::command {

void AddTraceOptions(CLI::App& app, TraceOptions& options, std::string_view schema) {
  app.add_option("FILE", options.file, "Trace that memtrace run wrote, or memory snapshot of torch")
      ->required()
      ->group("Input");
  app.add_flag("--json", options.json,
               "Print JSON (schema " + std::string(schema) + ") instead of text")
      ->group("Output");
}

namespace {

using Render = std::function<absl::StatusOr<std::string>(const TraceInput&)>;

int Print(const TraceOptions& options, const Render& render) {
  const absl::StatusOr<TraceInput> input = TraceInput::Open(options.file);
  if (!input.ok()) {
    Note(std::string(input.status().message()));
    return kUnreadable;
  }
  const absl::StatusOr<std::string> text = render(*input);
  if (!text.ok()) return RefuseResult(text.status());
  std::cout << *text << std::flush;
  // JSON holds the banner in "lost"; a person at the terminal still has to see it.
  const trace::Completeness& completeness = input->completeness();
  if (options.json && !completeness.whole()) Note(report::PartialBanner(completeness));
  return input->exit_code();
}

}  // namespace

int PrintFromTrace(const TraceOptions& options, const Render& render) {
  if (options.keeps_events) return Print(options, render);
  return WithinMemoryLimit({options.file}, [&] { return Print(options, render); });
}

}  // namespace memtrace::command
