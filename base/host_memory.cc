// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "base/host_memory.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <string_view>

namespace memtrace {
namespace {

// How the kernel shows groups of one version. `cache`: a line of memory.stat, the bytes of files
// that were not used lately, which the kernel drops before it refuses memory.
struct GroupFiles {
  std::string_view folder;
  std::string_view limit;
  std::string_view used;
  std::string_view cache;
};
constexpr GroupFiles kFirst{"/sys/fs/cgroup/memory", "memory.limit_in_bytes",
                            "memory.usage_in_bytes", "total_inactive_file"};
constexpr GroupFiles kSecond{"/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"};

// Returns the file's number; nothing if there is none ("max" is no limit).
std::optional<Bytes> NumberIn(const std::string& path) {
  Bytes number = 0;
  if (std::ifstream(path) >> number) return number;
  return std::nullopt;
}

// Returns the number after a word of the file; 0 if the word is not there.
Bytes NumberAfter(std::string_view word, const std::string& path) {
  std::ifstream file(path);
  for (std::string read; file >> read;) {
    Bytes number = 0;
    if (read == word && file >> number) return number;
  }
  return 0;
}

void Narrow(HostMemory& memory, const std::string& folder, const GroupFiles& files) {
  const auto limit = NumberIn(folder + "/" + std::string(files.limit));
  const auto used = NumberIn(folder + "/" + std::string(files.used));
  if (!limit || !used) return;
  const Bytes cache = std::min(*used, NumberAfter(files.cache, folder + "/memory.stat"));
  memory.total = std::min(memory.total, *limit);
  memory.available = std::min(memory.available, *limit - std::min(*limit, *used - cache));
}

// Narrows by a group and by all groups that it is in. In a container that does not see the
// machine's groups, only the outermost folder is there, and it is the container's own.
void NarrowByGroups(HostMemory& memory, const std::string& root, std::string group,
                    const GroupFiles& files) {
  const std::string folder = root + std::string(files.folder);
  while (group.size() > 1) {
    Narrow(memory, folder + group, files);
    group.resize(group.find_last_of('/'));
  }
  Narrow(memory, folder, files);
}

// Returns the controllers of a line such as "4:memory,pids:/job"; empty for version 2, "0::/job".
std::string_view ControllersOf(std::string_view line) {
  const size_t begin = line.find(':') + 1;
  return line.substr(begin, line.find(':', begin) - begin);
}

bool HasMemory(std::string_view controllers) {
  return ("," + std::string(controllers) + ",").find(",memory,") != std::string::npos;
}

}  // namespace

HostMemory ReadHostMemory(const std::string& root) {
  const std::string meminfo = root + "/proc/meminfo";
  HostMemory memory{NumberAfter("MemTotal:", meminfo) * 1_KiB,
                    NumberAfter("MemAvailable:", meminfo) * 1_KiB};
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const size_t path = line.find(":/");
    if (path == std::string::npos) continue;
    const std::string_view controllers = ControllersOf(line);
    const std::string group = line.substr(path + 1);
    if (controllers.empty()) NarrowByGroups(memory, root, group, kSecond);
    if (HasMemory(controllers)) NarrowByGroups(memory, root, group, kFirst);
  }
  return memory;
}

}  // namespace memtrace
