// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/needs/climb.h"

#include <algorithm>

#include "nlohmann/json.hpp"

namespace memtrace::fit {
namespace {

constexpr uint64_t kFirstSteps = 2;  // the steps that make optimizer states, and first hold them
constexpr size_t kLeastTimes = 3;    // twice is a coincidence
constexpr size_t kLeastFloors = 4;   // what stays varies more than a peak: with each batch
constexpr size_t kMostTimes = 8;     // further back the program may have behaved differently

// True if they are within a factor of two.
bool AreAlike(uint64_t a, uint64_t b) { return a <= 2 * b && b <= 2 * a; }

// The difference between a rise and the next.
struct Gain {
  uint64_t bytes = 0;
  uint64_t steps = 0;
};

// Returns the gains, the latest first.
std::vector<Gain> GainsOf(const std::vector<PeakRise>& rises) {
  std::vector<Gain> gains;
  for (size_t i = rises.size(); i-- > 1 && gains.size() < kMostTimes;) {
    if (rises[i].step <= kFirstSteps) break;
    gains.push_back({rises[i].bytes - rises[i - 1].bytes, rises[i].step - rises[i - 1].step});
  }
  return gains;
}

// Returns the values of one card that are higher than all before them, and than `least` if they are
// the first; none if the text is malformed.
std::vector<PeakRise> HighsOf(std::string_view text, int32_t card, uint64_t least) {
  const nlohmann::json list = nlohmann::json::parse(text, nullptr, false);
  std::vector<PeakRise> rises;
  const auto index = static_cast<size_t>(card);
  for (const nlohmann::json& rise : list.is_array() ? list : nlohmann::json::array()) {
    const bool is_rise = rise.is_array() && rise.size() == 2 && rise[0].is_number_unsigned() &&
                         rise[1].is_array() && rise[1].size() > index &&
                         rise[1][index].is_number_unsigned();
    if (!is_rise) return {};
    const auto bytes = rise[1][index].get<uint64_t>();
    if (rises.empty() ? bytes >= least : bytes > rises.back().bytes)
      rises.push_back({.step = rise[0].get<uint64_t>(), .bytes = bytes});
  }
  return rises;
}

// Returns a climb of at least `least_times` alike gains that had not ended at step `steps`.
std::optional<Climb> ClimbAmong(const std::vector<PeakRise>& rises, uint64_t steps,
                                size_t least_times) {
  const std::vector<Gain> gains = GainsOf(rises);
  Climb climb;
  uint64_t bytes = 0;
  uint64_t gaps = 0;
  uint64_t longest = 0;
  for (const Gain& gain : gains) {
    if (!AreAlike(gain.bytes, gains[0].bytes) || !AreAlike(gain.steps, gains[0].steps)) break;
    bytes += gain.bytes;
    gaps += gain.steps;
    longest = std::max(longest, gain.steps);
    ++climb.times;
  }
  if (climb.times < least_times) return std::nullopt;
  climb.last_step = rises.back().step;
  if (steps - std::min(steps, climb.last_step) > 2 * longest) return std::nullopt;  // it is over
  climb.bytes = bytes / climb.times;
  climb.every = std::max<uint64_t>(gaps / climb.times, 1);
  return climb;
}

}  // namespace

std::vector<PeakRise> RisesOf(std::string_view text, int32_t card) {
  return HighsOf(text, card, 1);
}

std::vector<PeakRise> FloorsOf(std::string_view text, int32_t card) {
  return HighsOf(text, card, 0);
}

uint64_t Climb::StepBeyond(uint64_t room) const {
  const uint64_t more = bytes == 0 ? 0 : room / bytes + 1;
  return last_step + more * every;
}

std::optional<Climb> ClimbOf(const std::vector<PeakRise>& rises, uint64_t steps) {
  return ClimbAmong(rises, steps, kLeastTimes);
}

std::optional<Climb> FloorClimbOf(const std::vector<PeakRise>& floors, uint64_t steps) {
  std::optional<Climb> climb = ClimbAmong(floors, steps, kLeastFloors);
  if (climb) climb->is_of_floor = true;
  return climb;
}

bool RoseInLastStep(const std::vector<PeakRise>& rises, uint64_t steps) {
  return steps > 0 && !rises.empty() && rises.back().step >= steps;
}

}  // namespace memtrace::fit
