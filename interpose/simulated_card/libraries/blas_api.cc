// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// cuBLAS: handles, streams, modes and workspace are real, computation is not done. The functions
// that compute are listed in symbols/libcublas.inert.txt.
#pragma GCC visibility push(default)
#include <cublas_v2.h>
#include <cuda.h>
#pragma GCC visibility pop

#include <array>
#include <cstddef>
#include <memory>

#include "interpose/simulated_card/interface/library_calls.h"
#include "interpose/simulated_card/interface/library_memory.h"
#include "interpose/simulated_card/libraries/versions.h"

namespace memtrace::card {
namespace {

// Bytes that a handle allocates at once, beside the workspace that torch gives it: measured (cuBLAS
// 13.1, tests/gpu/recordings).
constexpr std::array<std::size_t, 3> kOwnMemory = {std::size_t{64} << 20, std::size_t{128} << 10,
                                                   std::size_t{1} << 10};

// Each handle is a heap object of its own, because torch keys workspaces by the handle's address.
struct BlasHandle {
  cudaStream_t stream = nullptr;
  cublasMath_t math_mode = CUBLAS_DEFAULT_MATH;
  cublasPointerMode_t pointer_mode = CUBLAS_POINTER_MODE_HOST;
  cublasAtomicsMode_t atomics_mode = CUBLAS_ATOMICS_NOT_ALLOWED;
  int multiprocessor_target = 0;
  LibraryMemory memory;
};

BlasHandle* FromHandle(void* handle) { return static_cast<BlasHandle*>(handle); }

// Runs body(handle) if there is one.
template <typename Body>
cublasStatus_t WithHandle(cublasHandle_t handle, Body body) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  return body(*FromHandle(handle));
}

template <typename Value>
cublasStatus_t Answer(Value* out, Value value) {
  if (out == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *out = value;
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace
}  // namespace memtrace::card

using namespace memtrace::card;  // NOLINT: this file defines C functions over that namespace

// For products: does the same as memtrace_blas_call, with the operands.
extern "C" int memtrace_blas_product(const char* name, void* handle,
                                     const memtrace_card_operand* operands, std::size_t count) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  const int launched =
      memtrace_card_launch_product(name, FromHandle(handle)->stream, operands, count);
  return launched == 0 ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

// The generated functions call this. Every compute function takes the handle first, and this needs
// no other argument.
extern "C" int memtrace_blas_call(const char* name, void* handle) {
  return memtrace_blas_product(name, handle, nullptr, 0);
}

// Refuses a result that the host would read, because its value is not known.
extern "C" int memtrace_blas_result_call(const char* name, void* handle) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (FromHandle(handle)->pointer_mode == CUBLAS_POINTER_MODE_DEVICE)
    return memtrace_blas_call(name, handle);
  memtrace_card_count_unsupported(name);
  return CUBLAS_STATUS_NOT_SUPPORTED;
}

cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  if (handle == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  auto made = std::make_unique<BlasHandle>();
  if (!made->memory.Take(kOwnMemory)) return CUBLAS_STATUS_ALLOC_FAILED;
  *handle = reinterpret_cast<cublasHandle_t>(made.release());
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy(cublasHandle_t handle) {
  return WithHandle(handle, [](BlasHandle& blas) {
    delete &blas;
    return CUBLAS_STATUS_SUCCESS;
  });
}

cublasStatus_t cublasGetVersion(cublasHandle_t, int* version) {
  return Answer(version, BlasVersion());
}

cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) {
  return WithHandle(handle, [&](BlasHandle& blas) {
    blas.stream = stream;
    return CUBLAS_STATUS_SUCCESS;
  });
}

cublasStatus_t cublasGetStream(cublasHandle_t handle, cudaStream_t* stream) {
  return WithHandle(handle, [&](BlasHandle& blas) { return Answer(stream, blas.stream); });
}

// The caller owns and frees this memory, so it is only accepted.
cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void*, std::size_t) {
  return WithHandle(handle, [](BlasHandle&) { return CUBLAS_STATUS_SUCCESS; });
}

cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
  return WithHandle(handle, [&](BlasHandle& blas) {
    blas.math_mode = mode;
    return CUBLAS_STATUS_SUCCESS;
  });
}

cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode) {
  return WithHandle(handle, [&](BlasHandle& blas) { return Answer(mode, blas.math_mode); });
}

cublasStatus_t cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode) {
  return WithHandle(handle, [&](BlasHandle& blas) {
    blas.pointer_mode = mode;
    return CUBLAS_STATUS_SUCCESS;
  });
}

cublasStatus_t cublasGetPointerMode(cublasHandle_t handle, cublasPointerMode_t* mode) {
  return WithHandle(handle, [&](BlasHandle& blas) { return Answer(mode, blas.pointer_mode); });
}

cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t mode) {
  return WithHandle(handle, [&](BlasHandle& blas) {
    blas.atomics_mode = mode;
    return CUBLAS_STATUS_SUCCESS;
  });
}

cublasStatus_t cublasGetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t* mode) {
  return WithHandle(handle, [&](BlasHandle& blas) { return Answer(mode, blas.atomics_mode); });
}

cublasStatus_t cublasSetSmCountTarget(cublasHandle_t handle, int target) {
  return WithHandle(handle, [&](BlasHandle& blas) {
    blas.multiprocessor_target = target;
    return CUBLAS_STATUS_SUCCESS;
  });
}

cublasStatus_t cublasGetSmCountTarget(cublasHandle_t handle, int* target) {
  return WithHandle(handle,
                    [&](BlasHandle& blas) { return Answer(target, blas.multiprocessor_target); });
}

const char* cublasGetStatusName(cublasStatus_t status) {
  return status == CUBLAS_STATUS_SUCCESS         ? "CUBLAS_STATUS_SUCCESS"
         : status == CUBLAS_STATUS_NOT_SUPPORTED ? "CUBLAS_STATUS_NOT_SUPPORTED"
                                                 : "CUBLAS_STATUS_ERROR";
}

const char* cublasGetStatusString(cublasStatus_t status) {
  return status == CUBLAS_STATUS_SUCCESS         ? "success"
         : status == CUBLAS_STATUS_NOT_SUPPORTED ? "not supported (simulated card)"
                                                 : "error";
}
