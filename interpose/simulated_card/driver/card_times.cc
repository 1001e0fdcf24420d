// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma GCC visibility push(default)
#include "interpose/simulated_card/interface/card_times.h"
#pragma GCC visibility pop

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "interpose/simulated_card/interface/card_control.h"
#include "interpose/simulated_card/machine.h"
#include "interpose/simulated_card/spec/card_profile.h"

using namespace memtrace::card;  // NOLINT: this file defines C functions over that namespace

namespace memtrace::card {
namespace {

// The profile whose times a card has that was given by its size.
constexpr std::string_view kUsualCard = "h100-80gb";

struct memtrace_card_times TimesOf(const CardSpec& spec) {
  if (const CardProfile* profile = FindCardProfile(spec.profile)) return profile->times;
  struct memtrace_card_times times = FindCardProfile(kUsualCard)->times;
  times.is_measured = 0;
  return times;
}

}  // namespace
}  // namespace memtrace::card

int memtrace_card_times(int device, struct memtrace_card_times* times) {
  if (times == nullptr || times->size < sizeof(times->size)) return MEMTRACE_CARD_INVALID_ARGUMENT;
  Machine* machine = Machine::OfProcess();
  if (machine == nullptr || !machine->HasDevice(device)) return MEMTRACE_CARD_NO_SUCH_DEVICE;
  const struct memtrace_card_times all = TimesOf(machine->CardAt(device).Spec());
  const std::uint32_t size = times->size;
  std::memcpy(times, &all, std::min<std::size_t>(size, sizeof(all)));
  times->size = size;
  return MEMTRACE_CARD_OK;
}
