// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/trials/scratch_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "messages/message.h"

namespace memtrace::fit {

namespace fs = std::filesystem;

absl::StatusOr<ScratchFolder> ScratchFolder::Make() {
  std::error_code error;
  const fs::path temporary = fs::temp_directory_path(error);
  std::string name = ((error ? fs::path("/tmp") : temporary) / "memtrace-fit-XXXXXX").string();
  if (mkdtemp(name.data()) != nullptr) return ScratchFolder(name);
  return absl::UnavailableError(
      Message("cannot make a folder like $0 ($1); set TMPDIR to a folder that can be written", name,
              std::strerror(errno)));
}

ScratchFolder::ScratchFolder(ScratchFolder&& other) noexcept
    : path_(std::exchange(other.path_, fs::path())) {}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

}  // namespace memtrace::fit
