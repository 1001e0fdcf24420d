// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command/program/output_file.h"

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

// True for a pipe or a device, or a link to one: it is written to, and never replaced.
bool IsPipeOrDevice(const std::string& path) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  return fs::is_character_file(status) || fs::is_fifo(status);
}

std::string TemporaryFor(const std::string& path) {
  std::error_code ignored;
  const std::string name = "." + std::to_string(getpid()) + ".tmp";
  return IsPipeOrDevice(path) ? fs::temp_directory_path(ignored) / ("memtrace" + name)
                              : fs::path(path + name);
}

}  // namespace

OutputFile::OutputFile(std::string path) : path_(std::move(path)), temporary_(TemporaryFor(path_)) {
  Unfinished().push_back(this);
}

void OutputFile::RemoveTemporaries() {
  for (const OutputFile* file : Unfinished()) unlink(file->temporary_.c_str());
}

std::string OutputFile::Refusal(const std::string& why) const {
  return "cannot write " + path_ + " (" + why + "); choose another file with -o";
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
  if (IsPipeOrDevice(path_)) {
    if (access(path_.c_str(), W_OK) == 0) return absl::OkStatus();
    return absl::InvalidArgumentError(Refusal(std::strerror(errno)));
  }
  const fs::file_status status = fs::symlink_status(path_, ignored);
  if (fs::exists(status) && !fs::is_regular_file(status) && !fs::is_symlink(status)) {
    return absl::InvalidArgumentError(Refusal("it is not a file, a pipe or a device"));
  }
  if (fs::exists(status) && !overwrite) {
    return absl::InvalidArgumentError(path_ +
                                      " exists already; -f overwrites it, -o names another file");
  }
  const std::string folder =
      fs::path(path_).has_parent_path() ? fs::path(path_).parent_path().string() : ".";
  if (access(folder.c_str(), W_OK | X_OK) == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(Refusal(std::strerror(errno)));
}

absl::Status OutputFile::Keep() {
  if (IsPipeOrDevice(path_)) return CopyTo();
  std::error_code error;
  fs::rename(temporary_, path_, error);
  return error ? absl::UnavailableError(Refusal(error.message())) : absl::OkStatus();
}

absl::Status OutputFile::CopyTo() const {
  std::ifstream from(temporary_, std::ios::binary);
  std::ofstream to(path_, std::ios::binary);
  if (from.peek() != std::ifstream::traits_type::eof()) to << from.rdbuf();
  to.close();
  return to ? absl::OkStatus() : absl::UnavailableError(Refusal(std::strerror(errno)));
}

absl::Status OutputFile::KeepText(const std::string& text) {
  std::ofstream file(temporary_, std::ios::binary);
  file << text;
  file.close();
  return file ? Keep() : absl::UnavailableError(Refusal(std::strerror(errno)));
}

}  // namespace memtrace::command
