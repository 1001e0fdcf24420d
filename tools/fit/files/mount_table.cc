// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/files/mount_table.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <system_error>

#include "absl/strings/str_split.h"

namespace memtrace::fit {
namespace {

constexpr std::array<std::string_view, 20> kKernels = {
    "autofs", "binfmt_misc", "bpf",        "cgroup",     "cgroup2",   "configfs", "debugfs",
    "devpts", "devtmpfs",    "efivarfs",   "fusectl",    "hugetlbfs", "mqueue",   "nsfs",
    "proc",   "pstore",      "rpc_pipefs", "securityfs", "sysfs",     "tracefs"};

bool IsOctal(char letter) { return letter >= '0' && letter <= '7'; }

// Resolves escapes: the kernel writes blanks and backslashes as "\040".
std::string Unescaped(std::string_view text) {
  constexpr size_t kDigits = 3;
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    const std::string_view digits = text.substr(i + 1, kDigits);
    const bool is_escaped = text[i] == '\\' && digits.size() == kDigits &&
                            std::all_of(digits.begin(), digits.end(), IsOctal);
    plain += is_escaped ? static_cast<char>(std::stoi(std::string(digits), nullptr, 8)) : text[i];
    if (is_escaped) i += kDigits;
  }
  return plain;
}

bool HasReadOnly(const std::string& options) {
  const std::vector<std::string> words = absl::StrSplit(options, ',');
  return std::find(words.begin(), words.end(), "ro") != words.end();
}

}  // namespace

std::vector<Mount> ParseMountTable(const std::string& text) {
  constexpr size_t kPath = 4;
  constexpr size_t kOptions = 5;
  std::map<std::string, Mount> by_path;
  const std::vector<std::string> lines = absl::StrSplit(text, '\n');
  for (const std::string& line : lines) {
    const std::vector<std::string> words = absl::StrSplit(line, ' ');
    const auto dash = std::find(words.begin(), words.end(), "-");
    if (words.size() <= kOptions || words.end() - dash < 4) continue;
    const std::string path = Unescaped(words[kPath]);
    by_path[path] = {.path = path,
                     .type = dash[1],
                     .is_read_only = HasReadOnly(words[kOptions]) || HasReadOnly(dash[3])};
  }
  std::vector<Mount> mounts;
  mounts.reserve(by_path.size());
  for (auto& [path, mount] : by_path) mounts.push_back(std::move(mount));
  return mounts;
}

bool IsKernelFileSystem(const Mount& mount) {
  return IsWithin(mount.path, "/dev") || IsWithin(mount.path, "/proc") ||
         IsWithin(mount.path, "/sys") ||
         std::find(kKernels.begin(), kKernels.end(), mount.type) != kKernels.end();
}

bool IsWithin(std::string_view path, std::string_view folder) {
  if (folder == "/" || path == folder) return true;
  return path.size() > folder.size() && path.substr(0, folder.size()) == folder &&
         path[folder.size()] == '/';
}

std::filesystem::path WithoutLinks(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::path found = std::filesystem::weakly_canonical(path, error);
  return error ? path.lexically_normal() : found;
}

}  // namespace memtrace::fit
