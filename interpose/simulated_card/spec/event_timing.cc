// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/spec/event_timing.h"

#include <charconv>

namespace memtrace::card {
namespace {

constexpr std::string_view kDelay = "delay:";

bool ParseNumber(std::string_view text, std::uint64_t* number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

bool ParseEventTiming(std::string_view text, EventTiming* timing, std::string* error) {
  EventTiming parsed;
  if (text == "lazy") {
    parsed.mode = EventMode::kLazy;
  } else if (text.substr(0, kDelay.size()) == kDelay &&
             ParseNumber(text.substr(kDelay.size()), &parsed.questions)) {
    parsed.mode = EventMode::kDelayed;
  } else if (!text.empty() && text != "eager") {
    *error = "'" + std::string(text) +
             "' is not a timing of events; write eager, lazy or delay:N (N questions answered "
             "\"not ready\")";
    return false;
  }
  *timing = parsed;
  return true;
}

std::string ToText(const EventTiming& timing) {
  switch (timing.mode) {
    case EventMode::kEager:
      return "eager";
    case EventMode::kLazy:
      return "lazy";
    case EventMode::kDelayed:
      return std::string(kDelay) + std::to_string(timing.questions);
  }
  return "eager";
}

}  // namespace memtrace::card
