// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "CLI/CLI.hpp"
#include "base/status_macros.h"
#include "tools/analysis/checks/verification.h"
#include "tools/command/inputs/memory_limit.h"
#include "tools/command/inputs/trace_input.h"
#include "tools/command/program/exit_code.h"
#include "tools/command/verbs/verbs.h"
#include "tools/report/verify_report.h"

namespace memtrace::command {
namespace {

using analysis::Verification;

constexpr const char* kVerifyDescription =
    "Read a whole trace or snapshot, and say whether it is intact\n"
    "It checks the checksum of each part of the file, and whether each event is possible\n"
    "after the events before it. It finds frees of memory that is not allocated, overlapping\n"
    "blocks, wrong sums and undefined names.\n"
    "\n"
    "Usage: memtrace verify [OPTIONS] FILE...";
constexpr const char* kVerifyExamples =
    "Examples:\n"
    "  memtrace verify run.trace                        one line: whole, or what is wrong\n"
    "  memtrace verify *.trace && echo all whole        several; the worst decides the status\n"
    "  memtrace verify --json run.trace | jq .files[0].state\n"
    "\n"
    "The exit status is 0 if all files are whole, 4 if one is damaged or has an impossible event, "
    "3 if one cannot be read at all.";

struct VerifyOptions {
  std::vector<std::string> files;
  bool json = false;
};

absl::Status VerifyTrace(const std::string& file, Verification& verification) {
  MEMTRACE_ASSIGN_OR_RETURN(const trace::TraceReader reader, OpenTrace(file));
  verification.kind = "trace";
  verification.completeness = reader.completeness();
  analysis::VerifyEvents(reader, verification);
  return absl::OkStatus();
}

absl::Status VerifySnapshot(const std::string& file, Verification& verification) {
  MEMTRACE_ASSIGN_OR_RETURN(const TraceInput input, TraceInput::Open(file));
  verification.kind = "snapshot";
  verification.completeness = input.completeness();
  analysis::VerifyEvents(input, verification);
  return absl::OkStatus();
}

Verification Verify(const std::string& file) {
  Verification verification;
  verification.file = file;
  std::error_code ignored;
  const uintmax_t bytes = std::filesystem::file_size(file, ignored);
  if (!ignored) verification.bytes = bytes;
  const absl::Status status =
      IsPickle(file) ? VerifySnapshot(file, verification) : VerifyTrace(file, verification);
  verification.unreadable = std::string(status.message());
  return verification;
}

int CodeOf(const Verification& verification) {
  if (!verification.unreadable.empty()) return kUnreadable;
  return verification.whole() ? kDone : kPartial;
}

Verification VerifyWithinLimit(const std::string& file) {
  if (KeepsToMemoryLimit(file, [&file] { Verify(file); })) return Verify(file);
  Verification refused;
  refused.file = file;
  refused.unreadable = kTooMuchMemory;
  return refused;
}

// Returns the exit code for several files: an unreadable file is worse than a damaged one.
int Worse(int a, int b) {
  if (a == kUnreadable || b == kUnreadable) return kUnreadable;
  return std::max(a, b);
}

int VerifyAll(const VerifyOptions& options) {
  std::vector<Verification> all;
  all.reserve(options.files.size());
  int code = kDone;
  for (const std::string& file : options.files) {
    all.push_back(VerifyWithinLimit(file));
    code = Worse(code, CodeOf(all.back()));
    if (!options.json) std::cout << report::VerifyLine(all.back()) << std::flush;
  }
  if (options.json) std::cout << report::JsonVerify(all) << std::flush;
  return code;
}

}  // namespace

void DefineVerify(CLI::App& app, const Invocation& /*invocation*/, int& exit_code) {
  auto options = std::make_shared<VerifyOptions>();
  app.description(kVerifyDescription);
  app.footer(kVerifyExamples);
  app.add_option("FILE", options->files,
                 "Traces that memtrace run wrote, or memory snapshots of torch")
      ->required()
      ->group("Input");
  app.add_flag("--json", options->json, "Print JSON (schema memtrace.verify/1) instead of text")
      ->group("Output");
  app.callback([options, &exit_code] { exit_code = VerifyAll(*options); });
}

}  // namespace memtrace::command
