// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// In place of host_values.cc for a torch whose dispatch keys we have not looked at.
#include "interpose/torch/host_values/host_values.h"

namespace memtrace::shim {

std::string StartHostValues(const std::vector<std::string>& /*policy_files*/) {
  return "there are none for this torch, only for 2.11; leave --host-values out";
}

void EnterHostValuesThread() {}

void ForgetFreshMemory(uint64_t /*address*/, size_t /*bytes*/) {}

void BeginHostValuesStep() {}

void AnnotateHostValues() {}

}  // namespace memtrace::shim
