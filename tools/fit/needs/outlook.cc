// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/needs/outlook.h"

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

// Notes a climb if it fills its card before those that were noted.
void NoteClimb(const std::optional<Climb>& climb, const CardNeed& need, uint64_t room,
               Outlook& outlook) {
  if (!climb) return;
  const uint64_t full = climb->StepBeyond(room);
  if (outlook.climb && outlook.full_in_step <= full) return;
  outlook.climb = climb;
  outlook.card = need.card;
  outlook.full_in_step = full;
}

void LookAt(const CardNeed& need, uint64_t steps, uint64_t room, Outlook& outlook) {
  NoteClimb(FloorClimbOf(need.floors, steps), need, room + need.below_peak, outlook);
  if (need.rises.empty()) return;
  outlook.last_rise = std::max(outlook.last_rise, need.rises.back().step);
  outlook.rose_after = outlook.rose_after || need.peak_allocated > need.rises.back().bytes;
  outlook.rose_last = outlook.rose_last || RoseInLastStep(need.rises, steps);
  NoteClimb(ClimbOf(need.rises, steps), need, room, outlook);
}

}  // namespace

void LeastSeen::Add(const Outlook& run) {
  steps = has_runs ? std::min(steps, run.steps) : run.steps;
  is_whole = is_whole && run.is_whole;
  has_runs = true;
}

Outlook OutlookOf(const std::vector<ProcessNeed>& processes,
                  const std::vector<uint64_t>& card_bytes) {
  const std::map<int32_t, uint64_t> room = SpareBytes(processes, card_bytes);
  Outlook outlook;
  for (const ProcessNeed& process : processes) {
    outlook.steps = std::max(outlook.steps, process.steps);
    outlook.planned_steps = std::max(outlook.planned_steps, process.planned_steps);
    outlook.is_whole = outlook.is_whole && process.end == TrialEnd::kProgram;
    for (const CardNeed& need : process.cards)
      LookAt(need, process.steps, room.at(need.card), outlook);
  }
  return outlook;
}

}  // namespace memtrace::fit
