// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// Memory of graphs: the driver's, under the runtime's names. The structs agree member by member.
#include "interpose/simulated_card/runtime/runtime_api.h"

using namespace memtrace::card;  // NOLINT: this file defines C functions over that namespace

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* dependencies, std::size_t count,
                                     cudaMemAllocNodeParams* parameters) {
  return InContext([&] {
    return cuGraphAddMemAllocNode(node, graph, dependencies, count,
                                  reinterpret_cast<CUDA_MEM_ALLOC_NODE_PARAMS*>(parameters));
  });
}

cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                    const cudaGraphNode_t* dependencies, std::size_t count,
                                    void* pointer) {
  return InContext([&] {
    return cuGraphAddMemFreeNode(node, graph, dependencies, count,
                                 reinterpret_cast<CUdeviceptr>(pointer));
  });
}

cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node,
                                           cudaMemAllocNodeParams* parameters) {
  return InContext([&] {
    return cuGraphMemAllocNodeGetParams(node,
                                        reinterpret_cast<CUDA_MEM_ALLOC_NODE_PARAMS*>(parameters));
  });
}

cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void* pointer) {
  return InContext(
      [&] { return cuGraphMemFreeNodeGetParams(node, static_cast<CUdeviceptr*>(pointer)); });
}

cudaError_t cudaDeviceGraphMemTrim(int device) {
  return InContext([&] { return cuDeviceGraphMemTrim(device); });
}

cudaError_t cudaDeviceGetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute,
                                           void* value) {
  return InContext([&] {
    return cuDeviceGetGraphMemAttribute(device, static_cast<CUgraphMem_attribute>(attribute),
                                        value);
  });
}

cudaError_t cudaDeviceSetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute,
                                           void* value) {
  return InContext([&] {
    return cuDeviceSetGraphMemAttribute(device, static_cast<CUgraphMem_attribute>(attribute),
                                        value);
  });
}
