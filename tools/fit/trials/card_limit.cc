// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/trials/card_limit.h"

#include <algorithm>
#include <iterator>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "interpose/simulated_card/spec/card_spec.h"

namespace memtrace::fit {
namespace {

constexpr absl::string_view kSize = "size=";
constexpr absl::string_view kBesideTheKind[] = {"link=", "nccl=", "os=", "other="};

// Returns the specification without a size that was given as a key.
std::string WithoutSize(absl::string_view spec) {
  std::vector<absl::string_view> kept;
  for (const absl::string_view part : absl::StrSplit(spec, ','))
    if (!absl::StartsWith(absl::StripAsciiWhitespace(part), kSize)) kept.push_back(part);
  return absl::StrJoin(kept, ",");
}

// True for a key that says nothing about the card itself, such as "nccl=800MiB".
bool IsBesideTheKind(absl::string_view part) {
  return std::any_of(std::begin(kBesideTheKind), std::end(kBesideTheKind),
                     [part](absl::string_view key) { return absl::StartsWith(part, key); });
}

// Returns the specs with another size for each of their cards, which `size` computes from its own.
template <typename Size>
absl::StatusOr<std::vector<std::string>> Resized(const std::vector<std::string>& specs,
                                                 const Size& size) {
  std::vector<std::string> resized;
  for (const std::string& spec : specs) {
    std::vector<std::string> cards;
    for (const absl::string_view card : absl::StrSplit(absl::string_view(spec), ';')) {
      std::vector<card::CardSpec> parsed;
      std::string error;
      if (!card::ParseCardSpecs({card.data(), card.size()}, &parsed, &error))
        return absl::InvalidArgumentError(error);
      cards.push_back(
          absl::StrCat(WithoutSize(card), ",", kSize, size(parsed.front().bytes) >> 20, "MiB"));
      if (!card::ParseCardSpecs(cards.back(), &parsed, &error))
        return absl::InvalidArgumentError(error);
    }
    resized.push_back(absl::StrJoin(cards, ";"));
  }
  return resized;
}

std::vector<uint64_t> EachCard(const std::vector<std::string>& specs,
                               uint64_t card::CardSpec::*bytes) {
  std::vector<uint64_t> of_cards;
  for (const std::string& spec : specs) {
    std::vector<card::CardSpec> cards;
    std::string ignored;
    if (!card::ParseCardSpecs(spec, &cards, &ignored)) continue;
    for (const card::CardSpec& of : cards) of_cards.push_back(of.*bytes);
  }
  return of_cards;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> WithBytes(const std::vector<std::string>& specs,
                                                   uint64_t bytes) {
  return Resized(specs, [bytes](uint64_t) { return bytes; });
}

absl::StatusOr<std::vector<std::string>> WithMargin(const std::vector<std::string>& specs,
                                                    uint64_t percent) {
  return Resized(specs, [percent](uint64_t bytes) { return bytes / 100 * (100 - percent); });
}

std::vector<std::string> OnProduct(const std::vector<std::string>& specs, std::string_view name) {
  std::vector<std::string> products;
  for (const std::string& spec : specs) {
    for (const absl::string_view card : absl::StrSplit(absl::string_view(spec), ';')) {
      std::string product(name);
      for (const absl::string_view part : absl::StrSplit(card, ','))
        if (IsBesideTheKind(absl::StripAsciiWhitespace(part))) absl::StrAppend(&product, ",", part);
      products.insert(products.end(), BytesOfCards({std::string(card)}).size(), product);
    }
  }
  return products;
}

std::vector<uint64_t> BytesOfCards(const std::vector<std::string>& specs) {
  return EachCard(specs, &card::CardSpec::bytes);
}

std::vector<uint64_t> OthersOfCards(const std::vector<std::string>& specs) {
  return EachCard(specs, &card::CardSpec::other_bytes);
}

}  // namespace memtrace::fit
