// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/torch/process_memory.h"

#include <c10/core/Allocator.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <type_traits>
#include <vector>

namespace memtrace::shim {
namespace {

// No wheel carries nvml.h: these are the declarations of NVIDIA's NVML API reference.
constexpr int kSuccess = 0;
constexpr int kInsufficientSize = 7;
constexpr unsigned long long kNotAvailable = ~0ull;  // of a process's bytes
struct ProcessInfo {                                 // nvmlProcessInfo_v1_t
  unsigned int pid;
  unsigned long long bytes;
};

struct Nvml {
  int (*init)();
  int (*device_by_pci_id)(const char* id, void** device);
  int (*compute_processes)(void* device, unsigned int* count, ProcessInfo* infos);

  // Null where there is none.
  static const Nvml* Get() {
    static const Nvml kNvml = Load();
    return kNvml.init != nullptr ? &kNvml : nullptr;
  }

 private:
  static Nvml Load() {
    Nvml nvml{};
    void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return nvml;
    const auto find = [library](const char* name, auto& function) {
      function =
          reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      return function != nullptr;
    };
    const bool has_all = find("nvmlDeviceGetHandleByPciBusId_v2", nvml.device_by_pci_id) &&
                         find("nvmlDeviceGetComputeRunningProcesses", nvml.compute_processes) &&
                         find("nvmlInit_v2", nvml.init);
    if (!has_all || nvml.init() != kSuccess) nvml.init = nullptr;
    return nvml;
  }
};

void* FindDevice(const Nvml& nvml, int index) {
  cudaDeviceProp properties{};
  if (cudaGetDeviceProperties(&properties, index) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());  // nobody is to find it later
    return nullptr;
  }
  std::array<char, 32> id{};
  std::snprintf(
      id.data(), id.size(), "%08X:%02X:%02X.0", static_cast<unsigned>(properties.pciDomainID),
      static_cast<unsigned>(properties.pciBusID), static_cast<unsigned>(properties.pciDeviceID));
  void* device = nullptr;
  return nvml.device_by_pci_id(id.data(), &device) == kSuccess ? device : nullptr;
}

// NVML says how many there are if there is too little room; meanwhile another may have come.
std::vector<ProcessInfo> ProcessesOn(const Nvml& nvml, void* device) {
  std::vector<ProcessInfo> processes(8);
  int result = kInsufficientSize;
  for (int attempt = 0; attempt < 4 && result == kInsufficientSize; ++attempt) {
    auto count = static_cast<unsigned int>(processes.size());
    result = nvml.compute_processes(device, &count, processes.data());
    processes.resize(count);
  }
  if (result != kSuccess) processes.clear();
  return processes;
}

}  // namespace

std::string DescribeProcesses(c10::DeviceIndex device) {
  std::string text;
  const Nvml* nvml = Nvml::Get();
  void* found = nvml == nullptr ? nullptr : FindDevice(*nvml, device);
  if (found == nullptr) return text;
  const auto own = static_cast<unsigned int>(getpid());
  for (const ProcessInfo& process : ProcessesOn(*nvml, found)) {
    if (process.bytes == kNotAvailable) continue;
    text += process.pid == own ? "Including non-PyTorch memory, this process"
                               : "Process " + std::to_string(process.pid);
    text += " has " + c10::CachingAllocator::format_size(process.bytes) + " memory in use. ";
  }
  return text;
}

}  // namespace memtrace::shim
