// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/launch/program_file.h"

#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_split.h"
#include "base/environment.h"

namespace memtrace::launch {
namespace {

namespace fs = std::filesystem;

bool IsFile(const std::string& path) {
  std::error_code ignored;
  return fs::exists(path, ignored) && !fs::is_directory(path, ignored);
}

bool IsExecutable(const std::string& path) { return access(path.c_str(), X_OK) == 0; }

absl::StatusOr<std::string> CheckedPath(const std::string& path) {
  if (!IsFile(path)) return absl::NotFoundError("there is no program " + path);
  if (IsExecutable(path)) return path;
  return absl::PermissionDeniedError(path + " is not executable" + HintForScript(path));
}

bool IsPythonName(const std::string& name) {
  return name.rfind("python", 0) == 0 || name.rfind("pypy", 0) == 0;
}

}  // namespace

std::string HintForScript(const std::string& name) {
  if (!name.ends_with(".py")) return "";
  return "; it is a Python script: write memtrace run -- python " + name;
}

absl::StatusOr<std::string> FindProgram(const std::string& name) {
  if (name.find('/') != std::string::npos) return CheckedPath(name);
  const char* path = env::Pointer(env::kPath);
  const std::vector<std::string> folders =
      absl::StrSplit(path == nullptr ? "/usr/bin:/bin" : path, ':');
  for (const std::string& folder : folders) {
    std::string candidate = (folder.empty() ? "." : folder) + "/" + name;
    if (IsFile(candidate) && IsExecutable(candidate)) return candidate;
  }
  return absl::NotFoundError("command not found: " + name + " (not in PATH)" + HintForScript(name));
}

bool IsPythonInterpreter(const std::string& path) {
  std::error_code error;
  const fs::path resolved = fs::canonical(path, error);
  return IsPythonName(fs::path(path).filename().string()) ||
         (!error && IsPythonName(resolved.filename().string()));
}

std::string OwnProgram() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).string();
}

bool IsElfFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, 4> magic{};
  file.read(magic.data(), magic.size());
  return file && std::string_view(magic.data(), magic.size()) ==
                     "\x7f"
                     "ELF";
}

std::optional<std::string> PythonScript(const std::vector<std::string>& command) {
  for (size_t i = 1; i < command.size(); ++i) {
    const std::string& word = command[i];
    if (word == "-" || word.empty()) return std::nullopt;
    if (word[0] != '-') return word;
    if (word == "--check-hash-based-pycs") {
      ++i;
    } else if (word[1] != '-') {
      // In a cluster of letters (-uc) the first of these takes the rest as its value, or the next
      // word.
      const size_t taker = word.find_first_of("cmWX", 1);
      if (taker == std::string::npos) continue;
      if (word[taker] == 'c' || word[taker] == 'm') return std::nullopt;
      if (taker + 1 == word.size()) ++i;
    }
  }
  return std::nullopt;
}

}  // namespace memtrace::launch
