// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/spec/card_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "interpose/simulated_card/spec/card_profile.h"

namespace memtrace::card {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t operator""_MiB(unsigned long long n) { return n << 20; }
constexpr std::uint64_t operator""_GiB(unsigned long long n) { return n << 30; }

// Returns one line a card: "size context other cc", sizes in MiB.
std::string Cards(std::string_view text) {
  std::vector<CardSpec> cards;
  std::string error;
  if (!ParseCardSpecs(text, &cards, &error)) return "error: " + error;
  std::string lines;
  for (const CardSpec& card : cards) {
    lines += (lines.empty() ? "" : " | ") + std::to_string(card.bytes / 1_MiB) + " " +
             std::to_string(card.context_bytes / 1_MiB) + " " +
             std::to_string(card.other_bytes / 1_MiB) + " " +
             std::to_string(card.compute_capability_major) + "." +
             std::to_string(card.compute_capability_minor);
  }
  return lines;
}

TEST(CardSpecTest, ValidSpecsAreParsed) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"24GiB", "24576 500 0 8.0"},
      {" 24 GiB ", "24576 500 0 8.0"},
      {"24gib", "24576 500 0 8.0"},
      {"512MiB,context=0MiB", "512 0 0 8.0"},
      {"23.68GiB", "24248 500 0 8.0"},
      {"2x80GiB,other=3GiB", "81920 500 3072 8.0 | 81920 500 3072 8.0"},
      {"2X80GiB,cc=12.0", "81920 500 0 12.0 | 81920 500 0 12.0"},
      {"rtx-4090", "24207 500 0 8.9"},
      {"RTX-4090,cc=8.6", "24207 500 0 8.6"},
      {"rtx-4090,size=100GiB", "102400 500 0 8.9"},
      {"rtx-5090", "32120 500 0 12.0"},
      {"v100-16gb", "16160 500 0 7.0"},
      {"4xa100-80gb,context=450MiB,cc=8.0",
       "81039 450 0 8.0 | 81039 450 0 8.0 | 81039 450 0 8.0 | 81039 450 0 8.0"},
      {"24GiB,os=windows", "24576 500 0 8.0"},
      {"80GiB;24GiB,other=1.5GiB", "81920 500 0 8.0 | 24576 500 1536 8.0"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(Cards(text), expected) << text;
}

TEST(CardSpecTest, DecimalsAreRoundedDownToBytes) {
  std::vector<CardSpec> cards;
  std::string error;
  ASSERT_TRUE(ParseCardSpecs("23.68GiB", &cards, &error));
  EXPECT_EQ(cards[0].bytes, 25426206392u);
}

TEST(CardSpecTest, LinksAreTheProfilesOrStated) {
  const auto first = [](const char* text) {
    std::vector<CardSpec> cards(1);
    std::string error;
    EXPECT_TRUE(ParseCardSpecs(text, &cards, &error)) << error;
    return std::pair(cards.front().link, cards.front().nccl_channels);
  };
  EXPECT_EQ(first("8xh100-80gb"), std::pair(CardLink::kNvlink, 24));
  EXPECT_EQ(first("8xh800"), std::pair(CardLink::kNvlink, 16));
  EXPECT_EQ(first("2xrtx-4090"), std::pair(CardLink::kHost, 4));
  EXPECT_EQ(first("8xh100-80gb,link=pcie"), std::pair(CardLink::kPcie, 4));
  EXPECT_EQ(first("8xh800,link=nvlink"), std::pair(CardLink::kNvlink, 16));
  EXPECT_EQ(first("8x80GiB"), std::pair(CardLink::kNvlink, 24));
  EXPECT_EQ(first("2x24GiB"), std::pair(CardLink::kHost, 4));
}

TEST(CardSpecTest, InvalidSpecsAreRejectedWithACorrection) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> cases = {
      {"", {"''", "24GiB"}},
      {"24GB", {"'24GB'", "ambiguous", "write 24GiB"}},
      {"24G", {"ambiguous", "write 24GiB"}},
      {"512MB", {"write 512MiB"}},
      {"24", {"no unit", "write 24GiB"}},
      {"24TiB", {"unknown unit", "write 24GiB"}},
      {"2400GiB", {"above 1024GiB"}},
      {"1.2.3GiB", {"not a size"}},
      {"24.GiB", {"not a size"}},
      {"0GiB", {"no bytes"}},
      {"-1GiB", {"no profile '-1GiB'"}},
      {"rtx-409", {"no profile 'rtx-409'", "did you mean 'rtx-4090'?"}},
      {"4090", {"no profile '4090'", "did you mean 'rtx-4090'?"}},
      {"2x3080", {"no profile '3080'", "did you mean 'rtx-3080'?"}},
      {"4060-Ti", {"did you mean 'rtx-4060-ti-16gb'?"}},
      {"1234", {"no unit", "write 1234GiB"}},
      {"h100", {"did you mean 'h100-80gb'?"}},
      {"v100", {"did you mean 'v100-16gb'?"}},
      {"a6000", {"did you mean 'rtx-a6000'?"}},
      {"ada", {"did you mean 'rtx-6000-ada'?"}},
      {"voodoo", {"write one of: a10,", "or a size"}},
      {"0x24GiB", {"number of cards must be 1 to 16, not 0"}},
      {"17x24GiB", {"1 to 16, not 17"}},
      {"99999999999999999999x24GiB", {"1 to 16"}},
      {"9x1GiB;9x1GiB", {"18 cards"}},
      {"24GiB,othr=3GiB", {"no key 'othr'", "did you mean 'other'?"}},
      {"24GiB,Z=3GiB", {"write one of: cc, context, link, nccl, os, other, size"}},
      {"24GiB,", {"no key ''"}},
      {"24GiB,other", {"'other' has no value", "other=500MiB"}},
      {"24GiB,other=", {"not a size"}},
      {"24GiB,size", {"'size' has no value", "size=24GiB"}},
      {"24GiB,size=2GiB,other=2GiB", {"do not fit"}},
      {"24GiB,other=3GB", {"other '3GB'", "write 3GiB"}},
      {"24GiB,cc=9", {"cc '9'", "cc=8.0"}},
      {"24GiB,link=sli", {"link 'sli'", "link=nvlink, link=pcie or link=host"}},
      {"24GiB,nccl=many", {"nccl 'many'", "not a size"}},
      {"24GiB,os=macos", {"os 'macos'", "os=linux or os=windows"}},
      {"24GiB,cc=6.1", {"older than the simulated card supports", "7.0"}},
      {"24GiB,cc=9.0,cc=9.0", {"given twice"}},
      {"1GiB,other=1GiB", {"context (500 MiB)", "other (1024 MiB)", "do not fit", "1024 MiB"}},
      {"400MiB", {"do not fit"}},
      {"24GiB;x", {"'x'"}},
  };
  for (const auto& [text, parts] : cases) {
    for (const std::string& part : parts) EXPECT_THAT(Cards(text), HasSubstr(part)) << text;
    EXPECT_THAT(Cards(text), HasSubstr("error: card '")) << text;
  }
}

TEST(CardSpecTest, InvalidSpecLeavesTheCardsUnchanged) {
  std::vector<CardSpec> cards(1);
  std::string error;
  EXPECT_FALSE(ParseCardSpecs("24GiB;24GB", &cards, &error));
  EXPECT_EQ(cards.size(), 1u);
}

TEST(CardProfilesTest, AreSortedPlausibleAndParse) {
  const auto profiles = CardProfiles();
  ASSERT_GE(profiles.size(), 31u);
  EXPECT_TRUE(std::is_sorted(profiles.begin(), profiles.end(),
                             [](const auto& a, const auto& b) { return a.name < b.name; }));
  for (const CardProfile& profile : profiles) {
    EXPECT_GT(profile.bytes, 7_GiB) << profile.name;
    EXPECT_LT(profile.bytes, 200_GiB) << profile.name;
    EXPECT_GT(profile.multiprocessors, 0) << profile.name;
    EXPECT_THAT(Cards(profile.name), ::testing::Not(HasSubstr("error"))) << profile.name;
  }
}

TEST(CardProfilesTest, HaveTheRightMultiprocessorCounts) {
  const std::vector<std::pair<std::string_view, int>> cases = {
      {"rtx-3080", 68},
      {"rtx-3080-12gb", 70},
      {"rtx-4060-ti-16gb", 34},
      {"rtx-4090d", 114},
      {"rtx-5090", 170},
      {"a10", 72},
      {"a40", 84},
      {"rtx-a6000", 84},
      {"rtx-6000-ada", 142},
      {"a800-80gb", 108},
      {"h800", 132},
      {"h20", 78},
      {"l4", 58},
      {"l20", 92},
      {"l40", 142},
      {"l40s", 142},
      {"t4", 40},
      {"v100-32gb", 80},
      {"gh200-96gb", 132},
      {"gh200-144gb", 132},
  };
  for (const auto& [name, multiprocessors] : cases) {
    const CardProfile* profile = FindCardProfile(name);
    ASSERT_NE(profile, nullptr) << name;
    EXPECT_EQ(profile->multiprocessors, multiprocessors) << name;
  }
}

}  // namespace
}  // namespace memtrace::card
