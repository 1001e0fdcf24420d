// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_COMMAND_OUTPUTS_FOLDER_REPORT_H_
#define MEMTRACE_TOOLS_COMMAND_OUTPUTS_FOLDER_REPORT_H_

#include <string>
#include <vector>

namespace memtrace::command {

struct FolderReport {
  std::string folder;
  std::vector<std::string> traces;
  bool json = false;
  bool verbose = false;  // print all kinds of ranks and all causes
  std::string page;      // to write, if not empty
};

// Prints the traces of a folder side by side; one that cannot be read is a row. Returns kPartial if
// one is damaged or unreadable, kUnreadable if all are.
int ReportFolder(const FolderReport& report);

}  // namespace memtrace::command

#endif  // MEMTRACE_TOOLS_COMMAND_OUTPUTS_FOLDER_REPORT_H_
