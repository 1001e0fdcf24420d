// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/card_limit.h"

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "interpose/simulated_card/card_spec.h"

namespace memtrace::fit {
namespace {

constexpr absl::string_view kSize = "size=";

// Without a size that was given as a key.
std::string WithoutSize(absl::string_view spec) {
  std::vector<absl::string_view> kept;
  for (const absl::string_view part : absl::StrSplit(spec, ','))
    if (!absl::StartsWith(absl::StripAsciiWhitespace(part), kSize)) kept.push_back(part);
  return absl::StrJoin(kept, ",");
}

}  // namespace

absl::StatusOr<std::vector<std::string>> WithBytes(const std::vector<std::string>& specs,
                                                   uint64_t bytes) {
  std::vector<std::string> limited;
  for (const std::string& spec : specs) {
    std::vector<card::CardSpec> parsed;
    std::string error;
    if (!card::ParseCardSpecs(spec, &parsed, &error)) return absl::InvalidArgumentError(error);
    std::vector<std::string> cards;
    for (const absl::string_view card : absl::StrSplit(absl::string_view(spec), ';'))
      cards.push_back(absl::StrCat(WithoutSize(card), ",", kSize, bytes >> 20, "MiB"));
    limited.push_back(absl::StrJoin(cards, ";"));
    if (!card::ParseCardSpecs(limited.back(), &parsed, &error))
      return absl::InvalidArgumentError(error);
  }
  return limited;
}

}  // namespace memtrace::fit
