// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// cuDNN's graphs: six functions over descriptors. Finalizing one works out what the card answers:
// a graph's engines, a heuristic's configurations, a plan's workspace. Executing a plan checks
// that everything was passed and counts it.
#include <algorithm>
#include <utility>

#include "interpose/simulated_card/dnn/descriptor.h"
#include "interpose/simulated_card/dnn/graph.h"
#include "interpose/simulated_card/dnn/objects.h"
#include "interpose/simulated_card/interface/library_calls.h"

using namespace memtrace::card;  // NOLINT: this file defines C functions over that namespace

namespace memtrace::card {
namespace {

// Our own attributes in a plan's row: what cudnnBackendExecute needs of the graph.
constexpr int kPlanCall = 498;
constexpr int kPlanTensors = 499;

const std::vector<DnnDescriptorPointer>& OperationsOf(const DnnDescriptor& graph) {
  return graph.References(CUDNN_ATTR_OPERATIONGRAPH_OPS);
}

const DnnDescriptor& GraphOfEngine(const DnnDescriptor& engine) {
  return *engine.References(CUDNN_ATTR_ENGINE_OPERATION_GRAPH).front();
}

const DnnDescriptor& EngineOfConfiguration(const DnnDescriptor& configuration) {
  return *configuration.References(CUDNN_ATTR_ENGINECFG_ENGINE).front();
}

std::int64_t NumberOf(const DnnDescriptor& engine) {
  return engine.ValueOr<std::int64_t>(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, 0);
}

cudnnStatus_t CompleteGraph(DnnDescriptor& graph) {
  const DnnGraph study = AnalyseDnnGraph(OperationsOf(graph));
  if (study.status == CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN) {
    const std::string name = "cuDNN graph of " + OperationNames(OperationsOf(graph));
    memtrace_card_refuse(name.c_str());
    return Refuse(study.status, "memtrace's simulated card does not have a %s", name.c_str());
  }
  graph.SetComputed<std::int64_t>(CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT, CUDNN_TYPE_INT64,
                                  {study.EngineCount()});
  return study.status;
}

cudnnStatus_t CompleteEngine(DnnDescriptor& engine) {
  const DnnGraph study = AnalyseDnnGraph(OperationsOf(GraphOfEngine(engine)));
  const std::int64_t number = NumberOf(engine);
  if (number < 0 || number >= study.EngineCount()) return CUDNN_STATUS_BAD_PARAM_OUT_OF_BOUND;
  std::vector<cudnnBackendNumericalNote_t> notes;
  if (study.EngineAt(number).on_tensor_cores) notes.push_back(CUDNN_NUMERICAL_NOTE_TENSOR_CORE);
  engine.SetComputed(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE, notes);
  engine.SetComputed<cudnnBackendBehaviorNote_t>(CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE,
                                                 CUDNN_TYPE_BEHAVIOR_NOTE, {});
  engine.SetComputed<void*>(CUDNN_ATTR_ENGINE_KNOB_INFO, CUDNN_TYPE_BACKEND_DESCRIPTOR, {});
  engine.SetComputed<void*>(CUDNN_ATTR_ENGINE_LAYOUT_INFO, CUDNN_TYPE_BACKEND_DESCRIPTOR, {});
  return CUDNN_STATUS_SUCCESS;
}

std::int64_t WorkspaceOf(const DnnDescriptor& engine) {
  const DnnGraph study = AnalyseDnnGraph(OperationsOf(GraphOfEngine(engine)));
  return static_cast<std::int64_t>(study.EngineAt(NumberOf(engine)).workspace);
}

cudnnStatus_t CompleteConfiguration(DnnDescriptor& configuration) {
  if (!configuration.Has(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES)) {
    configuration.SetComputed<void*>(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES,
                                     CUDNN_TYPE_BACKEND_DESCRIPTOR, {});
  }
  configuration.SetComputed<std::int64_t>(CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE, CUDNN_TYPE_INT64,
                                          {WorkspaceOf(EngineOfConfiguration(configuration))});
  configuration.SetComputed<std::int32_t>(CUDNN_ATTR_ENGINECFG_SHARED_MEMORY_USED, CUDNN_TYPE_INT32,
                                          {0});
  return CUDNN_STATUS_SUCCESS;
}

std::shared_ptr<DnnDescriptor> Make(cudnnBackendDescriptorType_t type, int name,
                                    DnnDescriptorPointer reference) {
  auto made = std::make_shared<DnnDescriptor>(*FindDnnDescriptorKind(type));
  made->SetReferences(name, {std::move(reference)});
  return made;
}

DnnDescriptorPointer MakeConfiguration(const DnnDescriptorPointer& graph, std::int64_t number) {
  auto engine = Make(CUDNN_BACKEND_ENGINE_DESCRIPTOR, CUDNN_ATTR_ENGINE_OPERATION_GRAPH, graph);
  engine->Set(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1, &number);
  CompleteEngine(*engine);
  engine->MarkFinalized();
  auto configuration =
      Make(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, CUDNN_ATTR_ENGINECFG_ENGINE, engine);
  CompleteConfiguration(*configuration);
  configuration->MarkFinalized();
  return configuration;
}

// The fallback list holds engines without a workspace, which callers use when memory is short.
cudnnStatus_t CompleteHeuristic(DnnDescriptor& heuristic) {
  const DnnDescriptorPointer graph =
      heuristic.References(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH).front();
  const auto mode = heuristic.ValueOr(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_HEUR_MODE_A);
  const auto count =
      static_cast<std::int64_t>(AnalyseDnnGraph(OperationsOf(*graph)).engines.size());
  std::vector<DnnDescriptorPointer> results;
  for (std::int64_t i = mode == CUDNN_HEUR_MODE_FALLBACK ? count - 1 : 0; i < count; ++i) {
    results.push_back(MakeConfiguration(graph, i));
  }
  return heuristic.SetReferences(CUDNN_ATTR_ENGINEHEUR_RESULTS, std::move(results));
}

cudnnStatus_t CompletePlan(DnnDescriptor& plan) {
  const DnnDescriptor& configuration =
      *plan.References(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG).front();
  const DnnDescriptor& engine = EngineOfConfiguration(configuration);
  const auto& operations = OperationsOf(GraphOfEngine(engine));
  plan.SetComputed<std::int64_t>(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64,
                                 {WorkspaceOf(engine)});
  plan.SetComputed<const char*>(kPlanCall, CUDNN_TYPE_VOID_PTR, {AnalyseDnnGraph(operations).call});
  plan.SetComputed(kPlanTensors, CUDNN_TYPE_INT64, PassedTensors(operations));
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t CompleteByKind(DnnDescriptor& descriptor) {
  switch (descriptor.kind().type) {
    case CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR:
      return CompleteGraph(descriptor);
    case CUDNN_BACKEND_ENGINE_DESCRIPTOR:
      return CompleteEngine(descriptor);
    case CUDNN_BACKEND_ENGINECFG_DESCRIPTOR:
      return CompleteConfiguration(descriptor);
    case CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR:
      return CompleteHeuristic(descriptor);
    case CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR:
      return CompletePlan(descriptor);
    default:
      return CUDNN_STATUS_SUCCESS;
  }
}

DnnHandle* FromHandle(cudnnBackendDescriptor_t descriptor) {
  return static_cast<DnnHandle*>(descriptor);
}

cudnnStatus_t SetReferences(DnnDescriptor& descriptor, int name, std::int64_t count,
                            const cudnnBackendDescriptor_t* handles) {
  std::vector<DnnDescriptorPointer> references;
  for (std::int64_t i = 0; i < count; ++i) {
    if (handles[i] == nullptr) return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
    references.push_back(FromHandle(handles[i])->content);
    if (!references.back()->finalized()) return CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED;
    if (!DnnReferenceFits(name, references.back()->kind().type))
      return CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE;
  }
  return descriptor.SetReferences(name, std::move(references));
}

// Every tensor of the plan must have an address, and so must the workspace if there is one.
cudnnStatus_t CheckPack(const DnnDescriptor& plan, const DnnDescriptor& pack) {
  const auto numbers = pack.Values<std::int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  const auto pointers = pack.Values<void*>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
  if (numbers.size() != pointers.size()) return CUDNN_STATUS_BAD_PARAM;
  for (const std::int64_t needed : plan.Values<std::int64_t>(kPlanTensors)) {
    const auto found = std::find(numbers.begin(), numbers.end(), needed);
    const bool passed = found != numbers.end() &&
                        pointers[static_cast<std::size_t>(found - numbers.begin())] != nullptr;
    if (!passed) {
      return Refuse(CUDNN_STATUS_BAD_PARAM, "tensor %lld of the graph has no address",
                    static_cast<long long>(needed));
    }
  }
  const auto bytes = plan.ValueOr<std::int64_t>(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, 0);
  if (bytes > 0 && pack.ValueOr<void*>(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, nullptr) == nullptr)
    return Refuse(CUDNN_STATUS_BAD_PARAM, "the plan needs a workspace, and none is passed");
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace
}  // namespace memtrace::card

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type,
                                           cudnnBackendDescriptor_t* descriptor) {
  if (descriptor == nullptr) return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
  *descriptor = nullptr;
  const DnnDescriptorKind* kind = FindDnnDescriptorKind(type);
  if (kind == nullptr) {
    const std::string name = "cuDNN graph descriptor of type " + std::to_string(type);
    memtrace_card_refuse(name.c_str());
    return Refuse(CUDNN_STATUS_NOT_SUPPORTED, "memtrace's simulated card does not have a %s",
                  name.c_str());
  }
  auto content = std::make_shared<DnnDescriptor>(*kind);
  *descriptor = new DnnHandle{.own = content, .content = content};
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor) {
  return Destroy(FromHandle(descriptor));
}

cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t count,
                                       const void* values) {
  if (descriptor == nullptr) return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
  const auto& own = FromHandle(descriptor)->own;
  if (own == nullptr) return Refuse(CUDNN_STATUS_BAD_PARAM, "the descriptor is finalized");
  if (type != CUDNN_TYPE_BACKEND_DESCRIPTOR || count <= 0 || values == nullptr)
    return own->Set(name, type, count, values);
  return SetReferences(*own, name, count, static_cast<const cudnnBackendDescriptor_t*>(values));
}

cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor) {
  if (descriptor == nullptr) return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
  const auto& own = FromHandle(descriptor)->own;
  if (own == nullptr || own->finalized()) return CUDNN_STATUS_BAD_PARAM;
  cudnnStatus_t status = own->CheckRequired();
  if (status == CUDNN_STATUS_SUCCESS) status = CompleteByKind(*own);
  if (status == CUDNN_STATUS_SUCCESS) own->MarkFinalized();
  return status;
}

cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t const descriptor,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t wanted,
                                       int64_t* count, void* values) {
  if (descriptor == nullptr) return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
  return FromHandle(descriptor)->content->Get(name, type, wanted, count, values);
}

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan,
                                  cudnnBackendDescriptor_t pack) {
  if (handle == nullptr) return CUDNN_STATUS_NOT_INITIALIZED;
  if (plan == nullptr || pack == nullptr) return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
  const DnnDescriptor& what = *FromHandle(plan)->content;
  const DnnDescriptor& with = *FromHandle(pack)->content;
  if (!what.is(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR) ||
      !with.is(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR))
    return CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE;
  if (!what.finalized() || !with.finalized()) return CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED;
  const cudnnStatus_t checked = CheckPack(what, with);
  if (checked != CUDNN_STATUS_SUCCESS) return checked;
  const auto bytes = what.ValueOr<std::int64_t>(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, 0);
  memtrace_card_use_workspace("cuDNN",
                              with.ValueOr<void*>(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, nullptr),
                              static_cast<std::uint64_t>(bytes));
  const auto* call = what.ValueOr<const char*>(kPlanCall, nullptr);
  const int launched = memtrace_card_launch_call(call, handle->stream);
  return launched == 0 ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_EXECUTION_FAILED_CUDART;
}
