// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FIT_TRIALS_SCRATCH_FOLDER_H_
#define MEMTRACE_TOOLS_FIT_TRIALS_SCRATCH_FOLDER_H_

#include <filesystem>

#include "absl/status/statusor.h"

namespace memtrace::fit {

// A folder that its destructor removes with all that is in it.
class ScratchFolder {
 public:
  // Makes one in the system's temporary folder. Returns kUnavailable, with a sentence.
  static absl::StatusOr<ScratchFolder> Make();

  ScratchFolder(ScratchFolder&& other) noexcept;
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder();

  const std::filesystem::path& path() const { return path_; }

 private:
  explicit ScratchFolder(std::filesystem::path path) : path_(std::move(path)) {}

  std::filesystem::path path_;  // empty after a move
};

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_TRIALS_SCRATCH_FOLDER_H_
