// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command/outputs/fleet_table.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <system_error>

#include "messages/message.h"
#include "tools/command/program/exit_code.h"
#include "tools/command/program/output_file.h"
#include "tools/command/program/program.h"
#include "tools/fleet/fleet_rows.h"
#include "tools/fleet/trace_walk.h"
#include "tools/launch/child_process.h"
#include "tools/launch/package_program.h"
#include "tools/report/words/quantity.h"

namespace memtrace::command {
namespace {

namespace fs = std::filesystem;

constexpr const char* kModule = "memtrace._fleet";

int Refuse(const absl::Status& status, int exit_code) {
  Note(std::string(status.message()));
  return exit_code;
}

bool IsFolder(const std::string& folder) {
  std::error_code error;
  if (fs::is_directory(folder, error)) return true;
  Note(Message("there is no folder $0", folder));
  return false;
}

void NoteProblems(const fleet::Tally& tally) {
  for (const std::string& problem : tally.problems) Note(problem);
  const uint64_t more = tally.with_problems - tally.problems.size();
  if (more > 0)
    Note(CountedMessage(more, "and 1 more file has a problem, which its row states",
                        "and $0 more files have problems, which their rows state",
                        report::FormatCount(more)));
}

int CodeOf(const fleet::Tally& tally) {
  if (tally.with_figures == 0) return kUnreadable;
  return tally.with_problems == 0 ? kDone : kPartial;
}

int NoteNoTrace(const std::string& folder) {
  Note(Message("there is no trace in $0 and its subfolders", folder));
  return kUnreadable;
}

void NoteWritten(const fleet::Tally& tally, const std::string& path) {
  Note(CountedMessage(
      tally.rows, "wrote $0 with 1 trace; memtrace fleet query --list lists questions about it",
      "wrote $0 with $1 traces; memtrace fleet query --list lists questions about them", path,
      report::FormatCount(tally.rows)));
}

}  // namespace

int RunFleetProgram(const std::vector<std::string>& arguments) {
  const absl::StatusOr<launch::LaunchPlan> plan = launch::PlanPackageProgram(kModule, arguments);
  if (!plan.ok()) return Refuse(plan.status(), kEnvironment);
  std::cout << std::flush;
  const absl::StatusOr<launch::ExitStatus> ended = launch::RunToEnd(*plan);
  return ended.ok() ? ended->code : Refuse(ended.status(), kEnvironment);
}

int PrintFleet(const std::string& folder) {
  if (!IsFolder(folder)) return kUnreadable;
  const fleet::Tally tally = fleet::WriteRows(fleet::FindFiles(folder), std::cout);
  std::cout << std::flush;
  if (tally.rows == 0) return NoteNoTrace(folder);
  NoteProblems(tally);
  return CodeOf(tally);
}

int WriteFleet(const std::string& folder, const std::string& path, bool overwrite) {
  if (!IsFolder(folder)) return kUnreadable;
  OutputFile table(path);
  if (const absl::Status wrong = table.Check(overwrite); !wrong.ok()) return Refuse(wrong, kUsage);
  if (const int code = RunFleetProgram({"check"}); code != kDone) return code;
  const OutputFile rows(table.temporary() + ".rows");
  std::ofstream stream(rows.temporary(), std::ios::binary);
  const fleet::Tally tally = fleet::WriteRows(fleet::FindFiles(folder), stream);
  stream.close();
  if (!stream) {
    Note(Message("cannot write $0 ($1); choose another file with -o", path, std::strerror(errno)));
    return kEnvironment;
  }
  if (tally.rows == 0) return NoteNoTrace(folder);
  const int code = RunFleetProgram({"write", rows.temporary(), table.temporary(), path});
  if (code != kDone) return code;
  if (const absl::Status kept = table.Keep(); !kept.ok()) return Refuse(kept, kEnvironment);
  NoteProblems(tally);
  NoteWritten(tally, path);
  return CodeOf(tally);
}

}  // namespace memtrace::command
