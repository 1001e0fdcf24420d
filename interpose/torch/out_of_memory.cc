// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/torch/out_of_memory.h"

#include <c10/core/Allocator.h>
#include <c10/core/Device.h>
#include <c10/util/Exception.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>
#include <type_traits>
#include <vector>

#include "interpose/torch/torch_views.h"

namespace memtrace::shim {
namespace {

// No wheel includes nvml.h: these are the declarations of NVIDIA's NVML API reference.
constexpr int kSuccess = 0;
constexpr int kInsufficientSize = 7;
constexpr unsigned long long kNotAvailable = ~0ull;  // instead of a process's bytes
struct ProcessInfo {                                 // nvmlProcessInfo_v1_t
  unsigned int pid;
  unsigned long long bytes;
};

struct Nvml {
  int (*init)();
  int (*device_by_pci_id)(const char* id, void** device);
  int (*compute_processes)(void* device, unsigned int* count, ProcessInfo* infos);

  // Returns null if there is no NVML.
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
  std::array<char, 32> id{};
  if (cudaDeviceGetPCIBusId(id.data(), static_cast<int>(id.size()), index) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());  // so that no later call reports it
    return nullptr;
  }
  void* device = nullptr;
  return nvml.device_by_pci_id(id.data(), &device) == kSuccess ? device : nullptr;
}

// If there is too little room, NVML tells how many there are, but another may start before the next
// try.
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

// Returns torch's text about the processes on a full card: "Including non-PyTorch memory, this
// process has 600.00 MiB memory in use. Process 71 has ...". Empty if NVML is missing or does not
// tell. Any thread; no lock of ours may be held.
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
    text += " has " + c10::CachingDeviceAllocator::format_size(process.bytes) + " memory in use. ";
  }
  return text;
}

}  // namespace

void ThrowOutOfMemory(const memtrace_out_of_memory& out_of_memory) {
  using c10::CachingDeviceAllocator::format_size;
  const auto device = static_cast<c10::DeviceIndex>(out_of_memory.device);
  // Free memory of private pools counts as allocated, as in torch, because only they can use it.
  const uint64_t in_pools =
      std::min(FreeInPrivatePools(device), out_of_memory.reserved - out_of_memory.live_allocated);
  const uint64_t allocated = out_of_memory.live_allocated + in_pools;
  std::string pools;
  if (in_pools > 0) {
    pools = "with " + format_size(in_pools) + " allocated in private pools (e.g., CUDA Graphs), ";
  }
  std::string allowed;
  if (out_of_memory.limit < out_of_memory.device_total) {
    allowed = format_size(out_of_memory.limit) + " allowed; ";
  }
  TORCH_CHECK_WITH(OutOfMemoryError, false, "CUDA out of memory. Tried to allocate ",
                   format_size(out_of_memory.requested), ". GPU ", out_of_memory.device,
                   " has a total capacity of ", format_size(out_of_memory.device_total),
                   " of which ", format_size(out_of_memory.device_free), " is free. ",
                   DescribeProcesses(device), allowed, "Of the allocated memory ",
                   format_size(allocated), " is allocated by PyTorch, ", pools, "and ",
                   format_size(out_of_memory.reserved - allocated),
                   " is reserved by PyTorch but unallocated.\n", out_of_memory.explanation);
}

}  // namespace memtrace::shim
