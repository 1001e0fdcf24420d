// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/torch/step_time/card_work.h"

#include <dlfcn.h>

namespace memtrace::shim {
namespace {

template <typename Function>
bool Find(void* driver, Function& function, const char* name) {
  function = reinterpret_cast<Function>(dlsym(driver, name));
  return function != nullptr;
}

}  // namespace

std::unique_ptr<CardWork> CardWork::OfProcess() {
  void* driver = dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_NOW);
  std::unique_ptr<CardWork> card(new CardWork);
  const bool has_all = driver != nullptr &&
                       Find(driver, card->activity_, "memtrace_card_activity") &&
                       Find(driver, card->times_, "memtrace_card_times") &&
                       Find(driver, card->thread_, "memtrace_card_thread");
  return has_all ? std::move(card) : nullptr;
}

CardWork::Counts CardWork::Now() const {
  struct memtrace_card_activity activity = {};
  activity.size = sizeof(activity);
  activity_(&activity);
  return {activity.kernel_launches, activity.sent_bytes, activity.sent_bytes_network};
}

CardTimes CardWork::Times() const {
  CardTimes times = {};
  times.size = sizeof(times);
  times_(0, &times);
  return times;
}

}  // namespace memtrace::shim
