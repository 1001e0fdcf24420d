// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/machine.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace memtrace::card {
namespace {

// A parameter of tens of millions of elements still arrives; the embedding of a large model does
// not.
constexpr std::uint64_t kDefaultCopyLimit = 64ull << 20;

Cards MakeCards(const std::vector<CardSpec>& specs) {
  Cards cards;
  for (const CardSpec& spec : specs) cards.push_back(std::make_unique<Card>(spec));
  return cards;
}

std::uint64_t CopyLimit() {
  const char* text = std::getenv("MEMTRACE_CARD_COPY_LIMIT");
  return text == nullptr ? kDefaultCopyLimit : std::strtoull(text, nullptr, 10);
}

Machine* MakeFromEnvironment() {
  const char* text = std::getenv("MEMTRACE_CARD");
  if (text == nullptr || *text == '\0') return nullptr;
  std::vector<CardSpec> cards;
  std::string error;
  if (!ParseCardSpecs(text, &cards, &error)) {
    // CUDA can only say "no device"; this is the one place that knows why.
    std::fprintf(stderr, "memtrace: MEMTRACE_CARD: %s\n", error.c_str());
    return nullptr;
  }
  cards = VisibleCards(cards, std::getenv("CUDA_VISIBLE_DEVICES"));
  return cards.empty() ? nullptr : new Machine(cards, CopyLimit());
}

}  // namespace

Machine::Machine(const std::vector<CardSpec>& specs, std::uint64_t copy_limit)
    : cards(MakeCards(specs)),
      space(cards, file),
      heap(space),
      copies(space, file, copy_limit),
      contexts(cards),
      streams(static_cast<int>(cards.size())),
      variables(space, ChargeKind::kContext),
      device_variables(variables),
      modules(kernels, variables),
      pools(space, cards) {}

Machine* Machine::OfProcess() {
  static Machine* machine = MakeFromEnvironment();
  return machine;
}

std::vector<CardSpec> VisibleCards(const std::vector<CardSpec>& cards,
                                   const char* visible_devices) {
  if (visible_devices == nullptr) return cards;
  std::vector<CardSpec> visible;
  std::string_view rest = visible_devices;
  while (!rest.empty()) {
    const std::string_view entry = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), entry.size() + 1));
    char* end = nullptr;
    const std::string text(entry);
    const unsigned long index = std::strtoul(text.c_str(), &end, 10);
    const bool is_index =
        end != text.c_str() && *end == '\0' && text.find('-') == std::string::npos;
    if (!is_index || index >= cards.size()) break;
    visible.push_back(cards[index]);
  }
  return visible;
}

}  // namespace memtrace::card
