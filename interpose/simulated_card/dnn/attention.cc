// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/dnn/attention.h"

#include <array>
#include <cstdint>

#include "interpose/simulated_card/dnn/objects.h"

namespace memtrace::card {
namespace {

// The attributes in which an operation names its queries and keys. As an operand of a product the
// keys are transposed.
struct Operands {
  cudnnBackendDescriptorType_t type;
  int queries;
  int keys;
  bool keys_are_transposed;
};

constexpr std::array<Operands, 3> kOperands = {{
    {CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR, CUDNN_ATTR_OPERATION_SDPA_FWD_QDESC,
     CUDNN_ATTR_OPERATION_SDPA_FWD_KDESC, false},
    {CUDNN_BACKEND_OPERATION_SDPA_BWD_DESCRIPTOR, CUDNN_ATTR_OPERATION_SDPA_BWD_QDESC,
     CUDNN_ATTR_OPERATION_SDPA_BWD_KDESC, false},
    {CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR, CUDNN_ATTR_OPERATION_MATMUL_ADESC,
     CUDNN_ATTR_OPERATION_MATMUL_BDESC, true},
}};

std::optional<AttentionShape> ShapeOf(const DnnDescriptor& operation, const Operands& operands) {
  const DnnDescriptor& queries = *operation.References(operands.queries).front();
  const DnnDescriptor& keys = *operation.References(operands.keys).front();
  const auto q = queries.Values<std::int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS);
  const auto k = keys.Values<std::int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS);
  if (q.size() != 4 || k.size() != 4) return std::nullopt;
  const auto size = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
  const auto type = queries.ValueOr(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_DATA_HALF);
  return AttentionShape{.batch = size(q[0]),
                        .heads = size(q[1]),
                        .key_heads = size(k[1]),
                        .queries = size(q[2]),
                        .keys = size(k[operands.keys_are_transposed ? 3 : 2]),
                        .head_size = size(q[3]),
                        .element_bytes = PackedBytes(type, 1)};
}

}  // namespace

std::optional<AttentionShape> FindAttentionShape(
    const std::vector<DnnDescriptorPointer>& operations) {
  for (const DnnDescriptorPointer& operation : operations) {
    for (const Operands& operands : kOperands) {
      if (operation->is(operands.type)) return ShapeOf(*operation, operands);
    }
  }
  return std::nullopt;
}

}  // namespace memtrace::card
