// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/outlook.h"

#include <algorithm>
#include <map>

namespace memtrace::fit {
namespace {

// Returns the bytes of each card beyond what is needed of it.
std::map<int32_t, uint64_t> SpareBytes(const std::vector<ProcessNeed>& processes,
                                       const std::vector<uint64_t>& card_bytes) {
  std::map<int32_t, uint64_t> room;
  for (const CardNeed& need : Joined(processes)) {
    const auto card = static_cast<size_t>(need.card);
    const uint64_t bytes = card < card_bytes.size() ? card_bytes[card] : 0;
    room[need.card] = bytes - std::min(bytes, need.total);
  }
  return room;
}

void LookAt(const CardNeed& need, uint64_t steps, uint64_t room, Outlook& outlook) {
  if (need.rises.empty()) return;
  outlook.last_rise = std::max(outlook.last_rise, need.rises.back().step);
  outlook.rose_after = outlook.rose_after || need.peak_allocated > need.rises.back().bytes;
  outlook.rose_last = outlook.rose_last || RoseInLastStep(need.rises, steps);
  const std::optional<Climb> climb = ClimbOf(need.rises, steps);
  if (!climb) return;
  const uint64_t full = climb->StepBeyond(room);
  if (outlook.climb && outlook.full_in_step <= full) return;
  outlook.climb = climb;
  outlook.card = need.card;
  outlook.full_in_step = full;
}

}  // namespace

Outlook OutlookOf(const std::vector<ProcessNeed>& processes,
                  const std::vector<uint64_t>& card_bytes) {
  const std::map<int32_t, uint64_t> room = SpareBytes(processes, card_bytes);
  Outlook outlook;
  for (const ProcessNeed& process : processes) {
    outlook.steps = std::max(outlook.steps, process.steps);
    outlook.is_whole = outlook.is_whole && process.end == TrialEnd::kProgram;
    for (const CardNeed& need : process.cards)
      LookAt(need, process.steps, room.at(need.card), outlook);
  }
  return outlook;
}

}  // namespace memtrace::fit
