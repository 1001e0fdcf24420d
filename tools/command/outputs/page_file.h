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

// The file that receives a page or a picture instead of text on the terminal.
struct PageOption {
  std::string file;  // empty: no page
  bool force = false;

  bool is_asked() const { return !file.empty(); }
  bool is_picture() const { return is_svg() || is_png(); }
  bool is_svg() const { return file.ends_with(".svg"); }
  bool is_png() const { return file.ends_with(".png"); }
  // Returns kInvalidArgument, with a sentence, if the file may not be written.
  absl::Status Check() const;
};

// Declares -o and -f, beside --json. `option` outlives the parse.
void AddPageOption(CLI::App& app, PageOption& option);
// The same for a verb that can also draw a picture.
void AddPageOrPictureOption(CLI::App& app, PageOption& option);

// Returns kInvalidArgument, with a sentence, if a picture is requested of what needs a page.
absl::Status CheckIsPage(const PageOption& option);

// Writes a page and prints a note. Returns kInvalidArgument, with a sentence, if that fails.
absl::Status WritePageFile(const std::string& path, const std::string& html);
// The same for a picture.
absl::Status WritePictureFile(const std::string& path, const std::string& picture);

}  // namespace memtrace::command

#endif  // MEMTRACE_TOOLS_COMMAND_OUTPUTS_PAGE_FILE_H_
