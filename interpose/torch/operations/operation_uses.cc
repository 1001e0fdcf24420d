// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/torch/operations/operation_uses.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <ATen/record_function.h>
#include <c10/util/SmallVector.h>

#include <cstring>
#include <memory>
#include <string>
#include <unordered_map>

#include "interpose/core/memtrace.h"
#include "interpose/torch/operations/shape_operators.h"

namespace memtrace::shim {
namespace {

// True when this thread's objects are gone. An operation may still run then.
thread_local bool has_ended = false;

// Remembers which operators use no memory of their tensors, because a schema can only be copied out
// of a RecordFunction. Thread rule: one thread.
class SeenOperators {
 public:
  SeenOperators() = default;
  ~SeenOperators() { has_ended = true; }
  SeenOperators(const SeenOperators&) = delete;
  SeenOperators& operator=(const SeenOperators&) = delete;

  bool UsesMemory(const at::RecordFunction& function) {
    const char* name = function.name();
    const auto seen = seen_.find(name);
    // The name is compared, because a library that was removed may leave its place to another one.
    if (seen != seen_.end() && std::strcmp(seen->second.name.c_str(), name) == 0)
      return seen->second.uses_memory;
    const auto schema = function.operator_schema();
    if (!schema.has_value()) return !UsesOnlyShapes(name);  // a range, such as autograd.Function
    const bool uses_memory = !IsView(*schema) && !UsesOnlyShapes(schema->name());
    seen_[name] = {.name = schema->name(), .uses_memory = uses_memory};
    return uses_memory;
  }

 private:
  struct Seen {
    std::string name;
    bool uses_memory = true;
  };

  std::unordered_map<const char*, Seen> seen_;  // by the address of the schema's name
};

// The addresses at which the storages of an operation's tensors begin.
class UsedStorages {
 public:
  void Add(const c10::IValue& value) {
    if (value.isTensor()) return Add(value.toTensor());
    if (!value.isList()) return;
    for (const c10::IValue& element : value.toListRef()) {
      if (!element.isTensor() && !element.isNone() && !element.isList()) return;  // of numbers
      Add(element);
    }
  }

  void Tell() const {
    if (!addresses_.empty()) memtrace_note_uses(addresses_.data(), addresses_.size());
  }

 private:
  void Add(const at::Tensor& tensor) {
    if (!tensor.defined() || !tensor.is_cuda() || !tensor.has_storage()) return;
    // Unlike data_ptr(), this raises nothing for a fake tensor and copies nothing.
    const void* address = tensor.unsafeGetTensorImpl()
                              ->unsafe_storage()
                              .unsafeGetStorageImpl()
                              ->_mutable_data_ptr_no_checks()
                              .get();
    if (address != nullptr) addresses_.push_back(reinterpret_cast<uint64_t>(address));
  }

  c10::SmallVector<uint64_t, 16> addresses_;
};

std::unique_ptr<at::ObserverContext> NoteUses(const at::RecordFunction& function) {
  if (has_ended) return nullptr;
  thread_local SeenOperators operators;
  if (!operators.UsesMemory(function)) return nullptr;
  UsedStorages used;
  for (const c10::IValue& input : function.inputs()) used.Add(input);
  used.Tell();
  return nullptr;
}

}  // namespace

void FollowUses() {
  [[maybe_unused]] static const bool kIsFollowed = [] {
    if (memtrace_follow_uses() == 0) return false;
    at::addGlobalCallback(at::RecordFunctionCallback(&NoteUses).needsInputs(true).scopes(
        {at::RecordScope::FUNCTION}));
    return true;
  }();
}

}  // namespace memtrace::shim
