// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/dnn/descriptor.h"

#include <algorithm>
#include <utility>

#include "interpose/simulated_card/dnn/objects.h"

namespace memtrace::card {

cudnnStatus_t DnnDescriptor::Set(int name, cudnnBackendAttributeType_t type, std::int64_t count,
                                 const void* values) {
  if (finalized_) return Refuse(CUDNN_STATUS_BAD_PARAM, "the %s is finalized", kind_.name);
  if (!MayHave(name))
    return Refuse(CUDNN_STATUS_BAD_PARAM, "attribute %d is none of a %s", name, kind_.name);
  if (DnnAttributeSize(type) == 0) return CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE;
  if (count < 0 || (count > 0 && values == nullptr)) return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
  Store(name, type, values, static_cast<std::size_t>(count));
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t DnnDescriptor::SetReferences(int name, std::vector<DnnDescriptorPointer> references) {
  const cudnnStatus_t set = Set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, nullptr);
  if (set == CUDNN_STATUS_SUCCESS) attributes_[name].references = std::move(references);
  return set;
}

void DnnDescriptor::Store(int name, cudnnBackendAttributeType_t type, const void* values,
                          std::size_t count) {
  Attribute& attribute = attributes_[name];
  attribute.type = type;
  attribute.references.clear();
  attribute.bytes.resize(count * DnnAttributeSize(type));
  if (count > 0) std::memcpy(attribute.bytes.data(), values, attribute.bytes.size());
}

cudnnStatus_t DnnDescriptor::CheckRequired() const {
  for (const int name : kind_.required) {
    const auto found = attributes_.find(name);
    if (found == attributes_.end() ||
        (found->second.bytes.empty() && found->second.references.empty())) {
      return Refuse(CUDNN_STATUS_BAD_PARAM, "a %s needs attribute %d, which is not set", kind_.name,
                    name);
    }
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t DnnDescriptor::Get(int name, cudnnBackendAttributeType_t type, std::int64_t wanted,
                                 std::int64_t* count, void* values) const {
  if (!finalized_) return CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED;
  const auto found = attributes_.find(name);
  if (found == attributes_.end()) {
    return Refuse(CUDNN_STATUS_NOT_SUPPORTED, "the %s of the simulated card has no attribute %d",
                  kind_.name, name);
  }
  const Attribute& attribute = found->second;
  if (type != attribute.type) return CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE;
  const bool refers = type == CUDNN_TYPE_BACKEND_DESCRIPTOR;
  const std::size_t size = DnnAttributeSize(type);
  const auto there = static_cast<std::int64_t>(refers ? attribute.references.size()
                                                      : attribute.bytes.size() / size);
  const std::int64_t given = values == nullptr ? there : std::min(there, wanted);
  if (count != nullptr) *count = given;
  if (values == nullptr || given <= 0) return CUDNN_STATUS_SUCCESS;
  if (!refers) {
    std::memcpy(values, attribute.bytes.data(), static_cast<std::size_t>(given) * size);
    return CUDNN_STATUS_SUCCESS;
  }
  for (std::int64_t i = 0; i < given; ++i) {
    auto* handle = static_cast<DnnHandle*>(static_cast<cudnnBackendDescriptor_t*>(values)[i]);
    const DnnDescriptorPointer& from = attribute.references[static_cast<std::size_t>(i)];
    if (handle == nullptr) return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
    if (!handle->content->is(from->kind().type)) return CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE;
    *handle = {.own = nullptr, .content = from};
  }
  return CUDNN_STATUS_SUCCESS;
}

const std::vector<DnnDescriptorPointer>& DnnDescriptor::References(int name) const {
  static const std::vector<DnnDescriptorPointer> kNone;
  const auto found = attributes_.find(name);
  return found == attributes_.end() ? kNone : found->second.references;
}

std::vector<DnnDescriptorPointer> DnnDescriptor::Tensors() const {
  std::vector<DnnDescriptorPointer> tensors;
  for (const auto& [name, attribute] : attributes_) {
    for (const DnnDescriptorPointer& reference : attribute.references) {
      if (reference->is(CUDNN_BACKEND_TENSOR_DESCRIPTOR)) tensors.push_back(reference);
    }
  }
  return tensors;
}

}  // namespace memtrace::card
