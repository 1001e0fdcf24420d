// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/recorded_text/trace_name.h"

#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <string_view>

#include "profiler/trace/events/amount.h"

namespace memtrace {
namespace {

constexpr std::array kRecordedEnvironment = {
    "PYTORCH_CUDA_ALLOC_CONF",
    "PYTORCH_ALLOC_CONF",
    "CUDA_VISIBLE_DEVICES",
    "RANK",
    "LOCAL_RANK",
    "WORLD_SIZE",
    "CUBLAS_WORKSPACE_CONFIG",
    "MEMTRACE_ALLOCATOR",
    "MEMTRACE_CARD",
    "MEMTRACE_KEEP",
    "TORCHELASTIC_RUN_ID",
    "TORCHELASTIC_RESTART_COUNT",
    "SLURM_JOB_ID",
    "SLURM_PROCID",
};

constexpr size_t kLongestStem = 100;  // a file's name has room for 255

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

// "train.py" -> "train"; what is no name for a file becomes '_'.
std::string Stem(std::string_view script) {
  std::string stem(script.substr(0, script.rfind(".py")).substr(0, kLongestStem));
  for (char& c : stem) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_';
    if (!plain) c = '_';
  }
  return stem.empty() ? "program" : stem;
}

// True if the driver that this process has is the simulated card.
bool HasSimulatedCard() {
  void* driver = dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_NOW);
  if (driver == nullptr) return false;
  const bool is_ours = dlsym(driver, "memtrace_card_check") != nullptr;
  dlclose(driver);
  return is_ours;
}

}  // namespace

std::string ChooseTraceName(const std::map<std::string, std::string>& info) {
  std::string chosen = Environment("MEMTRACE_OUTPUT");
  if (!chosen.empty()) return chosen;
  const auto script = info.find("script");
  const std::string stem = Stem(script != info.end() ? script->second : "");
  return "memtrace-" + stem + "." + std::to_string(getpid()) + ".trace";
}

absl::StatusOr<uint64_t> KeptBytes() {
  const std::string text = Environment("MEMTRACE_KEEP");
  if (text.empty()) return 0;
  if (const auto bytes = trace::BytesOf(text)) return *bytes;
  return absl::InvalidArgumentError("MEMTRACE_KEEP=" + text +
                                    " is no amount such as 256MiB or 1GiB");
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
  for (const char* name : kRecordedEnvironment) {
    const std::string value = Environment(name);
    if (!value.empty()) facts["environment." + std::string(name)] = value;
  }
  if (HasSimulatedCard()) {
    facts["card"] = Environment("MEMTRACE_CARD");
    facts["simulated"] = "1";
  }
  return facts;
}

}  // namespace memtrace
