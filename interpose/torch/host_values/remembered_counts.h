// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_HOST_VALUES_REMEMBERED_COUNTS_H_
#define MEMTRACE_INTERPOSE_TORCH_HOST_VALUES_REMEMBERED_COUNTS_H_

#include <ATen/core/Tensor.h>
#include <c10/core/StorageImpl.h>
#include <c10/util/intrusive_ptr.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"

namespace memtrace::shim {

// Remembers the counts of elements that operators were given, by the counted tensor. A mask that is
// counted in the forward pass is counted again in the backward pass, and must have as many elements
// then: if the tensor was not written since, as far as torch's version counter tells, the same
// answer is given again, although its values are no longer known.
//
// Thread rule: any thread.
class RememberedCounts {
 public:
  std::optional<int64_t> Find(const std::string& operation, const at::Tensor& tensor);
  void Remember(const std::string& operation, const at::Tensor& tensor, int64_t count);

 private:
  using Storage = c10::weak_intrusive_ptr<c10::StorageImpl>;

  // The weak pointer keeps the storage's address from being reused, so that it still identifies the
  // storage after its tensors are gone.
  struct Entry {
    Storage storage;
    std::string operation;
    int64_t offset = 0;
    std::vector<int64_t> sizes;
    std::vector<int64_t> strides;
    uint32_t version = 0;
    int64_t count = 0;
  };

  Entry* FindLocked(const std::string& operation, const at::Tensor& tensor);
  void MakeRoom();

  Mutex mutex_;
  std::unordered_multimap<const c10::StorageImpl*, Entry> entries_;  // guarded by mutex_
};

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_HOST_VALUES_REMEMBERED_COUNTS_H_
