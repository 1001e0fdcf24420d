// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// cuSOLVER: handles are real; Cholesky factorizations and symmetric eigenvalues are inert. They
// compute nothing but say that they succeeded (info = 0 on the card), as they would for a matrix in
// good condition. Workspaces: where torch 2.11 calls, as an H200 answers; of the older functions
// LAPACK's, an assumption. The rest is not supported.
#include <cuda.h>

#pragma GCC visibility push(default)
#include <cusolverDn.h>
#pragma GCC visibility pop

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "interpose/simulated_card/interface/library_calls.h"
#include "interpose/simulated_card/interface/library_memory.h"

namespace memtrace::card {
namespace {

// Bytes that a handle allocates at once: 96 MiB and less than 683 KiB, measured (cuSOLVER 12.0,
// tests/gpu/recordings/h100-80gb/library_growth.json). It is assumed to be the memory of a cuBLAS
// handle, which every such handle has, and 32 MiB.
constexpr std::array<std::size_t, 4> kOwnMemory = {std::size_t{64} << 20, std::size_t{32} << 20,
                                                   std::size_t{128} << 10, std::size_t{1} << 10};

struct Solver {
  cudaStream_t stream = nullptr;
  LibraryMemory memory;
};

Solver* FromHandle(cusolverDnHandle_t handle) { return reinterpret_cast<Solver*>(handle); }

// Counts the call and writes 0 as the info of each matrix.
cusolverStatus_t Succeed(const char* name, cusolverDnHandle_t handle, int* info,
                         std::int64_t matrices = 1) {
  if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (info == nullptr || matrices < 1) return CUSOLVER_STATUS_INVALID_VALUE;
  cudaStream_t stream = FromHandle(handle)->stream;
  const auto address = reinterpret_cast<CUdeviceptr>(info);
  if (memtrace_card_launch_call(name, stream) != 0 ||
      cuMemsetD32Async(address, 0, static_cast<std::size_t>(matrices), stream) != CUDA_SUCCESS)
    return CUSOLVER_STATUS_EXECUTION_FAILED;
  return CUSOLVER_STATUS_SUCCESS;
}

void Use(const void* workspace, std::size_t bytes) {
  memtrace_card_use_workspace("cuSOLVER", workspace, bytes);
}

// Zero, because LAPACK's potrf works in place.
constexpr std::int64_t kCholeskyElements = 0;

// The size of LAPACK's syevd: 1 + 6n + 2n^2 elements with eigenvectors, 2n + 1 without.
std::int64_t EigenElements(cusolverEigMode_t mode, std::int64_t n) {
  return mode == CUSOLVER_EIG_MODE_VECTOR ? 1 + 6 * n + 2 * n * n : 2 * n + 1;
}

std::int64_t ElementBytes(cudaDataType type) {
  return type == CUDA_C_64F ? 16 : type == CUDA_R_64F || type == CUDA_C_32F ? 8 : 4;
}

// Follows an H200, in bytes (tests/gpu/recordings/h200/sizes_solvers.jsonl): 17 of 17 match.
std::int64_t CholeskyBytes(std::int64_t n) {
  const std::int64_t tiles = (n + 31) / 32;
  return (128 + 4 * tiles * tiles + 31) / 32 * 32;
}

// Follows the same recording; eigenvectors make no difference. 13 of 17 peaks match within 2 %; up
// to 33 rows other kernels take more.
std::int64_t EigenBytes(std::int64_t n, cudaDataType type) {
  constexpr std::int64_t kLarge = 768;
  const bool is_complex = type == CUDA_C_32F || type == CUDA_C_64F;
  const bool is_double = type == CUDA_R_64F || type == CUDA_C_64F;
  const std::int64_t real = is_double     ? 32 * n * n + 1536 * n + 787096
                            : n >= kLarge ? 16 * n * n + 508 * n + 131980
                                          : 4 * n * n + 144 * n + 2100;
  return is_complex ? 2 * real : real;  // not measured
}

cusolverStatus_t AnswerElements(cusolverDnHandle_t handle, int* elements, std::int64_t value) {
  if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (elements == nullptr) return CUSOLVER_STATUS_INVALID_VALUE;
  *elements = static_cast<int>(value);
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t AnswerBytes(cusolverDnHandle_t handle, std::size_t* on_device,
                             std::size_t* on_host, std::int64_t bytes) {
  if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (on_device == nullptr || on_host == nullptr) return CUSOLVER_STATUS_INVALID_VALUE;
  *on_device = static_cast<std::size_t>(bytes);
  *on_host = 0;
  return CUSOLVER_STATUS_SUCCESS;
}

}  // namespace
}  // namespace memtrace::card

using namespace memtrace::card;  // NOLINT: this file defines C functions over that namespace

cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t* handle) {
  if (handle == nullptr) return CUSOLVER_STATUS_INVALID_VALUE;
  auto made = std::make_unique<Solver>();
  if (!made->memory.Take(kOwnMemory)) return CUSOLVER_STATUS_ALLOC_FAILED;
  *handle = reinterpret_cast<cusolverDnHandle_t>(made.release());
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle) {
  delete FromHandle(handle);
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t stream) {
  if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
  FromHandle(handle)->stream = stream;
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnGetStream(cusolverDnHandle_t handle, cudaStream_t* stream) {
  if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (stream == nullptr) return CUSOLVER_STATUS_INVALID_VALUE;
  *stream = FromHandle(handle)->stream;
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnXpotrf_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t,
                                             cublasFillMode_t, int64_t n, cudaDataType, const void*,
                                             int64_t, cudaDataType, std::size_t* on_device,
                                             std::size_t* on_host) {
  return AnswerBytes(handle, on_device, on_host, CholeskyBytes(n));
}

cusolverStatus_t cusolverDnXpotrf(cusolverDnHandle_t handle, cusolverDnParams_t, cublasFillMode_t,
                                  int64_t, cudaDataType, void*, int64_t, cudaDataType,
                                  void* workspace, std::size_t bytes, void*, std::size_t,
                                  int* info) {
  Use(workspace, bytes);
  return Succeed("cusolverDnXpotrf", handle, info);
}

cusolverStatus_t cusolverDnXsyevd_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t,
                                             cusolverEigMode_t, cublasFillMode_t, int64_t n,
                                             cudaDataType type, const void*, int64_t, cudaDataType,
                                             const void*, cudaDataType, std::size_t* on_device,
                                             std::size_t* on_host) {
  return AnswerBytes(handle, on_device, on_host, EigenBytes(n, type));
}

cusolverStatus_t cusolverDnXsyevd(cusolverDnHandle_t handle, cusolverDnParams_t, cusolverEigMode_t,
                                  cublasFillMode_t, int64_t, cudaDataType, void*, int64_t,
                                  cudaDataType, void*, cudaDataType, void* workspace,
                                  std::size_t bytes, void*, std::size_t, int* info) {
  Use(workspace, bytes);
  return Succeed("cusolverDnXsyevd", handle, info);
}

cusolverStatus_t cusolverDnXsyevBatched_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t,
                                                   cusolverEigMode_t mode, cublasFillMode_t,
                                                   int64_t n, cudaDataType type, const void*,
                                                   int64_t, cudaDataType, const void*, cudaDataType,
                                                   std::size_t* on_device, std::size_t* on_host,
                                                   int64_t matrices) {
  return AnswerBytes(handle, on_device, on_host,
                     matrices * EigenElements(mode, n) * ElementBytes(type));
}

cusolverStatus_t cusolverDnXsyevBatched(cusolverDnHandle_t handle, cusolverDnParams_t,
                                        cusolverEigMode_t, cublasFillMode_t, int64_t, cudaDataType,
                                        void*, int64_t, cudaDataType, void*, cudaDataType,
                                        void* workspace, std::size_t bytes, void*, std::size_t,
                                        int* info, int64_t matrices) {
  Use(workspace, bytes);
  return Succeed("cusolverDnXsyevBatched", handle, info, matrices);
}

// The older functions, once for each type of number; T the matrix's, W its eigenvalues'.
// NOLINTBEGIN(bugprone-macro-parentheses): types
#define MEMTRACE_CHOLESKY(name, T)                                                                 \
  cusolverStatus_t cusolverDn##name##potrf_bufferSize(cusolverDnHandle_t handle, cublasFillMode_t, \
                                                      int, T*, int, int* elements) {               \
    return AnswerElements(handle, elements, kCholeskyElements);                                    \
  }                                                                                                \
  cusolverStatus_t cusolverDn##name##potrf(cusolverDnHandle_t handle, cublasFillMode_t, int, T*,   \
                                           int, T*, int, int* info) {                              \
    return Succeed("cusolverDn" #name "potrf", handle, info);                                      \
  }                                                                                                \
  cusolverStatus_t cusolverDn##name##potrfBatched(cusolverDnHandle_t handle, cublasFillMode_t,     \
                                                  int, T*[], int, int* info, int matrices) {       \
    return Succeed("cusolverDn" #name "potrfBatched", handle, info, matrices);                     \
  }

#define MEMTRACE_EIGENVALUES(name, T, W)                                                           \
  cusolverStatus_t cusolverDn##name##evd_bufferSize(                                               \
      cusolverDnHandle_t handle, cusolverEigMode_t mode, cublasFillMode_t, int n, const T*, int,   \
      const W*, int* elements) {                                                                   \
    return AnswerElements(handle, elements, EigenElements(mode, n));                               \
  }                                                                                                \
  cusolverStatus_t cusolverDn##name##evd(cusolverDnHandle_t handle, cusolverEigMode_t,             \
                                         cublasFillMode_t, int, T*, int, W*, T*, int, int* info) { \
    return Succeed("cusolverDn" #name "evd", handle, info);                                        \
  }                                                                                                \
  cusolverStatus_t cusolverDn##name##evj_bufferSize(                                               \
      cusolverDnHandle_t handle, cusolverEigMode_t mode, cublasFillMode_t, int n, const T*, int,   \
      const W*, int* elements, syevjInfo_t) {                                                      \
    return AnswerElements(handle, elements, EigenElements(mode, n));                               \
  }                                                                                                \
  cusolverStatus_t cusolverDn##name##evj(cusolverDnHandle_t handle, cusolverEigMode_t,             \
                                         cublasFillMode_t, int, T*, int, W*, T*, int, int* info,   \
                                         syevjInfo_t) {                                            \
    return Succeed("cusolverDn" #name "evj", handle, info);                                        \
  }                                                                                                \
  cusolverStatus_t cusolverDn##name##evjBatched_bufferSize(                                        \
      cusolverDnHandle_t handle, cusolverEigMode_t mode, cublasFillMode_t, int n, const T*, int,   \
      const W*, int* elements, syevjInfo_t, int matrices) {                                        \
    return AnswerElements(handle, elements, matrices * EigenElements(mode, n));                    \
  }                                                                                                \
  cusolverStatus_t cusolverDn##name##evjBatched(cusolverDnHandle_t handle, cusolverEigMode_t,      \
                                                cublasFillMode_t, int, T*, int, W*, T*, int,       \
                                                int* info, syevjInfo_t, int matrices) {            \
    return Succeed("cusolverDn" #name "evjBatched", handle, info, matrices);                       \
  }

MEMTRACE_CHOLESKY(S, float)
MEMTRACE_CHOLESKY(D, double)
MEMTRACE_CHOLESKY(C, cuComplex)
MEMTRACE_CHOLESKY(Z, cuDoubleComplex)
MEMTRACE_EIGENVALUES(Ssy, float, float)
MEMTRACE_EIGENVALUES(Dsy, double, double)
MEMTRACE_EIGENVALUES(Che, cuComplex, float)
MEMTRACE_EIGENVALUES(Zhe, cuDoubleComplex, double)
// NOLINTEND(bugprone-macro-parentheses)
