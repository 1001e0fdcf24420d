// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_DNN_DESCRIPTOR_TABLE_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_DNN_DESCRIPTOR_TABLE_H_

#include <cstddef>
#include <initializer_list>

#include "interpose/simulated_card/dnn/header.h"

namespace memtrace::card {

// A kind of descriptor of cuDNN's graphs that the card knows. Attributes are numbered in one
// sequence over all kinds (cudnn_graph.h); each kind has a row of them.
struct DnnDescriptorKind {
  cudnnBackendDescriptorType_t type;
  const char* name;
  int first_attribute;
  int last_attribute;
  std::initializer_list<int> required;  // must be set before it can be finalized
};

// Returns null for a kind that the card does not know.
const DnnDescriptorKind* FindDnnDescriptorKind(cudnnBackendDescriptorType_t type);

// Returns the bytes of one element of an attribute; 0 for a type that does not exist.
std::size_t DnnAttributeSize(cudnnBackendAttributeType_t type);

// True if that attribute may refer to a descriptor of that type. Checks only attributes that the
// card follows from one descriptor to the next; true for all others.
bool DnnReferenceFits(int name, cudnnBackendDescriptorType_t type);

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_DNN_DESCRIPTOR_TABLE_H_
