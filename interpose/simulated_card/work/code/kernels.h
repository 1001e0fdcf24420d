// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_CODE_KERNELS_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_CODE_KERNELS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "base/mutex.h"
#include "interpose/simulated_card/work/code/kernel_writes.h"

namespace memtrace::card {

// The kernels that the process's libraries registered, and how often each was launched. None is
// ever run. Library calls that stand for kernels (a GEMM of cuBLAS) are counted here under their
// own name.
//
// torch registers some 10^5 kernels at import and launches a few hundred of them: registering
// appends, and nothing is looked up or copied before the first launch. Safe from any thread.
class Kernels {
 public:
  // `writes` must outlive this; null: known values are not kept. A kernel does not run, so a launch
  // changes what is known, unless its thread states that it accounts for it (card_ranges.h).
  explicit Kernels(KernelWrites* writes = nullptr) : writes_(writes) {}
  Kernels(const Kernels&) = delete;
  Kernels& operator=(const Kernels&) = delete;

  // `name` must live until the first launch (it is a string of the registering library).
  void Register(const void* host_function, const char* name);
  // An unregistered function counts as "(unregistered)". `given` are the launch's arguments; null
  // if the parameters are not known. Both return the name, which lives as long as this.
  const char* CountLaunch(const void* host_function, const std::vector<Address>* given = nullptr);
  const char* CountCall(const char* name);

  void CountOperations(std::uint64_t operations) { operations_ += operations; }

  std::uint64_t Launches() const { return launches_; }
  // Returns the floating-point operations of matrix products that a library would have computed.
  std::uint64_t Operations() const { return operations_; }
  // Calls visit(name, launches) for each name launched at least once, in no particular order and
  // without the lock.
  void Visit(const std::function<void(const std::string&, std::uint64_t)>& visit) const;

 private:
  struct Registration {
    const void* host_function;
    const char* name;
  };

  void ForgetPossibleWrites(const std::vector<Address>* given);

  KernelWrites* const writes_;  // may be null
  mutable Mutex mutex_;
  std::deque<Registration> registrations_ ABSL_GUARDED_BY(mutex_);
  std::size_t indexed_ ABSL_GUARDED_BY(mutex_) = 0;  // registrations already in names_
  std::unordered_map<const void*, const char*> names_ ABSL_GUARDED_BY(mutex_);
  using Counts = std::unordered_map<std::string, std::uint64_t>;
  std::unordered_map<const void*, Counts::value_type*> counts_of_functions_ ABSL_GUARDED_BY(mutex_);
  Counts counts_ ABSL_GUARDED_BY(mutex_);
  std::atomic<std::uint64_t> launches_ = 0;
  std::atomic<std::uint64_t> operations_ = 0;
};

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_CODE_KERNELS_H_
