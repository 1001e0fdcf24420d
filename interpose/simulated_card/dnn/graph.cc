// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/dnn/graph.h"

#include <algorithm>
#include <optional>
#include <set>

#include "interpose/simulated_card/dnn/attention.h"
#include "interpose/simulated_card/dnn/convolution.h"
#include "interpose/simulated_card/dnn/objects.h"

namespace memtrace::card {
namespace {

using Operations = std::vector<DnnDescriptorPointer>;

// cuDNN's own number of engines is unknown; its users' tables name single-digit numbers.
constexpr std::int64_t kEngineNumbers = 16;

std::ptrdiff_t CountOf(const Operations& operations, cudnnBackendDescriptorType_t type) {
  return std::count_if(operations.begin(), operations.end(),
                       [&](const DnnDescriptorPointer& one) { return one->is(type); });
}

// True if all operations are of these kinds.
bool ConsistsOf(const Operations& operations,
                std::initializer_list<cudnnBackendDescriptorType_t> types) {
  return std::all_of(operations.begin(), operations.end(), [&](const DnnDescriptorPointer& one) {
    return std::find(types.begin(), types.end(), one->kind().type) != types.end();
  });
}

DnnGraph Known(const char* call) {
  return {.status = CUDNN_STATUS_SUCCESS, .call = call, .engines = {{}}};
}

DnnGraph AnalyseAttention(const Operations& operations, bool is_backward) {
  DnnGraph graph = Known(is_backward ? "cuDNN attention backward" : "cuDNN attention forward");
  const std::optional<AttentionShape> shape = FindAttentionShape(operations);
  if (!shape.has_value()) return graph;
  graph.engines.front().workspace =
      is_backward ? AttentionBackwardWorkspace(*shape)
                  : AttentionForwardWorkspace(
                        *shape, CurrentCardAttribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
  return graph;
}

// Attention built from products: the forward pass multiplies queries with keys, takes the softmax
// (built from reductions before cuDNN 9.20), and multiplies the weights with values; the backward
// pass repeats the first product and computes one for each of four gradients.
DnnGraph AnalyseProducts(const Operations& operations) {
  if (!ConsistsOf(
          operations,
          {CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR, CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR,
           CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR, CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR,
           CUDNN_BACKEND_OPERATION_RNG_DESCRIPTOR, kDiagonalBandMask, kSoftmax})) {
    return {};
  }
  const std::ptrdiff_t products = CountOf(operations, CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
  const bool reduces = CountOf(operations, CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR) > 0 ||
                       CountOf(operations, kSoftmax) > 0;
  if (products == 2 && reduces) return AnalyseAttention(operations, false);
  if (products == 5 && reduces) return AnalyseAttention(operations, true);
  if (reduces) return {};
  if (products == 1) return Known("cuDNN matrix product");
  return products == 0 ? Known("cuDNN pointwise") : DnnGraph{};
}

DnnGraph AnalyseConvolution(const Operations& operations) {
  const auto found = std::find_if(operations.begin(), operations.end(),
                                  [](const auto& one) { return IsConvolution(*one); });
  const auto others = std::count_if(operations.begin(), operations.end(),
                                    [](const auto& one) { return !IsConvolution(*one); });
  const bool is_known =
      CountOf(operations, CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR) == others &&
      others + 1 == static_cast<std::ptrdiff_t>(operations.size());
  if (!is_known) return {};
  const DnnConvolution convolution(**found);
  DnnGraph graph = Known(convolution.call());
  graph.status = convolution.CheckShapes();
  if (convolution.may_run_on_tensor_cores())
    graph.engines.insert(graph.engines.begin(), {true, convolution.Workspace()});
  return graph;
}

}  // namespace

std::int64_t DnnGraph::EngineCount() const { return engines.empty() ? 0 : kEngineNumbers; }

const DnnEngine& DnnGraph::EngineAt(std::int64_t index) const {
  const auto last = static_cast<std::int64_t>(engines.size()) - 1;
  return engines[static_cast<std::size_t>(std::clamp<std::int64_t>(index, 0, last))];
}

DnnGraph AnalyseDnnGraph(const std::vector<DnnDescriptorPointer>& operations) {
  if (operations.size() == 1) {
    if (operations[0]->is(CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR))
      return AnalyseAttention(operations, false);
    if (operations[0]->is(CUDNN_BACKEND_OPERATION_SDPA_BWD_DESCRIPTOR))
      return AnalyseAttention(operations, true);
  }
  const bool convolves = std::any_of(operations.begin(), operations.end(),
                                     [](const auto& one) { return IsConvolution(*one); });
  return convolves ? AnalyseConvolution(operations) : AnalyseProducts(operations);
}

std::string OperationNames(const std::vector<DnnDescriptorPointer>& operations) {
  std::string names;
  for (const DnnDescriptorPointer& operation : operations) {
    names += (names.empty() ? "" : " + ") + std::string(operation->kind().name);
  }
  return names;
}

std::vector<std::int64_t> PassedTensors(const std::vector<DnnDescriptorPointer>& operations) {
  std::set<std::int64_t> numbers;
  for (const DnnDescriptorPointer& operation : operations) {
    for (const DnnDescriptorPointer& tensor : operation->Tensors()) {
      if (tensor->ValueOr<std::uint8_t>(CUDNN_ATTR_TENSOR_IS_VIRTUAL, 0) != 0) continue;
      numbers.insert(tensor->ValueOr<std::int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID, 0));
    }
  }
  return {numbers.begin(), numbers.end()};
}

}  // namespace memtrace::card
