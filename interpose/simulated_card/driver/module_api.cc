// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// Modules and libraries of code: what they contain is known, none of it is run.
#include <algorithm>

#include "interpose/simulated_card/driver/driver_api.h"

using namespace memtrace::card;  // NOLINT: this file defines C functions over that namespace

namespace memtrace::card {
namespace {

template <typename Handle, typename Loader>
CUresult Load(Handle* handle, const void* source, Loader loader, const char* call) {
  const auto load = [&](Machine& machine) {
    if (handle == nullptr || source == nullptr) return Result::kInvalidValue;
    Module* module = nullptr;
    const Result result = loader(machine.modules, &module);
    if (result == Result::kSuccess) *handle = reinterpret_cast<Handle>(module);
    return result;
  };
  return WithMachine(load, call);
}

template <typename Handle>
CUresult LoadImage(Handle* handle, const void* image, const char* call = __builtin_FUNCTION()) {
  const auto load = [image](Modules& modules, Module** module) {
    return modules.Load(image, module);
  };
  return Load(handle, image, load, call);
}

template <typename Handle>
CUresult LoadFile(Handle* handle, const char* path, const char* call = __builtin_FUNCTION()) {
  const auto load = [path](Modules& modules, Module** module) {
    return modules.LoadFile(path, module);
  };
  return Load(handle, path, load, call);
}

template <typename Handle>
CUresult GetFunction(Handle* handle, const void* module, const char* name,
                     const char* call = __builtin_FUNCTION()) {
  const auto look = [&](Machine& machine) {
    if (handle == nullptr || name == nullptr) return Result::kInvalidValue;
    Function* function = nullptr;
    const Result result = machine.modules.GetFunction(module, name, &function);
    if (result == Result::kSuccess) *handle = reinterpret_cast<Handle>(function);
    return result;
  };
  return WithMachine(look, call);
}

CUresult CountFunctions(unsigned* count, const void* module,
                        const char* call = __builtin_FUNCTION()) {
  const auto look = [&](Machine& machine) {
    if (count == nullptr) return Result::kInvalidValue;
    std::vector<Function*> all;
    const Result result = machine.modules.Functions(module, &all);
    if (result == Result::kSuccess) *count = static_cast<unsigned>(all.size());
    return result;
  };
  return WithMachine(look, call);
}

template <typename Handle>
CUresult ListFunctions(Handle* handles, unsigned room, const void* module,
                       const char* call = __builtin_FUNCTION()) {
  const auto look = [&](Machine& machine) {
    if (handles == nullptr) return Result::kInvalidValue;
    std::vector<Function*> all;
    const Result result = machine.modules.Functions(module, &all);
    for (std::size_t i = 0; i < std::min<std::size_t>(room, all.size()); ++i)
      handles[i] = reinterpret_cast<Handle>(all[i]);
    return result;
  };
  return WithMachine(look, call);
}

CUresult GetVariable(CUdeviceptr* pointer, std::size_t* bytes, const void* module, const char* name,
                     const char* call = __builtin_FUNCTION()) {
  const auto look = [&](Machine& machine, int device) {
    if (name == nullptr) return Result::kInvalidValue;
    Address begin;
    std::uint64_t size = 0;
    const Result result = machine.modules.GetVariable(module, name, device, &begin, &size);
    if (result != Result::kSuccess) return result;
    if (pointer != nullptr) *pointer = begin.value();
    if (bytes != nullptr) *bytes = size;
    return Result::kSuccess;
  };
  return WithContext(look, call);
}

}  // namespace
}  // namespace memtrace::card

CUresult cuModuleLoadData(CUmodule* module, const void* image) { return LoadImage(module, image); }

// The options are for a compiler, which does not exist here.
CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned int, CUjit_option*,
                            void**) {
  return LoadImage(module, image);
}

CUresult cuModuleLoadFatBinary(CUmodule* module, const void* image) {
  return LoadImage(module, image);
}

CUresult cuModuleLoad(CUmodule* module, const char* path) { return LoadFile(module, path); }

CUresult cuModuleUnload(CUmodule module) {
  return WithMachine([&](Machine& machine) { return machine.modules.Unload(module); });
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
  if (mode == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *mode = CU_MODULE_LAZY_LOADING;
  return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  return GetFunction(function, module, name);
}

CUresult cuModuleGetFunctionCount(unsigned int* count, CUmodule module) {
  return CountFunctions(count, module);
}

CUresult cuModuleEnumerateFunctions(CUfunction* functions, unsigned int room, CUmodule module) {
  return ListFunctions(functions, room, module);
}

CUresult cuModuleGetGlobal(CUdeviceptr* pointer, std::size_t* bytes, CUmodule module,
                           const char* name) {
  return GetVariable(pointer, bytes, module, name);
}

CUresult cuLibraryLoadData(CUlibrary* library, const void* code, CUjit_option*, void**,
                           unsigned int, CUlibraryOption*, void**, unsigned int) {
  return LoadImage(library, code);
}

CUresult cuLibraryLoadFromFile(CUlibrary* library, const char* path, CUjit_option*, void**,
                               unsigned int, CUlibraryOption*, void**, unsigned int) {
  return LoadFile(library, path);
}

CUresult cuLibraryUnload(CUlibrary library) {
  return WithMachine([&](Machine& machine) { return machine.modules.Unload(library); });
}

CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary library, const char* name) {
  return GetFunction(kernel, library, name);
}

CUresult cuLibraryGetKernelCount(unsigned int* count, CUlibrary library) {
  return CountFunctions(count, library);
}

CUresult cuLibraryEnumerateKernels(CUkernel* kernels, unsigned int room, CUlibrary library) {
  return ListFunctions(kernels, room, library);
}

CUresult cuLibraryGetModule(CUmodule* module, CUlibrary library) {
  return WithContext([&](Machine& machine, int) {
    std::vector<Function*> ignored;
    if (module == nullptr) return Result::kInvalidValue;
    const Result result = machine.modules.Functions(library, &ignored);
    if (result == Result::kSuccess) *module = reinterpret_cast<CUmodule>(library);
    return result;
  });
}

CUresult cuLibraryGetGlobal(CUdeviceptr* pointer, std::size_t* bytes, CUlibrary library,
                            const char* name) {
  return GetVariable(pointer, bytes, library, name);
}
