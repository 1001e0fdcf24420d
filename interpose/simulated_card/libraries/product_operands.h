// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_LIBRARIES_PRODUCT_OPERANDS_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_LIBRARIES_PRODUCT_OPERANDS_H_

#include <library_types.h>

#include <cstdint>

#include "interpose/simulated_card/interface/library_calls.h"

namespace memtrace::card {

// A batch of matrices as cuBLAS is told of them, in elements. Each is stored by columns.
struct Matrix {
  const void* begin = nullptr;
  cudaDataType type = CUDA_R_32F;
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  std::int64_t leading = 0;  // elements from a column to the next
  std::uint64_t batches = 1;
  std::int64_t batch_stride = 0;
};

// Returns the bits of an element.
std::uint64_t BitsOf(cudaDataType type);

// Returns the memory that the matrices take.
memtrace_card_operand OperandOf(const Matrix& matrix);

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_LIBRARIES_PRODUCT_OPERANDS_H_
