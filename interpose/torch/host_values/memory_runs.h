// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_HOST_VALUES_MEMORY_RUNS_H_
#define MEMTRACE_INTERPOSE_TORCH_HOST_VALUES_MEMORY_RUNS_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace memtrace::shim {

// The places of a strided tensor's elements: runs of bytes without a gap, as offsets from its first
// element.
//
//   sizes {2, 3}, strides {8, 1}, 4 bytes an element:  xxx.....xxx   two runs of 12 bytes
class MemoryRuns {
 public:
  // A view in more runs than this is not worth following element by element.
  static constexpr int64_t kMostRuns = 1 << 16;

  explicit MemoryRuns(const at::Tensor& tensor);

  // Bytes from the first element to the end of the last.
  uint64_t span() const { return span_; }
  uint64_t run_bytes() const { return run_bytes_; }
  int64_t count() const { return count_; }
  bool too_many() const { return count_ > kMostRuns; }

  // Calls visit(offset in bytes) for each run until it returns false; returns true if none did.
  template <typename Visit>
  bool ForEach(Visit visit) const {
    std::vector<int64_t> index(outer_.size(), 0);
    for (int64_t run = 0; run < count_; ++run) {
      uint64_t offset = 0;
      for (size_t i = 0; i < outer_.size(); ++i) {
        offset += static_cast<uint64_t>(index[i]) * outer_[i].stride;
      }
      if (!visit(offset)) return false;
      for (size_t i = 0; i < outer_.size() && ++index[i] == outer_[i].size; ++i) index[i] = 0;
    }
    return true;
  }

 private:
  struct Dimension {
    int64_t size = 1;
    uint64_t stride = 0;  // bytes
  };

  std::vector<Dimension> outer_;  // dimensions outside a run, by ascending stride
  uint64_t run_bytes_ = 0;
  uint64_t span_ = 0;
  int64_t count_ = 0;
};

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_HOST_VALUES_MEMORY_RUNS_H_
