// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_COMMAND_PROGRAM_OUTPUT_FILE_H_
#define MEMTRACE_TOOLS_COMMAND_PROGRAM_OUTPUT_FILE_H_

#include <string>

#include "absl/status/status.h"

namespace memtrace::command {

// A file that a verb makes: all of it or nothing. It is written under another name beside its own
// and renamed at the end. Until then an existing file stays, and a refusal leaves nothing behind. A
// pipe or a device is not replaced: the temporary file is copied into it.
class OutputFile {
 public:
  explicit OutputFile(std::string path);
  ~OutputFile();  // removes the temporary file
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // Removes the temporary files of all objects, before the process ends without their destructors.
  // Allocates no memory.
  static void RemoveTemporaries();

  // Returns kInvalidArgument if the file may not be written: it is a folder, its folder is missing
  // or not writable, or it exists and must not be overwritten.
  absl::Status Check(bool overwrite) const;

  // The path to write to, which does not exist yet.
  const std::string& temporary() const { return temporary_; }

  // Gives it its name, replacing an existing file. Returns kUnavailable, with a sentence, if that
  // fails.
  absl::Status Keep();
  // Writes the text and calls Keep(). Errors are those of Keep.
  absl::Status KeepText(const std::string& text);

 private:
  std::string Refusal(const std::string& why) const;
  absl::Status CopyTo() const;

  std::string path_;
  std::string temporary_;
};

}  // namespace memtrace::command

#endif  // MEMTRACE_TOOLS_COMMAND_PROGRAM_OUTPUT_FILE_H_
