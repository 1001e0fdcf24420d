// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/torch/card_bytes.h"

#include <c10/util/Exception.h>
#include <dlfcn.h>

#include <cstddef>

namespace memtrace::shim {
namespace {

// The functions have the types that cuda.h declares; 0 is success.
struct Driver {
  int (*device_get)(int* device, int ordinal) = nullptr;
  int (*device_total_mem)(std::size_t* bytes, int device) = nullptr;
};

// The driver is loaded and initialised already, by the CUDA runtime.
Driver LoadDriver() {
  Driver driver;
  void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return driver;
  driver.device_get = reinterpret_cast<decltype(driver.device_get)>(dlsym(library, "cuDeviceGet"));
  driver.device_total_mem =
      reinterpret_cast<decltype(driver.device_total_mem)>(dlsym(library, "cuDeviceTotalMem_v2"));
  return driver;
}

}  // namespace

uint64_t TotalBytes(c10::DeviceIndex device) {
  static const Driver kDriver = LoadDriver();
  int handle = 0;
  std::size_t bytes = 0;
  const bool is_known = kDriver.device_get != nullptr && kDriver.device_total_mem != nullptr &&
                        kDriver.device_get(&handle, device) == 0 &&
                        kDriver.device_total_mem(&bytes, handle) == 0;
  TORCH_CHECK(is_known, "the CUDA driver does not report the size of device ",
              static_cast<int>(device));
  return bytes;
}

}  // namespace memtrace::shim
