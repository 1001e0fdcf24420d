// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_REPLAY_LOWER_BOUND_POLICY_H_
#define MEMTRACE_TOOLS_ANALYSIS_REPLAY_LOWER_BOUND_POLICY_H_

#include <algorithm>
#include <vector>

#include "tools/analysis/replay/policy.h"

namespace memtrace::replay {

// Not an allocator, but the least that any allocator needs: the bytes of the live blocks, each
// rounded up to 512. A block is "reserved" until the streams that used it are done, and "allocated"
// until its free was requested. An allocator that waits for streams needs only the latter, so that
// is what has to fit.
class LowerBoundPolicy : public Policy {
 public:
  std::optional<Placed> Allocate(const Request& request) override {
    const Bytes size = RoundUp(std::min(request.bytes, kMostBytes), 512);
    allocated_ += size;
    reserved_ += size;
    peak_allocated_ = std::max(peak_allocated_, allocated_);
    peak_reserved_ = std::max(peak_reserved_, reserved_);
    if (spare_.empty()) {
      spare_.push_back(static_cast<BlockNumber>(sizes_.size()));
      sizes_.emplace_back();
    }
    const BlockNumber number = spare_.back();
    spare_.pop_back();
    sizes_[number] = size;
    return Placed{number, {}, 0, 0, size};
  }
  void Free(BlockNumber block) override {
    RequestFree(block);
    CompleteFree(block);
  }
  void RequestFree(BlockNumber block) override { allocated_ -= sizes_[block]; }
  void CompleteFree(BlockNumber block) override {
    reserved_ -= sizes_[block];
    spare_.push_back(block);
  }
  void EmptyCache() override {}

  Bytes peak_allocated() const override { return peak_allocated_; }
  Bytes peak_reserved() const override { return peak_reserved_; }
  DriverCalls calls() const override { return {}; }

 private:
  static constexpr Bytes kMostBytes = Bytes{1} << 50;  // so that no sum overflows

  Bytes allocated_ = 0;
  Bytes reserved_ = 0;
  Bytes peak_allocated_ = 0;
  Bytes peak_reserved_ = 0;
  std::vector<Bytes> sizes_;
  std::vector<BlockNumber> spare_;
};

}  // namespace memtrace::replay

#endif  // MEMTRACE_TOOLS_ANALYSIS_REPLAY_LOWER_BOUND_POLICY_H_
