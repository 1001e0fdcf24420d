// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/assumed_workspaces.h"

#include <dlfcn.h>

#include <cstdint>
#include <string>

#include "interpose/core/abi_border.h"
#include "interpose/core/process.h"
#include "interpose/simulated_card/interface/card_control.h"
#include "profiler/trace/events/assumed_size.h"

namespace memtrace {
namespace {

void Label(int device, uint64_t address, uint64_t bytes, const char* library) {
  Contain([&] {
    auto* recorder = Process::Get().recorder();
    if (recorder == nullptr || Process::Get().cards().is_forked()) return;
    const std::string site = std::string(library) + std::string(trace::kAssumedWorkspace);
    recorder->blocks().Relabel(DeviceIndex{device}, DeviceAddress{address}, bytes,
                               trace::Role::kWorkspace, "", site);
  });
}

}  // namespace

void LabelAssumedWorkspaces() {
  void* driver = dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_NOW);
  if (driver == nullptr) return;
  const auto observe = reinterpret_cast<decltype(&memtrace_card_set_workspace_observer)>(
      dlsym(driver, "memtrace_card_set_workspace_observer"));
  if (observe != nullptr) observe(Label);
}

}  // namespace memtrace
