// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_DNN_CONVOLUTION_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_DNN_CONVOLUTION_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "interpose/simulated_card/dnn/descriptor.h"
#include "interpose/simulated_card/dnn/header.h"

namespace memtrace::card {

bool IsConvolution(const DnnDescriptor& operation);

// A convolution of a graph, in any of its three directions: x is the forward pass's input, w the
// filter, y its output. Refers to the operation, which must outlive it and be finalized.
class DnnConvolution {
 public:
  explicit DnnConvolution(const DnnDescriptor& operation);

  const char* call() const { return call_; }  // the name that it is counted under
  cudnnDataType_t type() const;
  // Succeeds if x, w and the convolution's strides, padding and dilation give y's size.
  cudnnStatus_t CheckShapes() const;
  bool may_run_on_tensor_cores() const;
  // Returns the bytes of the workspace on tensor cores.
  std::uint64_t Workspace() const;

 private:
  bool is_forward_in_tf32() const;
  bool is_strided() const;
  // True if its workspace is WideConvolutionWorkspace.
  bool is_wide() const;
  bool is_forward() const;
  // True if it is a plain matrix product for each pixel.
  bool is_pointwise() const;
  std::uint64_t WorkspaceOnHopper() const;
  std::uint64_t PartialFilters() const;
  std::uint64_t PaddedCopyBytes(const DnnDescriptor& tensor,
                                std::initializer_list<std::size_t> channels) const;
  cudnnDataType_t TypeOf(const DnnDescriptor& tensor) const;

  const DnnDescriptor& Reference(const DnnDescriptor& operation, int name) const {
    return *operation.References(name).front();
  }

  const char* call_;
  const DnnDescriptor& x_;
  const DnnDescriptor& w_;
  const DnnDescriptor& y_;
  const DnnDescriptor& how_;
};

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_DNN_CONVOLUTION_H_
