// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_BENCH_GPU_BOOKS_H_
#define MEMTRACE_INTERPOSE_BENCH_GPU_BOOKS_H_

#include "interpose/bench/card_books.h"
#include "interpose/bench/card_driver.h"

namespace memtrace::bench {

// The free memory of a GPU, as its driver states it (cuMemGetInfo). It includes what other
// processes take and give back meanwhile, and the driver's own tables. A smaller card is made by a
// block that holds the rest (ballast). Calls are not counted.
class GpuBooks final : public CardBooks {
 public:
  // `driver` must outlive this.
  explicit GpuBooks(const CardDriver& driver) : driver_(driver) {}

  // 0 leaves all of the GPU. False if less is free, or if the ballast cannot be allocated.
  bool Bound(uint64_t bytes) override;
  uint64_t InUse() const override;
  uint64_t Peak() const override { return peak_; }
  void Note() override;
  void StartCalls() override {}
  void TakeCalls(std::map<std::string, uint64_t>& /*calls*/) override {}

 private:
  bool TakeBallast(uint64_t bytes);

  const CardDriver& driver_;
  uint64_t free_ = 0;  // before the first request
  uint64_t peak_ = 0;
};

}  // namespace memtrace::bench

#endif  // MEMTRACE_INTERPOSE_BENCH_GPU_BOOKS_H_
