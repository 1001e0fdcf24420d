// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/torch/host_values/memory_runs.h"

#include <algorithm>

namespace memtrace::shim {

MemoryRuns::MemoryRuns(const at::Tensor& tensor) {
  if (tensor.numel() == 0) return;
  const auto item = static_cast<uint64_t>(tensor.element_size());
  run_bytes_ = item;
  span_ = item;
  count_ = 1;
  if (tensor.is_contiguous()) {  // the usual case
    run_bytes_ = span_ = static_cast<uint64_t>(tensor.numel()) * item;
    return;
  }
  for (int64_t i = 0; i < tensor.dim(); ++i) {
    // An expanded dimension repeats the same bytes.
    if (tensor.size(i) == 1 || tensor.stride(i) == 0) continue;
    const Dimension dimension{tensor.size(i), static_cast<uint64_t>(tensor.stride(i)) * item};
    span_ += static_cast<uint64_t>(dimension.size - 1) * dimension.stride;
    outer_.push_back(dimension);
  }
  std::sort(outer_.begin(), outer_.end(),
            [](const Dimension& a, const Dimension& b) { return a.stride < b.stride; });
  auto first = outer_.begin();
  for (; first != outer_.end() && first->stride == run_bytes_; ++first) {
    run_bytes_ *= static_cast<uint64_t>(first->size);
  }
  outer_.erase(outer_.begin(), first);
  for (const Dimension& dimension : outer_) {
    count_ = std::min(count_ * dimension.size, kMostRuns + 1);
  }
}

}  // namespace memtrace::shim
