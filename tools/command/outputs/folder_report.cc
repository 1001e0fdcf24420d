// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command/outputs/folder_report.h"

#include <algorithm>
#include <iostream>

#include "messages/message.h"
#include "tools/analysis/process_view.h"
#include "tools/command/inputs/memory_limit.h"
#include "tools/command/inputs/trace_input.h"
#include "tools/command/outputs/page_file.h"
#include "tools/command/program/exit_code.h"
#include "tools/command/program/program.h"
#include "tools/report/page/page.h"
#include "tools/report/processes_report.h"
#include "tools/report/words/text_document.h"

namespace memtrace::command {
namespace {

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
                                                 input->completeness()));
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

// Returns the next command: for the process that failed first, or the first one that can be read.
std::string NextLine(const std::vector<analysis::ProcessView>& views) {
  auto next = analysis::FirstToFail(views);
  for (size_t i = 0; i < views.size() && !next; ++i)
    if (views[i].is_readable()) next = i;
  if (!next) return "";
  const std::string command = "memtrace report " + views[*next].file;
  return "\n" + Message("to see what holds the memory: $0", command) + "\n";
}

}  // namespace

int ReportFolder(const FolderReport& report) {
  std::vector<analysis::ProcessView> views;
  views.reserve(report.traces.size());
  for (const std::string& file : report.traces) views.push_back(View(file));
  analysis::ArrangeProcesses(views);
  const report::Document document = report::ProcessesDocument(report.folder, views);
  if (!report.page.empty()) {
    const absl::Status written =
        WritePageFile(report.page, report::PageOf(report.folder, document));
    return written.ok() ? CodeOf(views) : RefuseResult(written);
  }
  std::cout << (report.json ? report::JsonProcesses(report.folder, views)
                            : report::TextOf(document) + NextLine(views))
            << std::flush;
  return CodeOf(views);
}

}  // namespace memtrace::command
