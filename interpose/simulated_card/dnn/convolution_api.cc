// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// cuDNN's older interface of convolutions: which algorithms there are and what they need. Two are
// answered, the better first: the tensor cores', and one that needs no workspace. The functions
// that compute are listed in symbols/libcudnn.inert.txt.
#include <numeric>

#include "interpose/simulated_card/dnn/objects.h"

using namespace memtrace::card;  // NOLINT: this file defines C functions over that namespace

namespace memtrace::card {
namespace {

std::uint64_t Elements(int dimensions, const std::array<int, CUDNN_DIM_MAX>& sizes) {
  return std::accumulate(
      sizes.begin(), sizes.begin() + dimensions, std::uint64_t{1},
      [](std::uint64_t product, int size) { return product * static_cast<std::uint64_t>(size); });
}

// Returns the bytes to copy so that the channels are innermost: 0 if they already are, or if there
// are no other dimensions to order.
std::uint64_t CopiedBytes(const cudnnTensorStruct& tensor) {
  const std::uint64_t elements = Elements(tensor.dimensions, tensor.sizes);
  const bool one_order = elements == static_cast<std::uint64_t>(tensor.sizes[0]) *
                                         static_cast<std::uint64_t>(tensor.sizes[1]);
  if (tensor.sizes[1] == 1 || tensor.strides[1] == 1 || one_order) return 0;
  return PackedBytes(tensor.type, elements);
}

std::uint64_t CopiedBytes(const cudnnFilterStruct& filter) {
  if (filter.format == CUDNN_TENSOR_NHWC) return 0;
  return PackedBytes(filter.type, Elements(filter.dimensions, filter.sizes));
}

// A convolution in any direction: x is the forward pass's input, y its output.
struct Convolution {
  const cudnnTensorStruct* x;
  const cudnnFilterStruct* w;
  const cudnnTensorStruct* y;
  const cudnnConvolutionStruct* how;

  bool is_whole() const { return x != nullptr && w != nullptr && y != nullptr && how != nullptr; }
  bool on_tensor_cores() const {
    return how->math != CUDNN_FMA_MATH && TensorCoresSupport(x->type, x->sizes[1]);
  }
  std::size_t Workspace() const {
    return ConvolutionWorkspace({CopiedBytes(*x), CopiedBytes(*w), CopiedBytes(*y)});
  }
};

template <typename Performance, typename Algorithm>
cudnnStatus_t ListAlgorithms(const Convolution& convolution, Algorithm on_tensor_cores,
                             Algorithm without_workspace, int wanted, int* found,
                             Performance* results) {
  if (!convolution.is_whole() || found == nullptr || results == nullptr)
    return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
  *found = 0;
  const auto add = [&](Algorithm algorithm, std::size_t memory, cudnnMathType_t math) {
    if (*found >= wanted) return;
    Performance& result = results[(*found)++];
    result = {};
    result.algo = algorithm;
    result.memory = memory;
    result.mathType = math;
    result.time = static_cast<float>(*found);  // only the order of these times is meaningful
    result.determinism = CUDNN_DETERMINISTIC;
  };
  if (convolution.on_tensor_cores())
    add(on_tensor_cores, convolution.Workspace(), CUDNN_TENSOR_OP_MATH);
  add(without_workspace, 0, CUDNN_FMA_MATH);
  return CUDNN_STATUS_SUCCESS;
}

template <typename Algorithm>
cudnnStatus_t AnswerWorkspace(const Convolution& convolution, Algorithm algorithm,
                              Algorithm on_tensor_cores, std::size_t* bytes) {
  if (!convolution.is_whole()) return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
  const bool copies = algorithm == on_tensor_cores && convolution.on_tensor_cores();
  return Answer(bytes, copies ? convolution.Workspace() : std::size_t{0});
}

constexpr auto kForward = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM;
constexpr auto kPlainForward = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM;
constexpr auto kData = CUDNN_CONVOLUTION_BWD_DATA_ALGO_1;
constexpr auto kPlainData = CUDNN_CONVOLUTION_BWD_DATA_ALGO_0;
constexpr auto kFilter = CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1;
constexpr auto kPlainFilter = CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0;

}  // namespace
}  // namespace memtrace::card

cudnnStatus_t cudnnGetConvolutionForwardAlgorithm_v7(cudnnHandle_t, const cudnnTensorDescriptor_t x,
                                                     const cudnnFilterDescriptor_t w,
                                                     const cudnnConvolutionDescriptor_t how,
                                                     const cudnnTensorDescriptor_t y,
                                                     const int wanted, int* found,
                                                     cudnnConvolutionFwdAlgoPerf_t* results) {
  return ListAlgorithms({x, w, y, how}, kForward, kPlainForward, wanted, found, results);
}

cudnnStatus_t cudnnFindConvolutionForwardAlgorithmEx(
    cudnnHandle_t, const cudnnTensorDescriptor_t x, const void*, const cudnnFilterDescriptor_t w,
    const void*, const cudnnConvolutionDescriptor_t how, const cudnnTensorDescriptor_t y, void*,
    const int wanted, int* found, cudnnConvolutionFwdAlgoPerf_t* results, void*, std::size_t) {
  return ListAlgorithms({x, w, y, how}, kForward, kPlainForward, wanted, found, results);
}

cudnnStatus_t cudnnGetConvolutionForwardWorkspaceSize(
    cudnnHandle_t, const cudnnTensorDescriptor_t x, const cudnnFilterDescriptor_t w,
    const cudnnConvolutionDescriptor_t how, const cudnnTensorDescriptor_t y,
    cudnnConvolutionFwdAlgo_t algorithm, std::size_t* bytes) {
  return AnswerWorkspace({x, w, y, how}, algorithm, kForward, bytes);
}

cudnnStatus_t cudnnGetConvolutionBackwardDataAlgorithm_v7(
    cudnnHandle_t, const cudnnFilterDescriptor_t w, const cudnnTensorDescriptor_t dy,
    const cudnnConvolutionDescriptor_t how, const cudnnTensorDescriptor_t dx, const int wanted,
    int* found, cudnnConvolutionBwdDataAlgoPerf_t* results) {
  return ListAlgorithms({dx, w, dy, how}, kData, kPlainData, wanted, found, results);
}

cudnnStatus_t cudnnFindConvolutionBackwardDataAlgorithmEx(
    cudnnHandle_t, const cudnnFilterDescriptor_t w, const void*, const cudnnTensorDescriptor_t dy,
    const void*, const cudnnConvolutionDescriptor_t how, const cudnnTensorDescriptor_t dx, void*,
    const int wanted, int* found, cudnnConvolutionBwdDataAlgoPerf_t* results, void*, std::size_t) {
  return ListAlgorithms({dx, w, dy, how}, kData, kPlainData, wanted, found, results);
}

cudnnStatus_t cudnnGetConvolutionBackwardDataWorkspaceSize(
    cudnnHandle_t, const cudnnFilterDescriptor_t w, const cudnnTensorDescriptor_t dy,
    const cudnnConvolutionDescriptor_t how, const cudnnTensorDescriptor_t dx,
    cudnnConvolutionBwdDataAlgo_t algorithm, std::size_t* bytes) {
  return AnswerWorkspace({dx, w, dy, how}, algorithm, kData, bytes);
}

cudnnStatus_t cudnnGetConvolutionBackwardFilterAlgorithm_v7(
    cudnnHandle_t, const cudnnTensorDescriptor_t x, const cudnnTensorDescriptor_t dy,
    const cudnnConvolutionDescriptor_t how, const cudnnFilterDescriptor_t dw, const int wanted,
    int* found, cudnnConvolutionBwdFilterAlgoPerf_t* results) {
  return ListAlgorithms({x, dw, dy, how}, kFilter, kPlainFilter, wanted, found, results);
}

cudnnStatus_t cudnnFindConvolutionBackwardFilterAlgorithmEx(
    cudnnHandle_t, const cudnnTensorDescriptor_t x, const void*, const cudnnTensorDescriptor_t dy,
    const void*, const cudnnConvolutionDescriptor_t how, const cudnnFilterDescriptor_t dw, void*,
    const int wanted, int* found, cudnnConvolutionBwdFilterAlgoPerf_t* results, void*,
    std::size_t) {
  return ListAlgorithms({x, dw, dy, how}, kFilter, kPlainFilter, wanted, found, results);
}

cudnnStatus_t cudnnGetConvolutionBackwardFilterWorkspaceSize(
    cudnnHandle_t, const cudnnTensorDescriptor_t x, const cudnnTensorDescriptor_t dy,
    const cudnnConvolutionDescriptor_t how, const cudnnFilterDescriptor_t dw,
    cudnnConvolutionBwdFilterAlgo_t algorithm, std::size_t* bytes) {
  return AnswerWorkspace({x, dw, dy, how}, algorithm, kFilter, bytes);
}
