// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_COMMAND_OUTPUT_FILE_H_
#define MEMTRACE_TOOLS_COMMAND_OUTPUT_FILE_H_

#include <string>

#include "absl/status/status.h"

namespace memtrace::command {

// A file that a verb makes: all of it or nothing. It is written under another name beside its own
// and renamed at the end; until then what is there stays, and a refusal leaves nothing behind.
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

  // What to write to, in the same folder: does not exist yet.
  const std::string& temporary() const { return temporary_; }

  // kInvalidArgument, a sentence: it cannot be written, `why`.
  absl::Status Refusal(const std::string& why) const;

  // Gives it its name, replacing what has it.
  absl::Status Keep();
  // Writes all of it, and Keep(). kInvalidArgument: a sentence.
  absl::Status KeepText(const std::string& text);

 private:
  std::string path_;
  std::string temporary_;
};

}  // namespace memtrace::command

#endif  // MEMTRACE_TOOLS_COMMAND_OUTPUT_FILE_H_
