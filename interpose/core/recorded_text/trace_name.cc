// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/recorded_text/trace_name.h"

#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <string_view>

#include "base/environment.h"
#include "profiler/trace/events/amount.h"

namespace memtrace {
namespace {

constexpr std::array kRecordedEnvironment = {
    env::kTorchCudaAllocConf,
    env::kTorchAllocConf,
    env::kCudaVisibleDevices,
    env::kRank,
    env::kLocalRank,
    env::kWorldSize,
    env::kRealRanks,
    env::kCublasWorkspaceConfig,
    env::kAllocator,
    env::kCard,
    env::kKeep,
    env::kElasticRunId,
    env::kElasticRestartCount,
    env::kSlurmJobId,
    env::kSlurmProcessId,
};

constexpr size_t kLongestStem = 100;  // a file's name may have 255 bytes

// "train.py" becomes "train"; a character that a file name cannot have becomes '_'.
std::string Stem(std::string_view script) {
  std::string stem(script.substr(0, script.rfind(".py")).substr(0, kLongestStem));
  for (char& c : stem) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_';
    if (!plain) c = '_';
  }
  return stem.empty() ? "program" : stem;
}

// True if the driver loaded in this process is the simulated card.
bool HasSimulatedCard() {
  void* driver = dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_NOW);
  if (driver == nullptr) return false;
  const bool is_ours = dlsym(driver, "memtrace_card_check") != nullptr;
  dlclose(driver);
  return is_ours;
}

}  // namespace

std::string ChooseTraceName(const std::map<std::string, std::string>& info) {
  std::string chosen(env::Text(env::kOutput));
  if (!chosen.empty()) return chosen;
  const auto script = info.find("script");
  const std::string stem = Stem(script != info.end() ? script->second : "");
  return "memtrace-" + stem + "." + std::to_string(getpid()) + ".trace";
}

absl::StatusOr<uint64_t> KeptBytes() {
  const std::string text(env::Text(env::kKeep));
  if (text.empty()) return 0;
  if (const auto bytes = trace::BytesOf(text)) return *bytes;
  return absl::InvalidArgumentError(std::string(env::kKeep.name()) + "=" + text +
                                    " is not an amount such as 256MiB or 1GiB");
}

std::map<std::string, std::string> ProcessFacts() {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  std::map<std::string, std::string> facts = {
      {"host", host.data()},
      {"pid", std::to_string(getpid())},
      {"ppid", std::to_string(getppid())},
      {"memtrace", MEMTRACE_VERSION},
      {"started_unix_ns",
       std::to_string(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count())},
  };
  for (const env::Variable variable : kRecordedEnvironment) {
    const std::string_view value = env::Text(variable);
    if (!value.empty()) facts[std::string("environment.") + variable.name()] = value;
  }
  if (HasSimulatedCard()) {
    facts["card"] = env::Text(env::kCard);
    facts["simulated"] = "1";
  }
  return facts;
}

}  // namespace memtrace
