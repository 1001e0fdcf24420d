// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_COMMAND_OUTPUTS_PAGE_FILE_H_
#define MEMTRACE_TOOLS_COMMAND_OUTPUTS_PAGE_FILE_H_

#include <string>

#include "absl/status/status.h"

namespace CLI {  // NOLINT(readability-identifier-naming): not ours
class App;
}

namespace memtrace::command {

// Where a page goes instead of text on the terminal.
struct PageOption {
  std::string file;  // empty: no page
  bool force = false;

  bool is_asked() const { return !file.empty(); }
  // Whether the file may be written. kInvalidArgument: a sentence.
  absl::Status Check() const;
};

// Declares -o and -f, beside --json. \`option\` outlives the parse.
void AddPageOption(CLI::App& app, PageOption& option);

// Writes a page, and says so. kInvalidArgument: a sentence.
absl::Status WritePageFile(const std::string& path, const std::string& html);

}  // namespace memtrace::command

#endif  // MEMTRACE_TOOLS_COMMAND_OUTPUTS_PAGE_FILE_H_
