// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "profiler/trace/writing/mark_request.h"
#include "tools/command/inputs/number_check.h"
#include "tools/command/inputs/recorded_process.h"
#include "tools/command/program/exit_code.h"
#include "tools/command/program/program.h"
#include "tools/command/verbs/verbs.h"

namespace memtrace::command {
namespace {

constexpr const char* kSnapshotDescription =
    "Mark this moment in the trace of a running program\n"
    "The program writes the mark with its next event; memtrace stats lists the marks.\n"
    "\n"
    "Usage: memtrace snapshot [OPTIONS] PID";
constexpr const char* kSnapshotExamples =
    "Examples:\n"
    "  memtrace snapshot 4711              mark it, and wait up to 10 s until the mark is written\n"
    "  memtrace snapshot --wait 0 4711     mark it without waiting";

struct SnapshotOptions {
  pid_t pid = 0;
  double wait = 10;
};

bool WaitFor(const trace::MarkRequest& request, double seconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (!request.is_made()) {
    if (std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

int Snapshot(const SnapshotOptions& options) {
  const absl::StatusOr<RecordedProcess> process = FindRecordedProcess(options.pid);
  if (!process.ok()) {
    Note(std::string(process.status().message()));
    return kUnreadable;
  }
  const absl::StatusOr<trace::MarkRequest> request = trace::MarkRequest::Make(process->file);
  if (!request.ok()) {
    Note(std::string(request.status().message()));
    return kUnreadable;
  }
  const std::string name = "snapshot " + std::to_string(request->number());
  if (WaitFor(*request, options.wait)) {
    Note(name + " is marked in " + process->trace + "; next: memtrace stats " + process->trace);
  } else {
    Note(name + " will be marked with the program's next event, which has not happened yet");
  }
  return kDone;
}

}  // namespace

void DefineSnapshot(CLI::App& app, const Invocation& /*invocation*/, int& exit_code) {
  auto options = std::make_shared<SnapshotOptions>();
  app.description(kSnapshotDescription);
  app.footer(kSnapshotExamples);
  AddProcess(app, options->pid);
  app.add_option("--wait", options->wait,
                 "Seconds to wait for the program's next event (default: 10)")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.0, 86400.0))
      ->group("Output");
  app.callback([options, &exit_code] { exit_code = Snapshot(*options); });
}

}  // namespace memtrace::command
