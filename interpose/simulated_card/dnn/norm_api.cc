// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// cuDNN: batch normalization (its sizes) and dropout (its states). The functions that compute are
// listed in symbols/libcudnn.inert.txt.
#include "interpose/simulated_card/dnn/objects.h"
#include "interpose/simulated_card/interface/library_calls.h"

using namespace memtrace::card;  // NOLINT: this file defines C functions over that namespace

// A plain batch normalization keeps its state in the tensors of mean and variance, so it needs
// neither a workspace nor a reserve; what a card's kernels need beyond that is not known.
cudnnStatus_t cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(
    cudnnHandle_t, cudnnBatchNormMode_t, cudnnBatchNormOps_t, const cudnnTensorDescriptor_t,
    const cudnnTensorDescriptor_t, const cudnnTensorDescriptor_t, const cudnnTensorDescriptor_t,
    const cudnnActivationDescriptor_t, std::size_t* bytes) {
  return Answer(bytes, std::size_t{0});
}

cudnnStatus_t cudnnGetBatchNormalizationBackwardExWorkspaceSize(
    cudnnHandle_t, cudnnBatchNormMode_t, cudnnBatchNormOps_t, const cudnnTensorDescriptor_t,
    const cudnnTensorDescriptor_t, const cudnnTensorDescriptor_t, const cudnnTensorDescriptor_t,
    const cudnnTensorDescriptor_t, const cudnnTensorDescriptor_t, const cudnnActivationDescriptor_t,
    std::size_t* bytes) {
  return Answer(bytes, std::size_t{0});
}

cudnnStatus_t cudnnGetBatchNormalizationTrainingExReserveSpaceSize(
    cudnnHandle_t, cudnnBatchNormMode_t, cudnnBatchNormOps_t operations,
    const cudnnActivationDescriptor_t, const cudnnTensorDescriptor_t, std::size_t* bytes) {
  if (operations == CUDNN_BATCHNORM_OPS_BN) return Answer(bytes, std::size_t{0});
  memtrace_card_refuse("cudnnBatchNormalizationForwardTrainingEx with an activation");
  return CUDNN_STATUS_NOT_SUPPORTED;
}

cudnnStatus_t cudnnCreateDropoutDescriptor(cudnnDropoutDescriptor_t* dropout) {
  return Create(dropout);
}

cudnnStatus_t cudnnDestroyDropoutDescriptor(cudnnDropoutDescriptor_t dropout) {
  return Destroy(dropout);
}

cudnnStatus_t cudnnDropoutGetStatesSize(cudnnHandle_t, std::size_t* bytes) {
  return Answer<std::size_t>(
      bytes,
      DropoutStates(CurrentCardAttribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
                    CurrentCardAttribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)));
}

cudnnStatus_t cudnnRestoreDropoutDescriptor(cudnnDropoutDescriptor_t dropout, cudnnHandle_t handle,
                                            float probability, void* states, std::size_t bytes,
                                            unsigned long long seed) {
  if (dropout == nullptr) return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
  std::size_t needed = 0;
  cudnnDropoutGetStatesSize(handle, &needed);
  if (states != nullptr && bytes < needed) return CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT;
  *dropout = {.probability = probability, .states = states, .seed = seed};
  return CUDNN_STATUS_SUCCESS;
}

// Unlike Restore, this initializes the generators, with a kernel.
cudnnStatus_t cudnnSetDropoutDescriptor(cudnnDropoutDescriptor_t dropout, cudnnHandle_t handle,
                                        float probability, void* states, std::size_t bytes,
                                        unsigned long long seed) {
  if (handle == nullptr) return CUDNN_STATUS_NOT_INITIALIZED;
  const cudnnStatus_t set =
      cudnnRestoreDropoutDescriptor(dropout, handle, probability, states, bytes, seed);
  if (set == CUDNN_STATUS_SUCCESS && states != nullptr)
    memtrace_card_launch_call("cudnnSetDropoutDescriptor", handle->stream);
  return set;
}
