// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/trace/events/event.h"

#include <array>
#include <cstddef>

namespace memtrace::trace {
namespace {

constexpr std::array<std::string_view, kRoleCount> kRoleNames = {
#define MEMTRACE_ROLE(name, text, meaning) text,
#include "profiler/trace/vocabulary/roles.def"
#undef MEMTRACE_ROLE
};
constexpr std::array<std::string_view, kPhaseCount> kPhaseNames = {
#define MEMTRACE_PHASE(name, text) text,
#include "profiler/trace/vocabulary/phases.def"
#undef MEMTRACE_PHASE
};
constexpr std::array<std::string_view, 6> kOutsideKindNames = {
    "device", "stream_ordered", "physical", "managed", "host", "registered"};
constexpr std::array<std::string_view, 5> kActivityKindNames = {
    "kernel", "copy", "fill", "memory_given", "memory_taken_back"};

constexpr std::array<std::string_view, kMoveKindCount> kMoveKindNames = {
    "gave_way", "gave_to_neighbour", "slept", "woke", "spilled", "came_back", "took_turns"};

template <typename Names, typename Enum>
std::string_view NameOf(const Names& names, Enum value) {
  const auto index = static_cast<size_t>(value);
  return index < names.size() ? names[index] : "unknown";
}

}  // namespace

std::string_view RoleName(Role role) { return NameOf(kRoleNames, role); }
std::string_view PhaseName(Phase phase) { return NameOf(kPhaseNames, phase); }
std::string_view OutsideKindName(OutsideKind kind) { return NameOf(kOutsideKindNames, kind); }
std::string_view ActivityKindName(ActivityKind kind) { return NameOf(kActivityKindNames, kind); }
std::string_view MoveKindName(MoveKind kind) { return NameOf(kMoveKindNames, kind); }

}  // namespace memtrace::trace
