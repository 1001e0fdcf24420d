// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/outside/launch_processes.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
#include <system_error>

#include "base/mutex.h"

namespace memtrace {
namespace {

constexpr int kMostAncestors = 64;
constexpr size_t kMostProcesses = 64;  // more are left out and count as unrelated

std::string ReadProc(pid_t pid, const char* name) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::optional<pid_t> NumberAt(std::string_view text) {
  pid_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end != text.data() ? std::optional(number) : std::nullopt;
}

// The program's name, in parentheses before the state, may contain any character.
std::optional<pid_t> ParentOf(pid_t pid) {
  const std::string stat = ReadProc(pid, "stat");
  const size_t name_end = stat.rfind(") ");
  if (name_end == std::string::npos || stat.size() < name_end + 5) return std::nullopt;
  return NumberAt(std::string_view(stat).substr(name_end + 4));
}

bool IsAncestor(pid_t ancestor, pid_t pid) {
  for (int i = 0; i < kMostAncestors; ++i) {
    const std::optional<pid_t> parent = ParentOf(pid);
    if (!parent || *parent <= 1) return false;
    if (*parent == ancestor) return true;
    pid = *parent;
  }
  return false;
}

// /proc shows the environment as it was when the process began.
std::optional<pid_t> RankOf(pid_t pid) {
  constexpr std::string_view kRank = "RANK=";
  const std::string environment = ReadProc(pid, "environ");
  for (size_t at = 0; at < environment.size();) {
    const size_t end = std::min(environment.find('\0', at), environment.size());
    const std::string_view entry = std::string_view(environment).substr(at, end - at);
    if (entry.starts_with(kRank)) return NumberAt(entry.substr(kRank.size()));
    at = end + 1;
  }
  return std::nullopt;
}

// torch names the threads of its DataLoader's workers.
bool IsDataWorker(pid_t pid) { return ReadProc(pid, "comm").starts_with("pt_data_worker"); }

std::string FindRelation(pid_t pid) {
  if (IsAncestor(getpid(), pid)) return IsDataWorker(pid) ? "data_worker" : "worker";
  if (IsAncestor(pid, getpid())) return "parent";
  const std::optional<pid_t> rank = RankOf(pid);
  return rank ? "rank " + std::to_string(*rank) : "process";
}

}  // namespace

std::string RelationTo(pid_t pid) {
  static auto& known = *new std::map<pid_t, std::string>;
  static auto& mutex = *new Mutex;
  const MutexLock lock(mutex);
  const auto found = known.find(pid);
  if (found != known.end()) return found->second;
  return known[pid] = FindRelation(pid);
}

std::string LaunchProcessesText(std::vector<LaunchProcess> processes) {
  std::stable_sort(
      processes.begin(), processes.end(),
      [](const LaunchProcess& a, const LaunchProcess& b) { return a.bytes > b.bytes; });
  processes.resize(std::min(processes.size(), kMostProcesses));
  std::string text;
  for (const LaunchProcess& process : processes) {
    text += (text.empty() ? "" : ";") + std::to_string(process.pid) + " " +
            std::to_string(process.bytes) + " " + RelationTo(process.pid);
  }
  return text;
}

}  // namespace memtrace
