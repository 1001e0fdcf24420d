// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// cuBLAS: the products that torch calls. Nothing is computed; what it would have taken is counted.
#pragma GCC visibility push(default)
#include <cublas_v2.h>
#pragma GCC visibility pop

#include <cstdint>

#include "interpose/simulated_card/interface/library_calls.h"

extern "C" int memtrace_blas_call(const char* name, void* handle);

namespace memtrace::card {
namespace {

// Counts a multiplication and an addition for each of m x n x k.
cublasStatus_t Multiply(const char* name, cublasHandle_t handle, int m, int n, int k,
                        int batches = 1) {
  memtrace_card_count_operations(2 * static_cast<std::uint64_t>(m) * static_cast<std::uint64_t>(n) *
                                 static_cast<std::uint64_t>(k) *
                                 static_cast<std::uint64_t>(batches));
  return static_cast<cublasStatus_t>(memtrace_blas_call(name, handle));
}

}  // namespace
}  // namespace memtrace::card

using namespace memtrace::card;  // NOLINT: this file defines C functions over that namespace

cublasStatus_t cublasSgemm(cublasHandle_t handle, cublasOperation_t, cublasOperation_t, int m,
                           int n, int k, const float*, const float*, int, const float*, int,
                           const float*, float*, int) {
  return Multiply("cublasSgemm_v2", handle, m, n, k);
}

cublasStatus_t cublasDgemm(cublasHandle_t handle, cublasOperation_t, cublasOperation_t, int m,
                           int n, int k, const double*, const double*, int, const double*, int,
                           const double*, double*, int) {
  return Multiply("cublasDgemm_v2", handle, m, n, k);
}

cublasStatus_t cublasSgemmEx(cublasHandle_t handle, cublasOperation_t, cublasOperation_t, int m,
                             int n, int k, const float*, const void*, cudaDataType, int,
                             const void*, cudaDataType, int, const float*, void*, cudaDataType,
                             int) {
  return Multiply("cublasSgemmEx", handle, m, n, k);
}

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t, cublasOperation_t, int m,
                            int n, int k, const void*, const void*, cudaDataType, int, const void*,
                            cudaDataType, int, const void*, void*, cudaDataType, int,
                            cublasComputeType_t, cublasGemmAlgo_t) {
  return Multiply("cublasGemmEx", handle, m, n, k);
}

cublasStatus_t cublasSgemmStridedBatched(cublasHandle_t handle, cublasOperation_t,
                                         cublasOperation_t, int m, int n, int k, const float*,
                                         const float*, int, long long, const float*, int, long long,
                                         const float*, float*, int, long long, int batches) {
  return Multiply("cublasSgemmStridedBatched", handle, m, n, k, batches);
}

cublasStatus_t cublasDgemmStridedBatched(cublasHandle_t handle, cublasOperation_t,
                                         cublasOperation_t, int m, int n, int k, const double*,
                                         const double*, int, long long, const double*, int,
                                         long long, const double*, double*, int, long long,
                                         int batches) {
  return Multiply("cublasDgemmStridedBatched", handle, m, n, k, batches);
}

cublasStatus_t cublasGemmBatchedEx(cublasHandle_t handle, cublasOperation_t, cublasOperation_t,
                                   int m, int n, int k, const void*, const void* const*,
                                   cudaDataType, int, const void* const*, cudaDataType, int,
                                   const void*, void* const*, cudaDataType, int, int batches,
                                   cublasComputeType_t, cublasGemmAlgo_t) {
  return Multiply("cublasGemmBatchedEx", handle, m, n, k, batches);
}

cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t,
                                          cublasOperation_t, int m, int n, int k, const void*,
                                          const void*, cudaDataType, int, long long, const void*,
                                          cudaDataType, int, long long, const void*, void*,
                                          cudaDataType, int, long long, int batches,
                                          cublasComputeType_t, cublasGemmAlgo_t) {
  return Multiply("cublasGemmStridedBatchedEx", handle, m, n, k, batches);
}
