// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/room/card_name.h"

#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/environment.h"

namespace memtrace {
namespace {

// Returns the inode of the ledger by which the processes of one launch share simulated cards; 0 if
// there is none.
uint64_t LaunchOfCards() {
  struct stat file {};
  const std::string path(env::Text(env::kCardShared));
  return !path.empty() && stat(path.c_str(), &file) == 0 ? file.st_ino : 0;
}

}  // namespace

std::string CardName::NameOfProcess() const {
  uint64_t random = 0;
  if (getrandom(&random, sizeof(random), 0) < 0) random = 0;
  return absl::StrCat(prefix, getpid(), ".", absl::Hex(random));
}

std::vector<std::string> CardName::Listeners() const {
  std::ostringstream text;
  text << std::ifstream("/proc/net/unix").rdbuf();
  return NamesIn(text.str(), prefix);
}

std::optional<CardName> NameOf(DeviceIndex device, bool is_simulated) {
  const uint64_t launch = is_simulated ? LaunchOfCards() : 0;
  if (is_simulated && launch == 0) return std::nullopt;
  const auto uuid = UuidOf(device);
  if (!uuid.ok()) return std::nullopt;
  const std::string bytes(uuid->begin(), uuid->end());
  CardName name{.uuid = *uuid, .prefix = {}};
  name.prefix = absl::StrCat("memtrace-room.", geteuid(), ".", absl::BytesToHexString(bytes));
  if (launch != 0) absl::StrAppend(&name.prefix, "-", launch);
  name.prefix += '.';
  return name;
}

// A line ends with the name, in which "@" stands for the zero byte of an abstract one. A socket
// that listens and each connection to it have a line.
std::vector<std::string> NamesIn(const std::string& text, const std::string& prefix) {
  std::vector<std::string> names;
  for (const std::string& line : std::vector<std::string>(absl::StrSplit(text, '\n'))) {
    const size_t at = line.rfind('@');
    if (at == std::string::npos || line.compare(at + 1, prefix.size(), prefix) != 0) continue;
    const std::string name = line.substr(at + 1);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

}  // namespace memtrace
