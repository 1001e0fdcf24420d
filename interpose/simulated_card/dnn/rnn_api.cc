// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// cuDNN: recurrent networks. Where each matrix lies in the weights is real (callers copy there);
// the functions that compute
// only count themselves and tell what they were given as workspace.
#include "interpose/simulated_card/dnn/objects.h"
#include "interpose/simulated_card/interface/library_calls.h"

using namespace memtrace::card;  // NOLINT: this file defines C functions over that namespace

namespace memtrace::card {
namespace {

int GatesOf(cudnnRNNMode_t mode) { return mode == CUDNN_LSTM ? 4 : mode == CUDNN_GRU ? 3 : 1; }

int BiasSetsOf(cudnnRNNBiasMode_t mode) {
  return mode == CUDNN_RNN_NO_BIAS ? 0 : mode == CUDNN_RNN_DOUBLE_BIAS ? 2 : 1;
}

std::uint64_t BytesOf(const cudnnRNNStruct& rnn, std::uint64_t elements) {
  return PackedBytes(rnn.type, elements);
}

// Describes a matrix or bias as a tensor of three dimensions and gives its address; both are empty
// if there is none.
void Describe(const cudnnRNNStruct& rnn, const RnnParameter& parameter, const void* weights,
              cudnnTensorStruct* description, void** address) {
  const bool exists = parameter.rows > 0;
  if (description != nullptr) {
    *description = {.type = rnn.type,
                    .dimensions = exists ? 3 : 0,
                    .sizes = {1, parameter.rows, parameter.columns},
                    .strides = {parameter.rows * parameter.columns, parameter.columns, 1}};
  }
  if (address == nullptr) return;
  const char* begin = static_cast<const char*>(weights);
  *address = exists ? const_cast<char*>(begin) + BytesOf(rnn, parameter.offset) : nullptr;
}

struct Workspace {
  const void* address;
  std::uint64_t bytes;
};

cudnnStatus_t Compute(const char* name, cudnnHandle_t handle, Workspace temporary,
                      Workspace reserve) {
  memtrace_card_use_workspace("cuDNN", temporary.address, temporary.bytes);
  memtrace_card_use_workspace("cuDNN", reserve.address, reserve.bytes);
  return static_cast<cudnnStatus_t>(memtrace_dnn_call(name, handle));
}

}  // namespace
}  // namespace memtrace::card

cudnnStatus_t cudnnCreateRNNDescriptor(cudnnRNNDescriptor_t* rnn) { return Create(rnn); }

cudnnStatus_t cudnnDestroyRNNDescriptor(cudnnRNNDescriptor_t rnn) { return Destroy(rnn); }

cudnnStatus_t cudnnSetRNNDescriptor_v8(cudnnRNNDescriptor_t rnn, cudnnRNNAlgo_t,
                                       cudnnRNNMode_t mode, cudnnRNNBiasMode_t biases,
                                       cudnnDirectionMode_t directions, cudnnRNNInputMode_t inputs,
                                       cudnnDataType_t type, cudnnDataType_t, cudnnMathType_t,
                                       int32_t input, int32_t hidden, int32_t projection,
                                       int32_t layers, cudnnDropoutDescriptor_t dropout, uint32_t) {
  if (rnn == nullptr) return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
  if (input < 1 || hidden < 1 || layers < 1 || projection < 0 || projection > hidden)
    return CUDNN_STATUS_BAD_PARAM_OUT_OF_BOUND;
  if (inputs == CUDNN_SKIP_INPUT)
    return Refuse(CUDNN_STATUS_NOT_SUPPORTED, "CUDNN_SKIP_INPUT is not on the simulated card");
  rnn->type = type;
  rnn->shape = {.gates = GatesOf(mode),
                .layers = layers,
                .directions = directions == CUDNN_BIDIRECTIONAL ? 2 : 1,
                .input = input,
                .hidden = hidden,
                .output = projection == 0 ? hidden : projection,
                .bias_sets = BiasSetsOf(biases),
                .drops_out = dropout != nullptr && dropout->probability > 0};
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnCreateRNNDataDescriptor(cudnnRNNDataDescriptor_t* data) { return Create(data); }

cudnnStatus_t cudnnDestroyRNNDataDescriptor(cudnnRNNDataDescriptor_t data) { return Destroy(data); }

cudnnStatus_t cudnnSetRNNDataDescriptor(cudnnRNNDataDescriptor_t data, cudnnDataType_t type,
                                        cudnnRNNDataLayout_t, int steps, int batch, int vector,
                                        const int lengths[], void*) {
  if (data == nullptr || lengths == nullptr) return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
  if (steps < 1 || batch < 1 || vector < 1) return CUDNN_STATUS_BAD_PARAM_OUT_OF_BOUND;
  *data = {.type = type, .steps = steps, .batch = batch, .vector = vector};
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetRNNTempSpaceSizes(cudnnHandle_t, cudnnRNNDescriptor_t rnn,
                                        cudnnForwardMode_t mode, cudnnRNNDataDescriptor_t x,
                                        std::size_t* workspace, std::size_t* reserve) {
  if (rnn == nullptr || x == nullptr) return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
  const auto steps = static_cast<std::uint64_t>(x->steps);
  const auto batch = static_cast<std::uint64_t>(x->batch);
  if (workspace != nullptr) *workspace = RnnWorkspace(rnn->shape, steps, batch, BytesOf(*rnn, 1));
  const bool trains = mode == CUDNN_FWD_MODE_TRAINING;
  if (reserve != nullptr)
    *reserve = trains ? RnnReserve(rnn->shape, steps, batch, BytesOf(*rnn, 1)) : 0;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetRNNWeightSpaceSize(cudnnHandle_t, cudnnRNNDescriptor_t rnn,
                                         std::size_t* bytes) {
  if (rnn == nullptr) return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
  return Answer<std::size_t>(bytes, BytesOf(*rnn, RnnWeights(rnn->shape)));
}

cudnnStatus_t cudnnGetRNNWeightParams(cudnnHandle_t, cudnnRNNDescriptor_t rnn, int32_t layer,
                                      std::size_t bytes, const void* weights, int32_t linear,
                                      cudnnTensorDescriptor_t matrix, void** matrix_address,
                                      cudnnTensorDescriptor_t bias, void** bias_address) {
  if (rnn == nullptr) return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
  if (layer < 0 || layer >= rnn->shape.PseudoLayers() || linear < 0 ||
      linear > 2 * rnn->shape.gates)
    return CUDNN_STATUS_BAD_PARAM_OUT_OF_BOUND;
  if (bytes < BytesOf(*rnn, RnnWeights(rnn->shape)))
    return CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT;
  Describe(*rnn, RnnMatrix(rnn->shape, layer, linear), weights, matrix, matrix_address);
  Describe(*rnn, RnnBias(rnn->shape, layer, linear), weights, bias, bias_address);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnRNNForward(cudnnHandle_t handle, cudnnRNNDescriptor_t, cudnnForwardMode_t,
                              const std::int32_t[], cudnnRNNDataDescriptor_t, const void*,
                              cudnnRNNDataDescriptor_t, void*, cudnnTensorDescriptor_t, const void*,
                              void*, cudnnTensorDescriptor_t, const void*, void*, std::size_t,
                              const void*, std::size_t workspace_bytes, void* workspace,
                              std::size_t reserve_bytes, void* reserve) {
  return Compute("cudnnRNNForward", handle, {workspace, workspace_bytes}, {reserve, reserve_bytes});
}

cudnnStatus_t cudnnRNNBackwardData_v8(cudnnHandle_t handle, cudnnRNNDescriptor_t,
                                      const std::int32_t[], cudnnRNNDataDescriptor_t, const void*,
                                      const void*, cudnnRNNDataDescriptor_t, void*,
                                      cudnnTensorDescriptor_t, const void*, const void*, void*,
                                      cudnnTensorDescriptor_t, const void*, const void*, void*,
                                      std::size_t, const void*, std::size_t workspace_bytes,
                                      void* workspace, std::size_t reserve_bytes, void* reserve) {
  return Compute("cudnnRNNBackwardData_v8", handle, {workspace, workspace_bytes},
                 {reserve, reserve_bytes});
}

cudnnStatus_t cudnnRNNBackwardWeights_v8(cudnnHandle_t handle, cudnnRNNDescriptor_t,
                                         cudnnWgradMode_t, const std::int32_t[],
                                         cudnnRNNDataDescriptor_t, const void*,
                                         cudnnTensorDescriptor_t, const void*,
                                         cudnnRNNDataDescriptor_t, const void*, std::size_t, void*,
                                         std::size_t workspace_bytes, void* workspace,
                                         std::size_t reserve_bytes, void* reserve) {
  return Compute("cudnnRNNBackwardWeights_v8", handle, {workspace, workspace_bytes},
                 {reserve, reserve_bytes});
}
