// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "base/check.h"
#include "interpose/simulated_card/spec/card_spec.h"
#include "tests/fuzz/targets.h"

namespace memtrace::fuzz {

void CardSpecs(std::string_view text) {
  std::vector<card::CardSpec> cards;
  std::string error;
  if (!card::ParseCardSpecs(text, &cards, &error)) {
    MEMTRACE_CHECK(cards.empty());
    MEMTRACE_CHECK(!error.empty());
    return;
  }
  MEMTRACE_CHECK(!cards.empty());
  MEMTRACE_CHECK(cards.size() <= card::kMaxCards);
  for (const card::CardSpec& spec : cards) MEMTRACE_CHECK(spec.bytes > 0);
}

}  // namespace memtrace::fuzz
