// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// cuBLASLt: descriptors are boxes, a heuristic always finds one algorithm, a product is not
// computed.
#pragma GCC visibility push(default)
#include <cublasLt.h>
#pragma GCC visibility pop

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "interpose/simulated_card/interface/library_calls.h"
#include "interpose/simulated_card/libraries/product_operands.h"
#include "interpose/simulated_card/libraries/versions.h"

namespace memtrace::card {
namespace {

// A descriptor's contents never matter, except that it is created and destroyed once.
template <typename Handle>
cublasStatus_t MakeBox(Handle* handle) {
  if (handle == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *handle = reinterpret_cast<Handle>(new char);
  return CUBLAS_STATUS_SUCCESS;
}

template <typename Handle>
cublasStatus_t DestroyBox(Handle handle) {
  delete reinterpret_cast<char*>(handle);
  return CUBLAS_STATUS_SUCCESS;
}

// CUBLASLT_MATRIX_LAYOUT_BATCH_MODE, which older headers do not have. Unless it is 0, the matrices'
// addresses lie on the card.
constexpr auto kBatchMode = static_cast<cublasLtMatrixLayoutAttribute_t>(8);

// A layout keeps its size and place, so that a product's operations and operands can be counted.
struct Layout {
  cudaDataType type = CUDA_R_32F;
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  std::int64_t leading = 0;
  std::int32_t batches = 1;
  std::int64_t batch_stride = 0;
  std::uint32_t batch_mode = 0;
  std::int32_t order = CUBLASLT_ORDER_COL;

  std::uint64_t elements() const { return rows * columns; }
};

const Layout& FromHandle(cublasLtMatrixLayout_t layout) {
  return *reinterpret_cast<const Layout*>(layout);
}

// Returns a multiplication and an addition for each of m x n x k; `a` is m x k, or k x m.
std::uint64_t OperationsOf(const Layout& a, const Layout& d) {
  if (d.rows == 0) return 0;
  const std::uint64_t k = a.elements() / d.rows;
  return 2 * d.elements() * k * static_cast<std::uint64_t>(d.batches);
}

// Returns the memory of a matrix with this layout; none if its address is not known. Orders of
// tiles count as columns.
memtrace_card_operand OperandAt(const void* begin, const Layout& layout) {
  const bool by_rows = layout.order == CUBLASLT_ORDER_ROW;
  return OperandOf({.begin = layout.batch_mode == 0 ? begin : nullptr,
                    .type = layout.type,
                    .rows = by_rows ? layout.columns : layout.rows,
                    .columns = by_rows ? layout.rows : layout.columns,
                    .leading = layout.leading,
                    .batches = static_cast<std::uint64_t>(layout.batches),
                    .batch_stride = layout.batch_stride});
}

template <typename Field>
void Store(const void* value, std::size_t bytes, Field& field) {
  if (value != nullptr && bytes == sizeof(field)) std::memcpy(&field, value, sizeof(field));
}

cublasStatus_t AcceptAttribute(const void* handle) {
  return handle == nullptr ? CUBLAS_STATUS_INVALID_VALUE : CUBLAS_STATUS_SUCCESS;
}

}  // namespace
}  // namespace memtrace::card

using namespace memtrace::card;  // NOLINT: this file defines C functions over that namespace

std::size_t cublasLtGetVersion() { return static_cast<std::size_t>(BlasVersion()); }

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) { return MakeBox(handle); }

cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) { return DestroyBox(handle); }

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* descriptor, cublasComputeType_t,
                                        cudaDataType_t) {
  return MakeBox(descriptor);
}

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t descriptor) {
  return DestroyBox(descriptor);
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t descriptor,
                                              cublasLtMatmulDescAttributes_t, const void*,
                                              std::size_t) {
  return AcceptAttribute(descriptor);
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType type,
                                          std::uint64_t rows, std::uint64_t columns,
                                          std::int64_t leading) {
  if (layout == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *layout = reinterpret_cast<cublasLtMatrixLayout_t>(
      new Layout{.type = type, .rows = rows, .columns = columns, .leading = leading});
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  delete reinterpret_cast<Layout*>(layout);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t attribute,
                                                const void* value, std::size_t bytes) {
  if (layout == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  auto& kept = *reinterpret_cast<Layout*>(layout);
  if (attribute == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT) Store(value, bytes, kept.batches);
  if (attribute == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET)
    Store(value, bytes, kept.batch_stride);
  if (attribute == kBatchMode) Store(value, bytes, kept.batch_mode);
  if (attribute == CUBLASLT_MATRIX_LAYOUT_ORDER) Store(value, bytes, kept.order);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  return MakeBox(preference);
}

cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  return DestroyBox(preference);
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t,
                                                    const void*, std::size_t) {
  return AcceptAttribute(preference);
}

// Gives one algorithm without a workspace: torch passes its own of fixed size anyway.
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                              cublasLtMatmulPreference_t, int wanted,
                                              cublasLtMatmulHeuristicResult_t* results,
                                              int* found) {
  if (wanted < 1 || results == nullptr || found == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  results[0] = {};
  results[0].state = CUBLAS_STATUS_SUCCESS;
  results[0].wavesCount = 1.0f;
  *found = 1;
  return CUBLAS_STATUS_SUCCESS;
}

// C is not among the operands if it is D, and counts as unused otherwise, because beta may be 0.
cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t, const void*,
                              const void* a, cublasLtMatrixLayout_t layout_a, const void* b,
                              cublasLtMatrixLayout_t layout_b, const void*, const void*,
                              cublasLtMatrixLayout_t, void* d, cublasLtMatrixLayout_t layout_d,
                              const cublasLtMatmulAlgo_t*, void*, std::size_t,
                              cudaStream_t stream) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  std::vector<memtrace_card_operand> operands;
  if (layout_a != nullptr && layout_b != nullptr && layout_d != nullptr) {
    memtrace_card_count_operations(OperationsOf(FromHandle(layout_a), FromHandle(layout_d)));
    if (memtrace_card_operands_are_watched() != 0)
      operands = {OperandAt(a, FromHandle(layout_a)), OperandAt(b, FromHandle(layout_b)),
                  OperandAt(d, FromHandle(layout_d))};
  }
  const int launched =
      memtrace_card_launch_product("cublasLtMatmul", stream, operands.data(), operands.size());
  return launched == 0 ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}
