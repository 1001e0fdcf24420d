// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/spec/installed_cards.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string_view>

#include "base/environment.h"
#include "interpose/simulated_card/spec/card_profile.h"

namespace memtrace::card {
namespace {

std::vector<CardSpec> ReadFromEnvironment() {
  std::vector<CardSpec> cards;
  std::string ignored;  // libcuda reports it, once
  if (const char* text = env::Pointer(env::kCard)) ParseCardSpecs(text, &cards, &ignored);
  return cards;
}

// The lists are never destroyed, because other libraries hold references to them.
std::atomic<const std::vector<CardSpec>*>& Installed() {
  static std::atomic<const std::vector<CardSpec>*> installed =
      new std::vector<CardSpec>(ReadFromEnvironment());
  return installed;
}

// Returns the index of the card that one entry of CUDA_VISIBLE_DEVICES names.
std::optional<std::size_t> IndexOf(std::string_view entry, std::size_t cards) {
  while (entry.starts_with(' ')) entry.remove_prefix(1);
  if (entry.starts_with("GPU-")) {
    std::optional<std::size_t> found;
    for (std::size_t card = 0; card < cards; ++card) {
      if (!UuidTextOf(card).starts_with(entry)) continue;
      if (found.has_value()) return std::nullopt;  // fits two
      found = card;
    }
    return found;
  }
  std::size_t index = 0;
  const auto parsed = std::from_chars(entry.data(), entry.data() + entry.size(), index);
  const bool is_index = parsed.ec == std::errc() && parsed.ptr == entry.data() + entry.size();
  return is_index && index < cards ? std::optional(index) : std::nullopt;
}

}  // namespace

const std::vector<CardSpec>& InstalledCards() { return *Installed().load(); }

void ReadInstalledCardsAgain() { Installed() = new std::vector<CardSpec>(ReadFromEnvironment()); }

std::string NameOf(const CardSpec& spec) {
  const CardProfile* profile = FindCardProfile(spec.profile);
  return profile != nullptr ? std::string(profile->device_name) : "memtrace simulated card";
}

std::array<char, 16> UuidOf(std::size_t card) {
  std::array<char, 16> uuid;
  std::memcpy(uuid.data(), "memtrace card  ", uuid.size());
  uuid.back() = static_cast<char>('A' + card);
  return uuid;
}

std::string UuidTextOf(std::size_t card) {
  std::string text = "GPU-";
  std::size_t written = 0;
  for (const char byte : UuidOf(card)) {
    char digits[3];
    std::snprintf(digits, sizeof(digits), "%02x", static_cast<unsigned>(byte));
    text += digits;
    ++written;
    if (written == 4 || written == 6 || written == 8 || written == 10) text += '-';
  }
  return text;
}

std::vector<std::size_t> VisibleIndices(std::size_t cards, const char* visible_devices) {
  std::vector<std::size_t> visible;
  if (visible_devices == nullptr) {
    for (std::size_t i = 0; i < cards; ++i) visible.push_back(i);
    return visible;
  }
  std::string_view rest = visible_devices;
  while (!rest.empty()) {
    const std::string_view entry = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), entry.size() + 1));
    const std::optional<std::size_t> index = IndexOf(entry, cards);
    if (!index.has_value()) break;
    visible.push_back(*index);
  }
  return visible;
}

}  // namespace memtrace::card
