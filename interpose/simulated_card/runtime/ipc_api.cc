// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// Memory and events between processes: the driver's, under the runtime's names.
#include <cstring>

#include "interpose/simulated_card/runtime/runtime_api.h"

using namespace memtrace::card;  // NOLINT: this file defines C functions over that namespace

namespace memtrace::card {
namespace {

// Handles of the driver and of the runtime are the same bytes.
template <typename Driver, typename Runtime>
Driver ToDriver(const Runtime& handle) {
  static_assert(sizeof(Driver) == sizeof(Runtime));
  Driver driver;
  std::memcpy(&driver, &handle, sizeof(driver));
  return driver;
}

}  // namespace
}  // namespace memtrace::card

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* pointer) {
  return InContext([&] {
    return cuIpcGetMemHandle(reinterpret_cast<CUipcMemHandle*>(handle),
                             reinterpret_cast<CUdeviceptr>(pointer));
  });
}

cudaError_t cudaIpcOpenMemHandle(void** pointer, cudaIpcMemHandle_t handle, unsigned int flags) {
  return InContext([&] {
    return cuIpcOpenMemHandle(reinterpret_cast<CUdeviceptr*>(pointer),
                              ToDriver<CUipcMemHandle>(handle), flags);
  });
}

cudaError_t cudaIpcCloseMemHandle(void* pointer) {
  return InContext([&] { return cuIpcCloseMemHandle(reinterpret_cast<CUdeviceptr>(pointer)); });
}

cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t* handle, cudaEvent_t event) {
  return InContext(
      [&] { return cuIpcGetEventHandle(reinterpret_cast<CUipcEventHandle*>(handle), event); });
}

cudaError_t cudaIpcOpenEventHandle(cudaEvent_t* event, cudaIpcEventHandle_t handle) {
  return InContext([&] { return cuIpcOpenEventHandle(event, ToDriver<CUipcEventHandle>(handle)); });
}
