// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <iostream>
#include <memory>
#include <string>
#include <thread>

#include "CLI/CLI.hpp"
#include "base/status_macros.h"
#include "nlohmann/json.hpp"
#include "profiler/trace/reading/summary_reader.h"
#include "tools/analysis/views/run_summary.h"
#include "tools/command/inputs/number_check.h"
#include "tools/command/inputs/recorded_process.h"
#include "tools/command/program/exit_code.h"
#include "tools/command/program/program.h"
#include "tools/command/verbs/verbs.h"
#include "tools/report/summary_report.h"
#include "tools/report/words/json_text.h"

namespace memtrace::command {
namespace {

constexpr const char* kTopDescription =
    "Show what holds the card in a running program\n"
    "It only reads the program's trace, so the program is not disturbed.\n"
    "\n"
    "Usage: memtrace top [OPTIONS] PID";
constexpr const char* kTopExamples =
    "The figures are as of an event. While the program allocates, they are a second old, or ten "
    "if it has very many blocks. What it did in the second before it became idle may be missing.\n"
    "\n"
    "Examples:\n"
    "  memtrace top 4711                  update until Ctrl-C or the end of the program\n"
    "  memtrace top -n 1 4711             once, for example to write it to a file\n"
    "  memtrace top --json 4711           for programs: bytes as integers";

struct TopOptions {
  pid_t pid = 0;
  uint64_t count = 0;  // 0: until something ends it
  double interval = 2;
  bool json = false;
};

uint64_t UnixNow() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

absl::StatusOr<std::string> Picture(const RecordedProcess& process, const TopOptions& options) {
  MEMTRACE_ASSIGN_OR_RETURN(const std::string text, trace::ReadSummary(process.file));
  nlohmann::ordered_json json = nlohmann::ordered_json::parse(text, nullptr, false);
  MEMTRACE_ASSIGN_OR_RETURN(const analysis::RunSummary summary, analysis::ParseRunSummary(json));
  if (options.json) {
    json["pid"] = options.pid;
    json["trace"] = process.trace;
    return report::JsonText(json);
  }
  constexpr size_t kRows = 10;
  return report::TextSummary(summary, std::to_string(options.pid) + " " + process.trace, UnixNow(),
                             kRows);
}

int Top(const TopOptions& options) {
  const absl::StatusOr<RecordedProcess> process = FindRecordedProcess(options.pid);
  if (!process.ok()) {
    Note(std::string(process.status().message()));
    return kUnreadable;
  }
  const bool is_screen = isatty(STDOUT_FILENO) != 0 && !options.json;
  const uint64_t count = options.count != 0 || is_screen ? options.count : 1;
  for (uint64_t shown = 0; count == 0 || shown < count; ++shown) {
    if (shown > 0) std::this_thread::sleep_for(std::chrono::duration<double>(options.interval));
    const absl::StatusOr<std::string> picture = Picture(*process, options);
    if (!picture.ok()) {
      const bool has_ended = shown > 0;
      Note(has_ended ? "process " + std::to_string(options.pid) + " has closed its trace " +
                           process->trace
                     : std::string(picture.status().message()));
      return has_ended ? kDone : kUnreadable;
    }
    std::cout << (is_screen ? "\033[H\033[2J" : "") << *picture << std::flush;
  }
  return kDone;
}

}  // namespace

void DefineTop(CLI::App& app, const Invocation& /*invocation*/, int& exit_code) {
  auto options = std::make_shared<TopOptions>();
  app.description(kTopDescription);
  app.footer(kTopExamples);
  AddProcess(app, options->pid);
  app.add_option("-n", options->count,
                 "Number of updates to show (default: until the program ends; 1 with --json or if "
                 "stdout is not a terminal)")
      ->type_name("N")
      ->check(CountFromOne())
      ->group("Output");
  app.add_option("--interval", options->interval, "Seconds between updates (default: 2)")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.1, 3600.0))
      ->group("Output");
  app.add_flag("--json", options->json, "Print JSON (schema memtrace.summary/1) instead of text")
      ->group("Output");
  app.callback([options, &exit_code] { exit_code = Top(*options); });
}

}  // namespace memtrace::command
