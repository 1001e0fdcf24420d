// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// Kernels of loaded modules: attributes, occupancy, launches. Launches are checked, counted by name
// and not carried out.
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "interpose/simulated_card/driver/driver_api.h"
#include "interpose/simulated_card/work/code/kernel_arguments.h"
#include "interpose/simulated_card/work/occupancy.h"

using namespace memtrace::card;  // NOLINT: this file defines C functions over that namespace

namespace memtrace::card {
namespace {

// Runs body(machine, device, function) for a kernel of a loaded module.
template <typename Body>
CUresult WithFunction(const void* handle, Body body, const char* call = __builtin_FUNCTION()) {
  const auto find = [&](Machine& machine, int device) {
    Function* function = machine.modules.FindFunction(handle);
    return function == nullptr ? Result::kInvalidHandle : body(machine, device, *function);
  };
  return WithContext(find, call);
}

int AttributeOf(Machine& machine, int device, CUdevice_attribute attribute) {
  return DeviceAttribute(machine.CardAt(device), attribute);
}

Multiprocessor MultiprocessorOf(Machine& machine, int device) {
  const auto value = [&](CUdevice_attribute attribute) {
    return AttributeOf(machine, device, attribute);
  };
  return {
      .threads = value(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR),
      .registers = value(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR),
      .blocks = value(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR),
      .shared_bytes =
          static_cast<std::size_t>(value(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)),
      .reserved_shared_bytes =
          static_cast<std::size_t>(value(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK))};
}

Result GetAttribute(Machine& machine, int device, const Function& function,
                    CUfunction_attribute attribute, int* value) {
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      *value = AttributeOf(machine, device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
      return Result::kSuccess;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      *value = function.shared_bytes;
      return Result::kSuccess;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      *value = kRegistersPerThread;
      return Result::kSuccess;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      *value = 10 * AttributeOf(machine, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
               AttributeOf(machine, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
      return Result::kSuccess;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      *value = function.most_dynamic_shared_bytes;
      return Result::kSuccess;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      *value = -1;
      return Result::kSuccess;
    default:
      // Constant and local memory, cluster sizes: zero, because they are not known.
      *value = 0;
      return attribute < CU_FUNC_ATTRIBUTE_MAX ? Result::kSuccess : Result::kInvalidValue;
  }
}

// According to cuda.h, static and dynamic shared memory together may not exceed the opt-in limit.
Result SetAttribute(Machine& machine, int device, Function& function,
                    CUfunction_attribute attribute, int value) {
  if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) {
    return attribute < CU_FUNC_ATTRIBUTE_MAX ? Result::kSuccess : Result::kInvalidValue;
  }
  const int most =
      AttributeOf(machine, device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  if (value < 0 || value > most - function.shared_bytes) return Result::kInvalidValue;
  function.most_dynamic_shared_bytes = value;
  return Result::kSuccess;
}

// A kernel's arguments in the two forms that cuLaunchKernel takes.
struct Arguments {
  void** each;
  void** extra;
};

// Returns what the kernel is given, if anybody will ask.
std::shared_ptr<const GivenMemory> GivenTo(const Machine& machine, const Function& function,
                                           const Arguments& arguments) {
  if (!machine.launch_memory.IsWatched()) return nullptr;
  std::vector<Address> pointers =
      PointersAmong(function.parameters, arguments.each, arguments.extra);
  if (pointers.empty()) return nullptr;
  return std::make_shared<const GivenMemory>(
      GivenMemory{.pointers = std::move(pointers), .operands = {}});
}

CUresult Launch(CUfunction handle, const LaunchShape& shape, unsigned shared_bytes, CUstream stream,
                const Arguments& arguments, const char* call = __builtin_FUNCTION()) {
  const auto launch = [&](Machine& machine, int device, const Function& function) {
    const auto most = static_cast<unsigned>(function.most_dynamic_shared_bytes);
    if (!IsValid(shape) || shared_bytes > most) return Result::kInvalidValue;
    const std::optional<std::vector<Address>> given =
        AddressesAmong(function.parameters, arguments.each, arguments.extra);
    const bool is_told = given && !function.module->has_shared_variables;
    const char* name = machine.kernels.CountLaunch(handle, is_told ? &*given : nullptr);
    const memtrace_card_launch told = {.grid = {shape.grid_x, shape.grid_y, shape.grid_z},
                                       .block = {shape.block_x, shape.block_y, shape.block_z},
                                       .shared_bytes = shared_bytes};
    return machine.streams.Launch(
        stream, device,
        {.name = name, .shape = told, .given = GivenTo(machine, function, arguments)});
  };
  return WithFunction(handle, launch, call);
}

}  // namespace
}  // namespace memtrace::card

CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction function) {
  return WithFunction(function, [&](Machine& machine, int device, const Function& found) {
    if (value == nullptr) return Result::kInvalidValue;
    return GetAttribute(machine, device, found, attribute, value);
  });
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  return WithFunction(function, [&](Machine& machine, int device, Function& found) {
    return SetAttribute(machine, device, found, attribute, value);
  });
}

CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache) {
  return WithFunction(function, [](Machine&, int, const Function&) { return Result::kSuccess; });
}

CUresult cuFuncGetModule(CUmodule* module, CUfunction function) {
  return WithFunction(function, [&](Machine&, int, const Function& found) {
    if (module == nullptr) return Result::kInvalidValue;
    *module = reinterpret_cast<CUmodule>(found.module);
    return Result::kSuccess;
  });
}

CUresult cuFuncGetName(const char** name, CUfunction function) {
  return WithFunction(function, [&](Machine&, int, const Function& found) {
    if (name == nullptr) return Result::kInvalidValue;
    *name = found.name.c_str();
    return Result::kSuccess;
  });
}

CUresult cuFuncIsLoaded(CUfunctionLoadingState* state, CUfunction function) {
  return WithFunction(function, [&](Machine&, int, const Function&) {
    if (state == nullptr) return Result::kInvalidValue;
    *state = CU_FUNCTION_LOADING_STATE_LOADED;
    return Result::kSuccess;
  });
}

CUresult cuFuncLoad(CUfunction function) {
  return WithFunction(function, [](Machine&, int, const Function&) { return Result::kSuccess; });
}

// A kernel and its function are one object here.
CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
  return WithFunction(kernel, [&](Machine&, int, const Function&) {
    if (function == nullptr) return Result::kInvalidValue;
    *function = reinterpret_cast<CUfunction>(kernel);
    return Result::kSuccess;
  });
}

CUresult cuKernelGetLibrary(CUlibrary* library, CUkernel kernel) {
  return cuFuncGetModule(reinterpret_cast<CUmodule*>(library),
                         reinterpret_cast<CUfunction>(kernel));
}

CUresult cuKernelGetName(const char** name, CUkernel kernel) {
  return cuFuncGetName(name, reinterpret_cast<CUfunction>(kernel));
}

CUresult cuKernelGetAttribute(int* value, CUfunction_attribute attribute, CUkernel kernel,
                              CUdevice) {
  return cuFuncGetAttribute(value, attribute, reinterpret_cast<CUfunction>(kernel));
}

CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel,
                              CUdevice) {
  return cuFuncSetAttribute(reinterpret_cast<CUfunction>(kernel), attribute, value);
}

CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice) {
  return cuFuncSetCacheConfig(reinterpret_cast<CUfunction>(kernel), config);
}

CUresult cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y,
                        unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                        unsigned int block_z, unsigned int shared_bytes, CUstream stream,
                        void** arguments, void** extra) {
  return Launch(function, {grid_x, grid_y, grid_z, block_x, block_y, block_z}, shared_bytes, stream,
                {arguments, extra});
}

CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** arguments,
                          void** extra) {
  if (config == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return Launch(function,
                {config->gridDimX, config->gridDimY, config->gridDimZ, config->blockDimX,
                 config->blockDimY, config->blockDimZ},
                config->sharedMemBytes, config->hStream, {arguments, extra});
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y,
                                   unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                                   unsigned int block_z, unsigned int shared_bytes, CUstream stream,
                                   void** arguments) {
  return cuLaunchKernel(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes,
                        stream, arguments, nullptr);
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, CUfunction function,
                                                              int block_size,
                                                              std::size_t dynamic_shared_bytes,
                                                              unsigned int) {
  return WithFunction(function, [&](Machine& machine, int device, const Function& found) {
    if (blocks == nullptr || block_size <= 0) return Result::kInvalidValue;
    *blocks = ActiveBlocks(MultiprocessorOf(machine, device), block_size,
                           dynamic_shared_bytes + static_cast<std::size_t>(found.shared_bytes));
    return Result::kSuccess;
  });
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function,
                                                     int block_size,
                                                     std::size_t dynamic_shared_bytes) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, block_size,
                                                              dynamic_shared_bytes, 0);
}

CUresult cuOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, CUfunction function,
                                                 int blocks, int) {
  return WithFunction(function, [&](Machine& machine, int device, const Function&) {
    if (bytes == nullptr || blocks <= 0) return Result::kInvalidValue;
    *bytes = SharedBytesPerBlock(MultiprocessorOf(machine, device), blocks);
    return Result::kSuccess;
  });
}

// Returns one cluster of one block for each multiprocessor.
CUresult cuOccupancyMaxActiveClusters(int* clusters, CUfunction function,
                                      const CUlaunchConfig* config) {
  return WithFunction(function, [&](Machine& machine, int device, const Function&) {
    if (clusters == nullptr || config == nullptr) return Result::kInvalidValue;
    *clusters = AttributeOf(machine, device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    return Result::kSuccess;
  });
}

// Only kernels read this descriptor.
CUresult cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType, cuuint32_t rank,
                                void* address, const cuuint64_t* sizes, const cuuint64_t*,
                                const cuuint32_t*, const cuuint32_t*, CUtensorMapInterleave,
                                CUtensorMapSwizzle, CUtensorMapL2promotion,
                                CUtensorMapFloatOOBfill) {
  constexpr cuuint32_t kHighestRank = 5;
  if (map == nullptr || address == nullptr || sizes == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (rank == 0 || rank > kHighestRank) return CUDA_ERROR_INVALID_VALUE;
  std::memset(map, 0, sizeof(*map));
  std::memcpy(map, &address, sizeof(address));  // read by AddressesAmong
  return CUDA_SUCCESS;
}
