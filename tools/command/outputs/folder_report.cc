// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command/outputs/folder_report.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <system_error>
#include <utility>

#include "messages/message.h"
#include "tools/analysis/jobs/job.h"
#include "tools/analysis/process_view.h"
#include "tools/command/inputs/memory_limit.h"
#include "tools/command/inputs/trace_input.h"
#include "tools/command/outputs/page_file.h"
#include "tools/command/program/exit_code.h"
#include "tools/command/program/program.h"
#include "tools/report/page/job_page.h"
#include "tools/report/processes_json.h"
#include "tools/report/processes_report.h"
#include "tools/report/words/text_document.h"

namespace memtrace::command {
namespace {

namespace fs = std::filesystem;

analysis::ProcessView Unreadable(const std::string& file, const std::string& why) {
  analysis::ProcessView view;
  view.file = file;
  view.unreadable = why;
  return view;
}

analysis::ProcessView Read(const std::string& file) {
  const absl::StatusOr<TraceInput> input = TraceInput::Open(file);
  if (!input.ok()) return Unreadable(file, std::string(input.status().message()));
  const analysis::Explanation explanation = analysis::ExplainFirstFailure(*input);
  // Facts() would look for siblings, so that each file of a folder would read every other one.
  return analysis::ViewOf(explanation,
                          analysis::ReadRunFacts(file, input->info(), explanation.run.annotations,
                                                 input->completeness()),
                          *input);
}

analysis::ProcessView View(const std::string& file) {
  if (KeepsToMemoryLimit(file, [&file] { Read(file); })) return Read(file);
  return Unreadable(file, kTooMuchMemory);
}

int CodeOf(const std::vector<analysis::ProcessView>& views) {
  const auto readable =
      std::count_if(views.begin(), views.end(),
                    [](const analysis::ProcessView& view) { return view.is_readable(); });
  if (readable == 0) return kUnreadable;
  const bool all_whole =
      std::all_of(views.begin(), views.end(), [](const analysis::ProcessView& view) {
        return view.is_readable() && view.run.completeness.whole();
      });
  return all_whole ? kDone : kPartial;
}

// Returns, by process, the name of the page of its trace if that lies beside the page to write, as
// memtrace report -o rank-0.html rank-0.trace leaves it; empty if there is none.
std::vector<std::string> PagesBeside(const FolderReport& report, const analysis::Job& job) {
  std::vector<std::string> pages;
  for (const analysis::ProcessView& view : job.processes) {
    const std::string name = fs::path(view.file).stem().string() + ".html";
    const fs::path page = fs::path(report.page).parent_path() / name;
    std::error_code ignored;
    const bool is_there =
        fs::is_regular_file(page, ignored) && !fs::equivalent(page, fs::path(report.page), ignored);
    pages.push_back(is_there ? name : "");
  }
  return pages;
}

// Returns the next command: for the process that failed first, one of the fullest kind, or the
// first one that can be read.
std::string NextLine(const analysis::Job& job) {
  const std::vector<analysis::ProcessView>& views = job.processes;
  auto next = analysis::FirstToFail(views);
  if (!next && !job.kinds.empty()) next = job.kinds.front().first();
  for (size_t i = 0; i < views.size() && !next; ++i)
    if (views[i].is_readable()) next = i;
  if (!next) return "";
  const std::string command = "memtrace report " + views[*next].file;
  return "\n" + Message("to see what holds the memory: $0", command) + "\n";
}

std::string Text(const FolderReport& report, const analysis::Job& job) {
  std::string text =
      report::TextOf(report::ProcessesDocument(report.folder, job, report.verbose)) + NextLine(job);
  if (report.verbose || job.comparisons.empty()) return text;
  const std::string command = "memtrace report --verbose " + report.folder;
  return text + Message("to see all kinds and all causes: $0", command) + "\n";
}

}  // namespace

int ReportFolder(const FolderReport& report) {
  std::vector<analysis::ProcessView> views;
  views.reserve(report.traces.size());
  for (const std::string& file : report.traces) views.push_back(View(file));
  const analysis::Job job = analysis::JobOf(std::move(views));
  if (!report.page.empty()) {
    const absl::Status written =
        WritePageFile(report.page, report::JobPage(report.folder, job, PagesBeside(report, job)));
    return written.ok() ? CodeOf(job.processes) : RefuseResult(written);
  }
  std::cout << (report.json ? report::JsonProcesses(report.folder, job) : Text(report, job))
            << std::flush;
  return CodeOf(job.processes);
}

}  // namespace memtrace::command
