// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// cuDNN: descriptions of tensors, filters and convolutions. What was set is what is read back.
#include <algorithm>

#include "interpose/simulated_card/dnn/objects.h"

using namespace memtrace::card;  // NOLINT: this file defines C functions over that namespace

namespace memtrace::card {
namespace {

bool IsDimensionCount(int dimensions) { return dimensions > 0 && dimensions <= CUDNN_DIM_MAX; }

template <typename Array>
void CopyIn(const int* from, int count, Array& to) {
  std::copy_n(from, count, to.begin());
}

// Copies as many elements as the caller requested.
template <typename Array>
void CopyOut(const Array& from, int count, int* to) {
  if (to != nullptr) std::copy_n(from.begin(), count, to);
}

template <typename Value>
void Give(Value* out, Value value) {
  if (out != nullptr) *out = value;
}

}  // namespace
}  // namespace memtrace::card

cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t* tensor) {
  return Create(tensor);
}

cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t tensor) {
  return Destroy(tensor);
}

cudnnStatus_t cudnnSetTensorNdDescriptor(cudnnTensorDescriptor_t tensor, cudnnDataType_t type,
                                         int dimensions, const int sizes[], const int strides[]) {
  if (tensor == nullptr || sizes == nullptr || strides == nullptr)
    return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
  if (!IsDimensionCount(dimensions)) return CUDNN_STATUS_BAD_PARAM_OUT_OF_BOUND;
  if (std::any_of(sizes, sizes + dimensions, [](int size) { return size < 1; }))
    return CUDNN_STATUS_BAD_PARAM_OUT_OF_BOUND;
  tensor->type = type;
  tensor->dimensions = dimensions;
  CopyIn(sizes, dimensions, tensor->sizes);
  CopyIn(strides, dimensions, tensor->strides);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetTensorNdDescriptor(const cudnnTensorDescriptor_t tensor, int wanted,
                                         cudnnDataType_t* type, int* dimensions, int sizes[],
                                         int strides[]) {
  if (tensor == nullptr) return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
  const int given = std::min(wanted, tensor->dimensions);
  Give(type, tensor->type);
  Give(dimensions, tensor->dimensions);
  CopyOut(tensor->sizes, given, sizes);
  CopyOut(tensor->strides, given, strides);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnCreateFilterDescriptor(cudnnFilterDescriptor_t* filter) {
  return Create(filter);
}

cudnnStatus_t cudnnDestroyFilterDescriptor(cudnnFilterDescriptor_t filter) {
  return Destroy(filter);
}

cudnnStatus_t cudnnSetFilterNdDescriptor(cudnnFilterDescriptor_t filter, cudnnDataType_t type,
                                         cudnnTensorFormat_t format, int dimensions,
                                         const int sizes[]) {
  if (filter == nullptr || sizes == nullptr) return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
  if (!IsDimensionCount(dimensions)) return CUDNN_STATUS_BAD_PARAM_OUT_OF_BOUND;
  filter->type = type;
  filter->format = format;
  filter->dimensions = dimensions;
  CopyIn(sizes, dimensions, filter->sizes);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetFilterNdDescriptor(const cudnnFilterDescriptor_t filter, int wanted,
                                         cudnnDataType_t* type, cudnnTensorFormat_t* format,
                                         int* dimensions, int sizes[]) {
  if (filter == nullptr) return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
  Give(type, filter->type);
  Give(format, filter->format);
  Give(dimensions, filter->dimensions);
  CopyOut(filter->sizes, std::min(wanted, filter->dimensions), sizes);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnCreateConvolutionDescriptor(cudnnConvolutionDescriptor_t* convolution) {
  return Create(convolution);
}

cudnnStatus_t cudnnDestroyConvolutionDescriptor(cudnnConvolutionDescriptor_t convolution) {
  return Destroy(convolution);
}

cudnnStatus_t cudnnSetConvolutionNdDescriptor(cudnnConvolutionDescriptor_t convolution,
                                              int dimensions, const int padding[],
                                              const int strides[], const int dilation[],
                                              cudnnConvolutionMode_t mode, cudnnDataType_t type) {
  if (convolution == nullptr || padding == nullptr || strides == nullptr || dilation == nullptr)
    return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
  if (!IsDimensionCount(dimensions)) return CUDNN_STATUS_BAD_PARAM_OUT_OF_BOUND;
  convolution->dimensions = dimensions;
  CopyIn(padding, dimensions, convolution->padding);
  CopyIn(strides, dimensions, convolution->strides);
  CopyIn(dilation, dimensions, convolution->dilation);
  convolution->mode = mode;
  convolution->type = type;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetConvolutionGroupCount(cudnnConvolutionDescriptor_t convolution, int groups) {
  if (convolution == nullptr) return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
  if (groups < 1) return CUDNN_STATUS_BAD_PARAM_OUT_OF_BOUND;
  convolution->groups = groups;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t convolution,
                                          cudnnMathType_t math) {
  if (convolution == nullptr) return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
  convolution->math = math;
  return CUDNN_STATUS_SUCCESS;
}
