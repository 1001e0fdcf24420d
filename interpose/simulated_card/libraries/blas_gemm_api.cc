// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// cuBLAS: the products that torch calls. Nothing is computed; what it would have taken is counted.
#pragma GCC visibility push(default)
#include <cublas_v2.h>
#pragma GCC visibility pop

#include <cstddef>
#include <cstdint>
#include <iterator>

#include "interpose/simulated_card/interface/library_calls.h"
#include "interpose/simulated_card/libraries/product_operands.h"

extern "C" int memtrace_blas_call(const char* name, void* handle);
extern "C" int memtrace_blas_product(const char* name, void* handle,
                                     const memtrace_card_operand* operands, std::size_t count);

namespace memtrace::card {
namespace {

// The sizes of op(A) x op(B), which are m x k and k x n.
struct Sizes {
  cublasOperation_t of_a = CUBLAS_OP_N;
  cublasOperation_t of_b = CUBLAS_OP_N;
  int m = 0;
  int n = 0;
  int k = 0;
  int batches = 1;
};

// An operand's place in memory.
struct Place {
  const void* begin = nullptr;
  cudaDataType type = CUDA_R_32F;
  int leading = 0;
  long long batch_stride = 0;
};

std::uint64_t Unsigned(int size) { return static_cast<std::uint64_t>(size < 0 ? 0 : size); }

void CountOperations(const Sizes& sizes) {
  // There is a multiplication and an addition for each of m x n x k.
  memtrace_card_count_operations(
      2 * static_cast<std::uint64_t>(sizes.m) * static_cast<std::uint64_t>(sizes.n) *
      static_cast<std::uint64_t>(sizes.k) * static_cast<std::uint64_t>(sizes.batches));
}

memtrace_card_operand OperandOf(const Place& place, int rows, int columns, int batches) {
  return OperandOf(Matrix{.begin = place.begin,
                          .type = place.type,
                          .rows = Unsigned(rows),
                          .columns = Unsigned(columns),
                          .leading = place.leading,
                          .batches = Unsigned(batches),
                          .batch_stride = place.batch_stride});
}

// Returns op(M)'s memory, where op(M) has this shape.
memtrace_card_operand OperandOf(const Place& place, cublasOperation_t operation, int rows,
                                int columns, int batches) {
  return operation == CUBLAS_OP_N ? OperandOf(place, rows, columns, batches)
                                  : OperandOf(place, columns, rows, batches);
}

cublasStatus_t Multiply(const char* name, cublasHandle_t handle, const Sizes& sizes, const Place& a,
                        const Place& b, const Place& c) {
  CountOperations(sizes);
  if (memtrace_card_operands_are_watched() == 0)
    return static_cast<cublasStatus_t>(memtrace_blas_call(name, handle));
  const memtrace_card_operand operands[] = {
      OperandOf(a, sizes.of_a, sizes.m, sizes.k, sizes.batches),
      OperandOf(b, sizes.of_b, sizes.k, sizes.n, sizes.batches),
      OperandOf(c, sizes.m, sizes.n, sizes.batches)};
  return static_cast<cublasStatus_t>(
      memtrace_blas_product(name, handle, operands, std::size(operands)));
}

}  // namespace
}  // namespace memtrace::card

using namespace memtrace::card;  // NOLINT: this file defines C functions over that namespace

cublasStatus_t cublasSgemm(cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b,
                           int m, int n, int k, const float*, const float* a, int lda,
                           const float* b, int ldb, const float*, float* c, int ldc) {
  return Multiply("cublasSgemm_v2", handle, {of_a, of_b, m, n, k}, {a, CUDA_R_32F, lda},
                  {b, CUDA_R_32F, ldb}, {c, CUDA_R_32F, ldc});
}

cublasStatus_t cublasDgemm(cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b,
                           int m, int n, int k, const double*, const double* a, int lda,
                           const double* b, int ldb, const double*, double* c, int ldc) {
  return Multiply("cublasDgemm_v2", handle, {of_a, of_b, m, n, k}, {a, CUDA_R_64F, lda},
                  {b, CUDA_R_64F, ldb}, {c, CUDA_R_64F, ldc});
}

cublasStatus_t cublasSgemmEx(cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b,
                             int m, int n, int k, const float*, const void* a, cudaDataType type_a,
                             int lda, const void* b, cudaDataType type_b, int ldb, const float*,
                             void* c, cudaDataType type_c, int ldc) {
  return Multiply("cublasSgemmEx", handle, {of_a, of_b, m, n, k}, {a, type_a, lda},
                  {b, type_b, ldb}, {c, type_c, ldc});
}

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b,
                            int m, int n, int k, const void*, const void* a, cudaDataType type_a,
                            int lda, const void* b, cudaDataType type_b, int ldb, const void*,
                            void* c, cudaDataType type_c, int ldc, cublasComputeType_t,
                            cublasGemmAlgo_t) {
  return Multiply("cublasGemmEx", handle, {of_a, of_b, m, n, k}, {a, type_a, lda}, {b, type_b, ldb},
                  {c, type_c, ldc});
}

cublasStatus_t cublasSgemmStridedBatched(cublasHandle_t handle, cublasOperation_t of_a,
                                         cublasOperation_t of_b, int m, int n, int k, const float*,
                                         const float* a, int lda, long long stride_a,
                                         const float* b, int ldb, long long stride_b, const float*,
                                         float* c, int ldc, long long stride_c, int batches) {
  return Multiply("cublasSgemmStridedBatched", handle, {of_a, of_b, m, n, k, batches},
                  {a, CUDA_R_32F, lda, stride_a}, {b, CUDA_R_32F, ldb, stride_b},
                  {c, CUDA_R_32F, ldc, stride_c});
}

cublasStatus_t cublasDgemmStridedBatched(cublasHandle_t handle, cublasOperation_t of_a,
                                         cublasOperation_t of_b, int m, int n, int k, const double*,
                                         const double* a, int lda, long long stride_a,
                                         const double* b, int ldb, long long stride_b,
                                         const double*, double* c, int ldc, long long stride_c,
                                         int batches) {
  return Multiply("cublasDgemmStridedBatched", handle, {of_a, of_b, m, n, k, batches},
                  {a, CUDA_R_64F, lda, stride_a}, {b, CUDA_R_64F, ldb, stride_b},
                  {c, CUDA_R_64F, ldc, stride_c});
}

// The operands' addresses lie on the card, so this does not tell them.
cublasStatus_t cublasGemmBatchedEx(cublasHandle_t handle, cublasOperation_t, cublasOperation_t,
                                   int m, int n, int k, const void*, const void* const*,
                                   cudaDataType, int, const void* const*, cudaDataType, int,
                                   const void*, void* const*, cudaDataType, int, int batches,
                                   cublasComputeType_t, cublasGemmAlgo_t) {
  CountOperations({.m = m, .n = n, .k = k, .batches = batches});
  return static_cast<cublasStatus_t>(memtrace_blas_call("cublasGemmBatchedEx", handle));
}

cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t of_a,
                                          cublasOperation_t of_b, int m, int n, int k, const void*,
                                          const void* a, cudaDataType type_a, int lda,
                                          long long stride_a, const void* b, cudaDataType type_b,
                                          int ldb, long long stride_b, const void*, void* c,
                                          cudaDataType type_c, int ldc, long long stride_c,
                                          int batches, cublasComputeType_t, cublasGemmAlgo_t) {
  return Multiply("cublasGemmStridedBatchedEx", handle, {of_a, of_b, m, n, k, batches},
                  {a, type_a, lda, stride_a}, {b, type_b, ldb, stride_b},
                  {c, type_c, ldc, stride_c});
}
