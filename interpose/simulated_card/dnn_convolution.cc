// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/dnn_convolution.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <numeric>
#include <vector>

#include "interpose/simulated_card/dnn_objects.h"
#include "interpose/simulated_card/dnn_sizes.h"

namespace memtrace::card {
namespace {

using Sizes = std::vector<std::int64_t>;

struct Direction {
  cudnnBackendDescriptorType_t type;
  const char* call;
  int x;
  int w;
  int y;
  int how;
};

constexpr Direction kDirections[] = {
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR, "cuDNN convolution forward",
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC},
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
     "cuDNN convolution backward data", CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC},
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
     "cuDNN convolution backward filter", CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC},
};

const Direction* FindDirection(const DnnDescriptor& operation) {
  const auto* found = std::find_if(std::begin(kDirections), std::end(kDirections),
                                   [&](const Direction& one) { return operation.is(one.type); });
  return found == std::end(kDirections) ? nullptr : found;
}

Sizes SizesOf(const DnnDescriptor& tensor) {
  return tensor.Values<std::int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS);
}

// Bytes to copy so that the channels lie innermost: none where they do, or where there is nothing
// beside them to order.
std::uint64_t CopiedBytes(const DnnDescriptor& tensor, cudnnDataType_t type) {
  const Sizes sizes = SizesOf(tensor);
  const Sizes strides = tensor.Values<std::int64_t>(CUDNN_ATTR_TENSOR_STRIDES);
  if (sizes.size() < 3 || strides.size() != sizes.size()) return 0;
  const auto product = [](auto begin, auto end) {
    return std::accumulate(begin, end, std::int64_t{1}, std::multiplies<>());
  };
  if (sizes[1] == 1 || strides[1] == 1 || product(sizes.begin() + 2, sizes.end()) == 1) return 0;
  return PackedBytes(type, static_cast<std::uint64_t>(product(sizes.begin(), sizes.end())));
}

}  // namespace

bool IsConvolution(const DnnDescriptor& operation) { return FindDirection(operation) != nullptr; }

DnnConvolution::DnnConvolution(const DnnDescriptor& operation)
    : call_(FindDirection(operation)->call),
      x_(Reference(operation, FindDirection(operation)->x)),
      w_(Reference(operation, FindDirection(operation)->w)),
      y_(Reference(operation, FindDirection(operation)->y)),
      how_(Reference(operation, FindDirection(operation)->how)) {}

cudnnDataType_t DnnConvolution::type() const {
  return x_.ValueOr(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_DATA_FLOAT);
}

cudnnStatus_t DnnConvolution::CheckShapes() const {
  const Sizes x = SizesOf(x_);
  const Sizes w = SizesOf(w_);
  const Sizes y = SizesOf(y_);
  const Sizes stride = how_.Values<std::int64_t>(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES);
  const Sizes before = how_.Values<std::int64_t>(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS);
  const Sizes after = how_.Values<std::int64_t>(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS);
  const Sizes dilation = how_.Values<std::int64_t>(CUDNN_ATTR_CONVOLUTION_DILATIONS);
  const std::size_t spatial = stride.size();
  const bool counts_agree = x.size() == spatial + 2 && w.size() == x.size() &&
                            y.size() == x.size() && before.size() == spatial &&
                            after.size() == spatial && dilation.size() == spatial;
  bool agrees = counts_agree && x[0] == y[0] && w[0] == y[1] && w[1] > 0 && x[1] % w[1] == 0;
  for (std::size_t i = 0; agrees && i < spatial; ++i) {
    const std::int64_t reach = dilation[i] * (w[i + 2] - 1) + 1;
    const std::int64_t room = x[i + 2] + before[i] + after[i] - reach;
    agrees = room >= 0 && stride[i] > 0 && y[i + 2] == room / stride[i] + 1;
  }
  if (agrees) return CUDNN_STATUS_SUCCESS;
  return Refuse(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH,
                "the sizes of the tensors of a convolution do not fit each other");
}

bool DnnConvolution::may_run_on_tensor_cores() const {
  const Sizes x = SizesOf(x_);
  return x.size() > 1 && TensorCoresTake(type(), x[1]);
}

// A result that only goes on to the next operation has no type of its own in memory.
cudnnDataType_t DnnConvolution::TypeOf(const DnnDescriptor& tensor) const {
  const bool is_virtual = tensor.ValueOr<std::uint8_t>(CUDNN_ATTR_TENSOR_IS_VIRTUAL, 0) != 0;
  return is_virtual ? type() : tensor.ValueOr(CUDNN_ATTR_TENSOR_DATA_TYPE, type());
}

bool DnnConvolution::is_forward_in_tf32() const {
  return call_ == kDirections[0].call && TypeOf(y_) == CUDNN_DATA_FLOAT;
}

bool DnnConvolution::is_strided() const {
  const Sizes strides = how_.Values<std::int64_t>(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES);
  return std::any_of(strides.begin(), strides.end(), [](auto stride) { return stride > 1; });
}

bool DnnConvolution::is_wide() const {
  constexpr std::int64_t kWide = 512;
  const Sizes w = SizesOf(w_);
  const bool has_window = std::any_of(w.begin() + 2, w.end(), [](auto size) { return size > 1; });
  return has_window && w[0] >= kWide && w[1] >= kWide && SizesOf(x_) == SizesOf(y_);
}

// Figures of VAEs on an RTX 4090 hold one copy less in fp32 than in fp16 and bf16, none where the
// convolution is strided, and more where it is wide.
std::uint64_t DnnConvolution::Workspace() const {
  const std::uint64_t x = CopiedBytes(x_, TypeOf(x_));
  const std::uint64_t w = CopiedBytes(w_, TypeOf(w_));
  if (!is_forward_in_tf32()) return ConvolutionWorkspace({x, w, CopiedBytes(y_, TypeOf(y_))});
  if (is_strided()) return 0;
  return x > 0 && is_wide() ? WideConvolutionWorkspace(x, w) : ConvolutionWorkspace({x, w});
}

}  // namespace memtrace::card
