// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// NVML, as far as torch and pynvml ask it what cards there are, how full they are, and who uses
// them. torch 2.15 calls nvmlInit_v2 unseen, so without an NVML it crashes. No wheel carries
// nvml.h: the declarations are those of NVIDIA's NVML API reference.
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "interpose/simulated_card/interface/library_calls.h"

namespace memtrace::card {
namespace {

// Values of nvmlReturn_t.
constexpr int kSuccess = 0;
constexpr int kInvalidArgument = 2;
constexpr int kNotSupported = 3;
constexpr int kNotFound = 6;
constexpr int kInsufficientSize = 7;
constexpr int kDriverNotLoaded = 9;

// nvmlProcessInfo_v1_t, which the library's function without a version uses.
struct ProcessInfo {
  unsigned int pid;
  unsigned long long bytes;
};
// nvmlProcessInfo_v2_t, which versions 2 and 3 of the function use.
struct ProcessInfoOfInstance {
  unsigned int pid;
  unsigned long long bytes;
  unsigned int gpu_instance;
  unsigned int compute_instance;
};
constexpr unsigned int kNoInstance = 0xFFFFFFFF;

// nvmlMemory_t and nvmlMemory_v2_t
struct Memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};
struct MemoryWithReserved {
  unsigned int version;
  unsigned long long total;
  unsigned long long reserved;
  unsigned long long free;
  unsigned long long used;
};

// nvmlUtilization_t, percent
struct Utilization {
  unsigned int gpu;
  unsigned int memory;
};

// A card's handle is its index, counted from 1; never null.
void* HandleOf(int card) { return reinterpret_cast<void*>(static_cast<intptr_t>(card) + 1); }

int CardOf(void* handle) { return static_cast<int>(reinterpret_cast<intptr_t>(handle)) - 1; }

// Runs answer(card) if the card exists.
template <typename Answer>
int OfCard(void* handle, bool has_room, Answer answer) {
  memtrace_card_installed card;
  if (!has_room || !memtrace_card_describe_installed(CardOf(handle), &card))
    return kInvalidArgument;
  return answer(card);
}

int GiveText(std::string_view text, char* room, unsigned int length) {
  if (room == nullptr) return kInvalidArgument;
  if (length <= text.size()) return kInsufficientSize;
  *std::copy(text.begin(), text.end(), room) = '\0';
  return kSuccess;
}

int GiveHandle(int card, void** handle) {
  if (handle == nullptr) return kInvalidArgument;
  if (card < 0 || card >= memtrace_card_installed_count()) return kNotFound;
  *handle = HandleOf(card);
  return kSuccess;
}

// Returns this process, if it uses the card, then the others of the launch. The bytes of the card's
// setting `other` belong to no process.
std::vector<memtrace_card_process> ProcessesOn(int index, const memtrace_card_installed& card) {
  std::vector<memtrace_card_process> others(memtrace_card_other_processes(index, nullptr, 0));
  const std::size_t now = memtrace_card_other_processes(index, others.data(), others.size());
  others.resize(std::min(now, others.size()));  // one may have ended since
  if (card.has_context == 0) return others;
  memtrace_card_process own = {.bytes = card.own, .process = static_cast<std::uint32_t>(getpid())};
  std::erase_if(others, [&](const memtrace_card_process& other) {
    const bool is_own = other.process == own.process;  // its memory that others still hold
    if (is_own) own.bytes += other.bytes;
    return is_own;
  });
  others.insert(others.begin(), own);
  return others;
}

template <typename Info>
int GiveProcesses(void* handle, unsigned int* count, Info* infos, const Info& none) {
  return OfCard(handle, count != nullptr, [&](const memtrace_card_installed& card) {
    const std::vector<memtrace_card_process> processes = ProcessesOn(CardOf(handle), card);
    const unsigned int room = std::exchange(*count, static_cast<unsigned int>(processes.size()));
    if (*count > room) return kInsufficientSize;
    if (*count == 0) return kSuccess;
    if (infos == nullptr) return kInvalidArgument;
    std::transform(processes.begin(), processes.end(), infos, [&](const auto& process) {
      Info info = none;
      info.pid = process.process;
      info.bytes = process.bytes;
      return info;
    });
    return kSuccess;
  });
}

}  // namespace
}  // namespace memtrace::card

using namespace memtrace::card;  // NOLINT: this file defines C functions over that namespace

#pragma GCC visibility push(default)
// NOLINTBEGIN(readability-identifier-naming): NVML's names.
extern "C" {

int nvmlInit_v2() { return memtrace_card_installed_count() > 0 ? kSuccess : kDriverNotLoaded; }
int nvmlInit() { return nvmlInit_v2(); }
int nvmlInitWithFlags(unsigned int /*flags*/) { return nvmlInit_v2(); }
int nvmlShutdown() { return kSuccess; }

const char* nvmlErrorString(int result) {
  switch (result) {
    case kSuccess:
      return "Success";
    case kInvalidArgument:
      return "Invalid Argument";
    case kNotSupported:
      return "Not Supported";
    case kNotFound:
      return "Not Found";
    case kInsufficientSize:
      return "Insufficient Size";
    case kDriverNotLoaded:
      return "Driver Not Loaded";
    default:
      return "Unknown Error";
  }
}

int nvmlSystemGetDriverVersion(char* version, unsigned int length) {
  return GiveText("memtrace", version, length);
}

int nvmlDeviceGetCount_v2(unsigned int* count) {
  if (count == nullptr) return kInvalidArgument;
  *count = static_cast<unsigned int>(memtrace_card_installed_count());
  return kSuccess;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned int index, void** handle) {
  const int result = GiveHandle(static_cast<int>(index), handle);
  return result == kNotFound ? kInvalidArgument : result;
}

// "00000000:01:00.0"; the card's bus is its index, counted from 1 (device_attributes.cc).
int nvmlDeviceGetHandleByPciBusId_v2(const char* id, void** handle) {
  unsigned int domain = 0;
  unsigned int bus = 0;
  if (id == nullptr) return kInvalidArgument;
  // NOLINTNEXTLINE(bugprone-unchecked-string-to-number-conversion): both fields have a fixed width
  if (std::sscanf(id, "%8x:%2x:", &domain, &bus) != 2) return kInvalidArgument;
  return GiveHandle(static_cast<int>(bus) - 1, handle);
}

int nvmlDeviceGetHandleByUUID(const char* uuid, void** handle) {
  if (uuid == nullptr) return kInvalidArgument;
  int found = -1;
  memtrace_card_installed described;
  for (int card = 0; memtrace_card_describe_installed(card, &described); ++card) {
    if (std::strcmp(uuid, described.uuid) == 0) found = card;
  }
  return GiveHandle(found, handle);
}

int nvmlDeviceGetIndex(void* handle, unsigned int* index) {
  return OfCard(handle, index != nullptr, [&](const memtrace_card_installed&) {
    *index = static_cast<unsigned int>(CardOf(handle));
    return kSuccess;
  });
}

int nvmlDeviceGetName(void* handle, char* name, unsigned int length) {
  return OfCard(handle, name != nullptr, [&](const memtrace_card_installed& card) {
    return GiveText(card.name, name, length);
  });
}

int nvmlDeviceGetUUID(void* handle, char* uuid, unsigned int length) {
  return OfCard(handle, uuid != nullptr, [&](const memtrace_card_installed& card) {
    return GiveText(card.uuid, uuid, length);
  });
}

int nvmlDeviceGetCudaComputeCapability(void* handle, int* major, int* minor) {
  const bool has_room = major != nullptr && minor != nullptr;
  return OfCard(handle, has_room, [&](const memtrace_card_installed& card) {
    *major = card.compute_capability_major;
    *minor = card.compute_capability_minor;
    return kSuccess;
  });
}

int nvmlDeviceGetMemoryInfo(void* handle, Memory* memory) {
  return OfCard(handle, memory != nullptr, [&](const memtrace_card_installed& card) {
    *memory = {.total = card.total, .free = card.total - card.used, .used = card.used};
    return kSuccess;
  });
}

int nvmlDeviceGetMemoryInfo_v2(void* handle, MemoryWithReserved* memory) {
  return OfCard(handle, memory != nullptr, [&](const memtrace_card_installed& card) {
    *memory = {.version = memory->version,
               .total = card.total,
               .reserved = 0,
               .free = card.total - card.used,
               .used = card.used};
    return kSuccess;
  });
}

// Utilization is zero, because no kernel runs.
int nvmlDeviceGetUtilizationRates(void* handle, Utilization* utilization) {
  return OfCard(handle, utilization != nullptr, [&](const memtrace_card_installed&) {
    *utilization = {};
    return kSuccess;
  });
}

// The caller's struct says "not supported" unless this writes another state, and no card has a
// fabric.
int nvmlDeviceGetGpuFabricInfoV(void* /*handle*/, void* info) {
  return info == nullptr ? kInvalidArgument : kSuccess;
}

int nvmlDeviceGetComputeRunningProcesses(void* handle, unsigned int* count, ProcessInfo* infos) {
  return GiveProcesses(handle, count, infos, {});
}

int nvmlDeviceGetComputeRunningProcesses_v2(void* handle, unsigned int* count,
                                            ProcessInfoOfInstance* infos) {
  return GiveProcesses(
      handle, count, infos,
      {.pid = 0, .bytes = 0, .gpu_instance = kNoInstance, .compute_instance = kNoInstance});
}

int nvmlDeviceGetComputeRunningProcesses_v3(void* handle, unsigned int* count,
                                            ProcessInfoOfInstance* infos) {
  return nvmlDeviceGetComputeRunningProcesses_v2(handle, count, infos);
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
#pragma GCC visibility pop
