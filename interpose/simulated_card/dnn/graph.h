// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_DNN_GRAPH_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_DNN_GRAPH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "interpose/simulated_card/dnn/descriptor.h"
#include "interpose/simulated_card/dnn/header.h"

namespace memtrace::card {

// A way to execute a graph.
struct DnnEngine {
  bool on_tensor_cores = false;
  std::uint64_t workspace = 0;
};

// The meaning of a graph of operations. The known ones are: one convolution with pointwise
// operations around it; attention forward and backward, as one operation or built from matrix
// products; one matrix product with pointwise operations; pointwise operations alone. The card
// refuses all others, so that nothing unknown succeeds.
struct DnnGraph {
  cudnnStatus_t status = CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN;
  const char* call = nullptr;      // the name under which its executions are counted
  std::vector<DnnEngine> engines;  // best first
  // Callers may request an engine by a number from their own tables; the card's engines are all
  // alike.
  std::int64_t EngineCount() const;
  const DnnEngine& EngineAt(std::int64_t index) const;
};

DnnGraph AnalyseDnnGraph(const std::vector<DnnDescriptorPointer>& operations);

// Returns "convolution forward + pointwise", for the text of a refusal.
std::string OperationNames(const std::vector<DnnDescriptorPointer>& operations);

// Returns the tensors that a caller must pass, which are all except those only between two
// operations.
std::vector<std::int64_t> PassedTensors(const std::vector<DnnDescriptorPointer>& operations);

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_DNN_GRAPH_H_
