// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/work/code/loaded_code.h"

#include "base/mutex.h"

namespace memtrace::card {

LoadedCode& LoadedCode::OfProcess() {
  static auto* code = new LoadedCode;
  return *code;
}

void LoadedCode::RegisterKernel(const void* host_function, const char* name) {
  const MutexLock lock(mutex_);
  if (kernels_of_cards_ != nullptr) return kernels_of_cards_->Register(host_function, name);
  kernels_.push_back({host_function, name});
}

void LoadedCode::RegisterVariable(const void* shadow, std::uint64_t bytes) {
  const MutexLock lock(mutex_);
  if (variables_of_cards_ != nullptr) return variables_of_cards_->Register(shadow, bytes);
  variables_.push_back({shadow, bytes});
}

void LoadedCode::PassTo(Kernels& kernels, DeviceVariables& variables) {
  const MutexLock lock(mutex_);
  for (const Kernel& kernel : kernels_) kernels.Register(kernel.host_function, kernel.name);
  for (const Variable& variable : variables_) variables.Register(variable.shadow, variable.bytes);
  kernels_ = {};
  variables_ = {};
  kernels_of_cards_ = &kernels;
  variables_of_cards_ = &variables;
}

}  // namespace memtrace::card
