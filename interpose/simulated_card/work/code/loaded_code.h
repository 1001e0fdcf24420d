// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_CODE_LOADED_CODE_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_CODE_LOADED_CODE_H_

#include <cstdint>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "base/mutex.h"
#include "interpose/simulated_card/memory/device_variables.h"
#include "interpose/simulated_card/work/code/kernels.h"

namespace memtrace::card {

// The kernels and variables that libraries register while they are loaded, until the cards of the
// process exist. Loading does not use CUDA: a process that has only loaded libraries has no cards,
// so it can fork, and its children can have other ones. Safe from any thread.
class LoadedCode {
 public:
  LoadedCode() = default;
  LoadedCode(const LoadedCode&) = delete;
  LoadedCode& operator=(const LoadedCode&) = delete;

  // Returns that of the process, never destroyed.
  static LoadedCode& OfProcess();

  // `name` must live until the kernel's first launch.
  void RegisterKernel(const void* host_function, const char* name);
  void RegisterVariable(const void* shadow, std::uint64_t bytes);

  // Passes on what has been registered and what will be. Both must outlive this.
  void PassTo(Kernels& kernels, DeviceVariables& variables);

 private:
  struct Kernel {
    const void* host_function;
    const char* name;
  };
  struct Variable {
    const void* shadow;
    std::uint64_t bytes;
  };

  Mutex mutex_;
  std::vector<Kernel> kernels_ ABSL_GUARDED_BY(mutex_);
  std::vector<Variable> variables_ ABSL_GUARDED_BY(mutex_);
  Kernels* kernels_of_cards_ ABSL_GUARDED_BY(mutex_) = nullptr;  // null: there are no cards yet
  DeviceVariables* variables_of_cards_ ABSL_GUARDED_BY(mutex_) = nullptr;
};

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_CODE_LOADED_CODE_H_
