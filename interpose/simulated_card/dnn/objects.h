// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_DNN_OBJECTS_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_DNN_OBJECTS_H_

// The objects behind the handles of libcudnn's older interface (one function for each operation),
// and declarations that the *_api.cc files share. The newer interface, made of graphs, is in
// descriptor.h.
#include <cuda.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "interpose/simulated_card/dnn/header.h"
#include "interpose/simulated_card/dnn/sizes.h"
#include "interpose/simulated_card/interface/library_memory.h"

// cudnn.h declares these types without defining them.
struct cudnnContext {
  memtrace::card::LibraryMemory memory;
  cudaStream_t stream = nullptr;
};

struct cudnnTensorStruct {
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  int dimensions = 0;
  std::array<int, CUDNN_DIM_MAX> sizes = {};
  std::array<int, CUDNN_DIM_MAX> strides = {};
};

struct cudnnFilterStruct {
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  cudnnTensorFormat_t format = CUDNN_TENSOR_NCHW;
  int dimensions = 0;
  std::array<int, CUDNN_DIM_MAX> sizes = {};
};

struct cudnnConvolutionStruct {
  int dimensions = 0;
  std::array<int, CUDNN_DIM_MAX> padding = {};
  std::array<int, CUDNN_DIM_MAX> strides = {};
  std::array<int, CUDNN_DIM_MAX> dilation = {};
  cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  cudnnMathType_t math = CUDNN_DEFAULT_MATH;
  int groups = 1;
};

struct cudnnDropoutStruct {
  float probability = 0;
  void* states = nullptr;
  unsigned long long seed = 0;
};

struct cudnnRNNStruct {
  memtrace::card::RnnShape shape;
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
};

struct cudnnRNNDataStruct {
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  int steps = 0;
  int batch = 0;
  int vector = 0;
};

namespace memtrace::card {

// An element may take less than a byte.
int ElementBits(cudnnDataType_t type);
std::uint64_t PackedBytes(cudnnDataType_t type, std::uint64_t elements);

// Returns an attribute of the current card, or of card 0 if the thread has no context.
int CurrentCardAttribute(CUdevice_attribute attribute);
// True if its tensor cores multiply such numbers: halves from 7.0 on, the others from 8.0, never
// doubles in a convolution. 32-bit floats are rounded for it (TF32), which the caller may forbid. A
// product reads four 32-bit floats side by side, so input channels must be a multiple of four.
bool TensorCoresSupport(cudnnDataType_t type, std::int64_t channels);

// Stores a sentence for cudnnGetLastErrorString, and returns the status.
cudnnStatus_t Refuse(cudnnStatus_t status, const char* format, ...)
    __attribute__((format(printf, 2, 3)));

template <typename Object>
cudnnStatus_t Create(Object** object) {
  if (object == nullptr) return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
  *object = new Object;
  return CUDNN_STATUS_SUCCESS;
}

template <typename Object>
cudnnStatus_t Destroy(Object* object) {
  delete object;
  return CUDNN_STATUS_SUCCESS;
}

// Writes the answer of a query.
template <typename Value>
cudnnStatus_t Answer(Value* out, Value value) {
  if (out == nullptr) return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
  *out = value;
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace memtrace::card

// Launches a call of cuDNN that computes, counted by its name. Returns a cudnnStatus_t.
extern "C" int memtrace_dnn_call(const char* name, void* handle);

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_DNN_OBJECTS_H_
