// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_DNN_DESCRIPTOR_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_DNN_DESCRIPTOR_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include "interpose/simulated_card/dnn/descriptor_table.h"
#include "interpose/simulated_card/dnn/header.h"

namespace memtrace::card {

class DnnDescriptor;
using DnnDescriptorPointer = std::shared_ptr<const DnnDescriptor>;

// A descriptor of cuDNN's graphs: attributes by name. It is written until it is finalized, then
// only read, and may outlive the caller's handle on it, because descriptors that refer to it keep
// it alive. Not safe from several threads while it is written.
class DnnDescriptor {
 public:
  explicit DnnDescriptor(const DnnDescriptorKind& kind) : kind_(kind) {}

  const DnnDescriptorKind& kind() const { return kind_; }
  bool is(cudnnBackendDescriptorType_t type) const { return kind_.type == type; }
  bool finalized() const { return finalized_; }

  // Set plain values, and references to other descriptors, which must be finalized.
  cudnnStatus_t Set(int name, cudnnBackendAttributeType_t type, std::int64_t count,
                    const void* values);
  cudnnStatus_t SetReferences(int name, std::vector<DnnDescriptorPointer> references);
  // Fails unless all required attributes are set.
  cudnnStatus_t CheckRequired() const;
  // Sets a value that finalizing a descriptor computes, for its readers.
  template <typename Value>
  void SetComputed(int name, cudnnBackendAttributeType_t type, const std::vector<Value>& values) {
    Store(name, type, values.data(), values.size());
  }
  void MarkFinalized() { finalized_ = true; }

  // Answers a caller's request for up to `wanted` values; *count is the number that exist, or were
  // written.
  cudnnStatus_t Get(int name, cudnnBackendAttributeType_t type, std::int64_t wanted,
                    std::int64_t* count, void* values) const;

  bool Has(int name) const { return attributes_.contains(name); }
  // Returns an empty vector if the attribute is not set.
  template <typename Value>
  std::vector<Value> Values(int name) const {
    const auto found = attributes_.find(name);
    if (found == attributes_.end()) return {};
    std::vector<Value> values(found->second.bytes.size() / sizeof(Value));
    if (!values.empty())
      std::memcpy(values.data(), found->second.bytes.data(), values.size() * sizeof(Value));
    return values;
  }
  template <typename Value>
  Value ValueOr(int name, Value otherwise) const {
    const std::vector<Value> values = Values<Value>(name);
    return values.empty() ? otherwise : values.front();
  }
  const std::vector<DnnDescriptorPointer>& References(int name) const;
  // Returns all tensors that an operation names.
  std::vector<DnnDescriptorPointer> Tensors() const;

 private:
  struct Attribute {
    cudnnBackendAttributeType_t type = CUDNN_TYPE_INT64;
    std::vector<std::byte> bytes;
    std::vector<DnnDescriptorPointer> references;
  };

  bool MayHave(int name) const {
    return name >= kind_.first_attribute && name <= kind_.last_attribute;
  }
  void Store(int name, cudnnBackendAttributeType_t type, const void* values, std::size_t count);

  const DnnDescriptorKind& kind_;
  bool finalized_ = false;
  std::map<int, Attribute> attributes_;
};

// The caller's handle. Reading a reference out of a descriptor makes a handle that the caller
// created before refer to it.
struct DnnHandle {
  std::shared_ptr<DnnDescriptor> own;  // null once it refers to another's
  DnnDescriptorPointer content;
};

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_DNN_DESCRIPTOR_H_
