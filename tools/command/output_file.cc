// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command/output_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <vector>

namespace memtrace::command {
namespace {

namespace fs = std::filesystem;

std::vector<const OutputFile*>& Unfinished() {
  static std::vector<const OutputFile*> files;
  return files;
}

}  // namespace

OutputFile::OutputFile(std::string path)
    : path_(std::move(path)), temporary_(path_ + "." + std::to_string(getpid()) + ".tmp") {
  Unfinished().push_back(this);
}

void OutputFile::RemoveTemporaries() {
  for (const OutputFile* file : Unfinished()) unlink(file->temporary_.c_str());
}

absl::Status OutputFile::Refusal(const std::string& why) const {
  return absl::InvalidArgumentError("cannot write " + path_ + " (" + why +
                                    "); choose another file with -o");
}

OutputFile::~OutputFile() {
  std::error_code ignored;
  fs::remove(temporary_, ignored);
  std::erase(Unfinished(), this);
}

absl::Status OutputFile::Check(bool overwrite) const {
  std::error_code ignored;
  if (fs::is_directory(path_, ignored)) {
    return absl::InvalidArgumentError(path_ + " is a folder; name the file to write with -o");
  }
  if (fs::exists(fs::symlink_status(path_, ignored)) && !overwrite) {
    return absl::InvalidArgumentError(path_ +
                                      " exists already; -f overwrites it, -o names another file");
  }
  const std::string folder =
      fs::path(path_).has_parent_path() ? fs::path(path_).parent_path().string() : ".";
  if (access(folder.c_str(), W_OK | X_OK) != 0) return Refusal(std::strerror(errno));
  return absl::OkStatus();
}

absl::Status OutputFile::Keep() {
  std::error_code error;
  fs::rename(temporary_, path_, error);
  return error ? Refusal(error.message()) : absl::OkStatus();
}

absl::Status OutputFile::KeepText(const std::string& text) {
  std::ofstream file(temporary_, std::ios::binary);
  file << text;
  file.close();
  return file ? Keep() : Refusal(std::strerror(errno));
}

}  // namespace memtrace::command
