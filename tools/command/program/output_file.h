// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_COMMAND_PROGRAM_OUTPUT_FILE_H_
#define MEMTRACE_TOOLS_COMMAND_PROGRAM_OUTPUT_FILE_H_

#include <string>

#include "absl/status/status.h"

namespace memtrace::command {

// A file that a verb makes: all of it or nothing. It is written under another name beside its own
// and renamed at the end; until then what is there stays, and a refusal leaves nothing behind. A
// pipe or a device is not replaced: what was written elsewhere is copied into it.
class OutputFile {
 public:
  explicit OutputFile(std::string path);
  ~OutputFile();  // removes what was not kept
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // Removes what is not kept yet, of all of them: before the process ends without their
  // destructors. Asks for no memory.
  static void RemoveTemporaries();

  // Whether it may be written. kInvalidArgument: it is a folder, there is none for it to lie in,
  // that folder cannot be written to, or it exists and is not to be overwritten.
  absl::Status Check(bool overwrite) const;

  // What to write to: does not exist yet.
  const std::string& temporary() const { return temporary_; }

  // Gives it its name, replacing what has it. kUnavailable, a sentence: it could not be written.
  absl::Status Keep();
  // Writes all of it, and Keep(). Errors: as of Keep.
  absl::Status KeepText(const std::string& text);

 private:
  std::string Refusal(const std::string& why) const;
  absl::Status CopyTo() const;

  std::string path_;
  std::string temporary_;
};

}  // namespace memtrace::command

#endif  // MEMTRACE_TOOLS_COMMAND_PROGRAM_OUTPUT_FILE_H_
