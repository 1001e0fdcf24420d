// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/dnn/convolution.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <numeric>
#include <vector>

#include "base/units.h"
#include "interpose/simulated_card/dnn/objects.h"
#include "interpose/simulated_card/dnn/sizes.h"

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

// Returns the bytes to copy so that the channels are innermost: 0 if they already are, or if there
// are no other dimensions to order.
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
  return x.size() > 1 && TensorCoresSupport(type(), x[1]);
}

// A result that only the next operation reads has no type of its own in memory.
cudnnDataType_t DnnConvolution::TypeOf(const DnnDescriptor& tensor) const {
  const bool is_virtual = tensor.ValueOr<std::uint8_t>(CUDNN_ATTR_TENSOR_IS_VIRTUAL, 0) != 0;
  return is_virtual ? type() : tensor.ValueOr(CUDNN_ATTR_TENSOR_DATA_TYPE, type());
}

bool DnnConvolution::is_forward() const { return call_ == kDirections[0].call; }

bool DnnConvolution::is_forward_in_tf32() const {
  return is_forward() && TypeOf(y_) == CUDNN_DATA_FLOAT;
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

bool DnnConvolution::is_pointwise() const {
  const Sizes w = SizesOf(w_);
  return !is_strided() &&
         std::all_of(w.begin() + 2, w.end(), [](std::int64_t size) { return size == 1; });
}

// Returns the bytes of a tensor in the layout that tensor cores read: channels innermost and padded
// to multiples of 16 bytes. 0 if it is already laid out so. `channels`: the dimensions that count
// them.
std::uint64_t DnnConvolution::PaddedCopyBytes(const DnnDescriptor& tensor,
                                              std::initializer_list<std::size_t> channels) const {
  constexpr std::uint64_t kUnit = 16;
  const cudnnDataType_t type = TypeOf(tensor);
  const std::uint64_t unit = kUnit / PackedBytes(type, 1);
  Sizes sizes = SizesOf(tensor);
  bool is_filled = true;
  for (const std::size_t dimension : channels) {
    const auto size = static_cast<std::uint64_t>(sizes[dimension]);
    is_filled = is_filled && size % unit == 0;
    sizes[dimension] = static_cast<std::int64_t>(RoundUp(size, unit));
  }
  if (is_filled && CopiedBytes(tensor, type) == 0) return 0;
  const auto elements =
      std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>());
  return PackedBytes(type, static_cast<std::uint64_t>(elements));
}

// The gradient of a small filter is summed up in pieces to keep the card busy, with a 32-bit copy
// for each. Measured: fp32 uses as many pieces as the card has room for; 16-bit types use 4 to 16,
// by no rule that we have found.
std::uint64_t DnnConvolution::PartialFilters() const {
  constexpr std::uint64_t kTile = 128;
  constexpr std::uint64_t kMostOf16Bits = 8;
  if (call_ != kDirections[2].call) return 0;
  const Sizes w = SizesOf(w_);
  const auto rows = static_cast<std::uint64_t>(w[0]);
  const auto columns = static_cast<std::uint64_t>(
      std::accumulate(w.begin() + 1, w.end(), std::int64_t{1}, std::multiplies<>()));
  const bool is_single = TypeOf(x_) == CUDNN_DATA_FLOAT;
  const std::uint64_t wide = is_single ? kTile : 2 * kTile;
  const std::uint64_t tiles = RoundUp(rows, kTile) / kTile * (RoundUp(columns, wide) / wide);
  const auto card =
      static_cast<std::uint64_t>(CurrentCardAttribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
  if (is_single && tiles > card) return card * kTile * kTile * sizeof(float);
  const std::uint64_t room = tiles == 0 ? 0 : card / tiles;
  const std::uint64_t pieces = is_single ? room : std::min(room, kMostOf16Bits);
  return pieces <= 1 ? 0 : pieces * rows * columns * sizeof(float);
}

// The rule follows an H200 (tests/gpu/recordings/h200/sizes_convolutions.jsonl;
// docs/design/simulated-card.md says how well).
std::uint64_t DnnConvolution::WorkspaceOnHopper() const {
  constexpr std::uint64_t kBeside = 147;
  constexpr std::int64_t kChannelsReadDirectly = 4;
  constexpr std::int64_t kNarrow = 128;  // with fewer channels the product is written in place
  const std::int64_t channels = SizesOf(x_)[1];
  if (is_pointwise()) return 0;
  if (is_forward() && channels == kChannelsReadDirectly) return 0;
  const bool is_grouped = SizesOf(w_)[1] != channels;
  const std::uint64_t x = PaddedCopyBytes(x_, {1});
  const std::uint64_t w = is_grouped ? CopiedBytes(w_, TypeOf(w_)) : PaddedCopyBytes(w_, {0, 1});
  const bool writes_in_place = is_forward_in_tf32() && channels < kNarrow && SizesOf(x_).size() < 5;
  const std::uint64_t y = writes_in_place ? 0 : PaddedCopyBytes(y_, {1});
  const std::uint64_t copies = x + w + y + (is_grouped ? 0 : PartialFilters());
  return copies == 0 ? 0 : copies + kBeside;
}

// In figures of VAEs on an RTX 4090, fp32 has one copy less than fp16 and bf16, no copies where the
// convolution is strided, and more where it is wide.
std::uint64_t DnnConvolution::Workspace() const {
  constexpr int kHopper = 9;
  if (CurrentCardAttribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) >= kHopper)
    return WorkspaceOnHopper();
  const std::uint64_t x = CopiedBytes(x_, TypeOf(x_));
  const std::uint64_t w = CopiedBytes(w_, TypeOf(w_));
  if (!is_forward_in_tf32()) return ConvolutionWorkspace({x, w, CopiedBytes(y_, TypeOf(y_))});
  if (is_strided()) return 0;
  return x > 0 && is_wide() ? WideConvolutionWorkspace(x, w) : ConvolutionWorkspace({x, w});
}

}  // namespace memtrace::card
