// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/replayed/moment_spec.h"

#include <array>
#include <cmath>
#include <variant>

#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "messages/message.h"

namespace memtrace::analysis {
namespace {

using Kind = MomentSpec::Kind;

struct Named {
  std::string_view name;
  Kind kind;
  bool without_number;  // valid without a number
  bool with_number;
};
constexpr std::array<Named, 6> kNamed = {{{"oom", Kind::kFailure, true, true},
                                          {"peak", Kind::kPeak, true, false},
                                          {"peak", Kind::kPeakOfStep, false, true},
                                          {"step", Kind::kStep, false, true},
                                          {"event", Kind::kEvent, false, true},
                                          {"end", Kind::kEnd, true, false}}};

absl::Status Refusal(std::string_view text) {
  return absl::InvalidArgumentError(
      Message("'$0' is not a moment; a moment is oom, oom:2, peak, peak:5 (the peak of step 5), "
              "step:5 (the start of step 5), event:1234, time:1.5s or end",
              text));
}

std::optional<uint64_t> Nanoseconds(absl::string_view text) {
  constexpr double kMost = 1e9;  // seconds: some 30 years
  double seconds = 0;
  if (!absl::ConsumeSuffix(&text, "s") || !absl::SimpleAtod(text, &seconds)) return std::nullopt;
  if (!(seconds >= 0 && seconds <= kMost)) return std::nullopt;
  return static_cast<uint64_t>(std::llround(seconds * 1e9));
}

}  // namespace

absl::StatusOr<MomentSpec> ParseMomentSpec(std::string_view text) {
  const size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const bool has_number = colon != std::string_view::npos;
  const std::string number(has_number ? text.substr(colon + 1) : "");
  if (name == "time" && has_number) {
    if (const auto ns = Nanoseconds(number)) return MomentSpec{Kind::kTime, *ns};
    return Refusal(text);
  }
  uint64_t value = 0;
  if (has_number && (!absl::SimpleAtoi(number, &value) || value == 0)) return Refusal(text);
  for (const Named& named : kNamed) {
    if (named.name == name && (has_number ? named.with_number : named.without_number)) {
      return MomentSpec{named.kind, value};
    }
  }
  return Refusal(text);
}

std::string MomentText(const MomentSpec& spec) {
  if (spec.kind == Kind::kFailureOrPeak) return "oom or peak";
  if (spec.kind == Kind::kTime)
    return "time:" + std::to_string(static_cast<double>(spec.number) / 1e9) + "s";
  for (const Named& named : kNamed) {
    if (named.kind != spec.kind) continue;
    const std::string name(named.name);
    return spec.number == 0 ? name : name + ":" + std::to_string(spec.number);
  }
  return "";
}

void MomentFinder::Apply(const trace::Event& event, const Timeline& timeline) {
  const uint64_t ordinal = timeline.counts().events;
  const auto* step = std::get_if<trace::Step>(&event.payload);
  if (step != nullptr) last_step_ = step->number;
  switch (spec_.kind) {
    case Kind::kStep:
      if (step != nullptr && step->number == spec_.number && !ordinal_) ordinal_ = ordinal;
      break;
    case Kind::kEvent:
      if (ordinal == spec_.number) ordinal_ = ordinal;
      break;
    case Kind::kTime:
      if (!ordinal_) ordinal_ = 0;
      if (event.time_ns <= spec_.number) ordinal_ = ordinal;
      break;
    case Kind::kEnd:
      ordinal_ = ordinal;
      break;
    case Kind::kPeakOfStep:
      if (last_step_ != spec_.number) break;
      for (const auto& [device, card] : timeline.cards()) {
        Level& highest = highest_[device];
        if (highest.ordinal == 0 || card.live_requested > highest.bytes)
          highest = {card.live_requested, ordinal};
      }
      break;
    case Kind::kFailureOrPeak:
    case Kind::kFailure:
    case Kind::kPeak:
      break;
  }
}

std::map<int32_t, uint64_t> MomentFinder::Found(const Timeline& timeline) const {
  std::map<int32_t, uint64_t> found;
  const bool failure =
      timeline.failed() && (spec_.kind == Kind::kFailure ||
                            (spec_.kind == Kind::kFailureOrPeak && !timeline.got_over()));
  for (const auto& [device, card] : timeline.cards()) {
    if (failure) {
      found[device] = timeline.failed()->ordinal;
    } else if (spec_.kind == Kind::kPeak || spec_.kind == Kind::kFailureOrPeak) {
      found[device] = card.peak_event;
    } else if (const auto highest = highest_.find(device); highest != highest_.end()) {
      found[device] = highest->second.ordinal;
    } else if (ordinal_) {
      found[device] = *ordinal_;
    }
  }
  return found;
}

std::string MomentFinder::DescribeMissingMoment(const Timeline& timeline) const {
  const EventCounts& counts = timeline.counts();
  switch (spec_.kind) {
    case Kind::kFailure:
      if (counts.out_of_memory == 0)
        return Message("this trace has no out-of-memory error; --at peak explains its peak");
      return CountedMessage(counts.out_of_memory,
                            "there is no out-of-memory error $0 in this trace; it has 1",
                            "there is no out-of-memory error $0 in this trace; it has $1",
                            spec_.number, counts.out_of_memory);
    case Kind::kStep:
    case Kind::kPeakOfStep:
      if (counts.steps == 0)
        return Message("this trace has no steps; use event: or time: to name a moment");
      return Message("there is no step $0 in this trace; the last is step $1", spec_.number,
                     last_step_);
    case Kind::kEvent:
      return CountedMessage(counts.events, "there is no event $0 in this trace; it has 1 event",
                            "there is no event $0 in this trace; it has $1 events", spec_.number,
                            counts.events);
    default:
      return Message("the trace is empty");
  }
}

}  // namespace memtrace::analysis
