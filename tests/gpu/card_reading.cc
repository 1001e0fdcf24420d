// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/card_reading.h"

#include <cuda.h>

#include <array>

namespace memtrace {
namespace {

// Calls functions until one fails, and remembers which.
class Calls {
 public:
  void operator()(const char* call, CUresult result) {
    if (failed_.empty() && result != CUDA_SUCCESS)
      failed_ = std::string(call) + ": " + std::to_string(result);
  }
  const std::string& failed() const { return failed_; }

 private:
  std::string failed_;
};

uint64_t Granularity(Calls& call) {
  CUmemAllocationProp properties = {};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0};
  std::size_t bytes = 0;
  call("cuMemGetAllocationGranularity",
       cuMemGetAllocationGranularity(&bytes, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  return bytes;
}

void ReadAttributes(CUdevice device, Calls& call, CardReading* reading) {
  const auto attribute = [&](CUdevice_attribute which) {
    int value = 0;
    call("cuDeviceGetAttribute", cuDeviceGetAttribute(&value, which, device));
    return value;
  };
  reading->compute_capability_major = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  reading->compute_capability_minor = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  reading->multiprocessors = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
}

void ReadMemory(CUdevice device, Calls& call, CardReading* reading) {
  CUcontext context = nullptr;
  call("cuDevicePrimaryCtxRetain", cuDevicePrimaryCtxRetain(&context, device));
  call("cuCtxSetCurrent", cuCtxSetCurrent(context));
  std::size_t free = 0;
  std::size_t total = 0;
  call("cuMemGetInfo", cuMemGetInfo(&free, &total));
  reading->bytes = total;
  reading->context_bytes = total - free;
}

}  // namespace

bool ReadCard(CardReading* reading, std::string* error) {
  Calls call;
  CUdevice device = 0;
  std::array<char, 256> name = {};
  call("cuInit", cuInit(0));
  call("cuDriverGetVersion", cuDriverGetVersion(&reading->driver_version));
  call("cuDeviceGet", cuDeviceGet(&device, 0));
  call("cuDeviceGetName", cuDeviceGetName(name.data(), static_cast<int>(name.size()), device));
  reading->device_name = name.data();
  ReadAttributes(device, call, reading);
  ReadMemory(device, call, reading);
  reading->granularity = Granularity(call);
  *error = call.failed();
  return error->empty();
}

}  // namespace memtrace
