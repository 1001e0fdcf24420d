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

// The file that receives a page instead of text on the terminal.
struct PageOption {
  std::string file;  // empty: no page
  bool force = false;

  bool is_asked() const { return !file.empty(); }
  // Returns kInvalidArgument, with a sentence, if the file may not be written.
  absl::Status Check() const;
};

// Declares -o and -f, beside --json. \`option\` outlives the parse.
void AddPageOption(CLI::App& app, PageOption& option);

// Writes a page and prints a note. Returns kInvalidArgument, with a sentence, if that fails.
absl::Status WritePageFile(const std::string& path, const std::string& html);

}  // namespace memtrace::command

#endif  // MEMTRACE_TOOLS_COMMAND_OUTPUTS_PAGE_FILE_H_
