// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/libraries/product_operands.h"

#include <algorithm>

namespace memtrace::card {

std::uint64_t BitsOf(cudaDataType type) {
  switch (type) {
    case CUDA_C_64F:
      return 128;
    case CUDA_R_64F:
    case CUDA_C_32F:
      return 64;
    case CUDA_R_32F:
    case CUDA_R_32I:
    case CUDA_R_32U:
    case CUDA_C_16F:
    case CUDA_C_16BF:
      return 32;
    case CUDA_R_16F:
    case CUDA_R_16BF:
    case CUDA_C_8I:
    case CUDA_C_8U:
      return 16;
    case CUDA_R_4I:
    case CUDA_R_4U:
    case CUDA_R_4F_E2M1:
      return 4;
    default:  // integers and floating point of 8 bits; cuBLAS multiplies no others
      return 8;
  }
}

memtrace_card_operand OperandOf(const Matrix& matrix) {
  const auto bytes = [bits = BitsOf(matrix.type)](std::uint64_t elements) {
    return (elements * bits + 7) / 8;
  };
  const auto stride = [&](std::int64_t elements) {
    return bytes(static_cast<std::uint64_t>(std::max<std::int64_t>(elements, 0)));
  };
  return {.begin = matrix.begin,
          .column_bytes = bytes(matrix.rows),
          .columns = matrix.columns,
          .column_stride = stride(matrix.leading),
          .matrices = matrix.batches,
          .matrix_stride = stride(matrix.batch_stride)};
}

}  // namespace memtrace::card
