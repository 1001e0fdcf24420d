// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/spec/card_spec.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>
#include <optional>
#include <utility>

#include "interpose/simulated_card/spec/card_profile.h"

namespace memtrace::card {
namespace {

constexpr std::uint64_t kMiB = 1ull << 20;
constexpr std::uint64_t kGiB = 1ull << 30;
// The CUDA context of a training process takes 300 to 600 MiB on current cards; assumed.
constexpr std::uint64_t kDefaultContext = 500 * kMiB;
// No card has a tebibyte yet, so a larger figure is a typing mistake.
constexpr std::uint64_t kLargestCard = 1024 * kGiB;
constexpr std::array<std::string_view, 7> kKeys = {"cc", "context", "link", "nccl",
                                                   "os", "other",   "size"};
// No card for a desktop computer has this much, so cards that are given by such a size are assumed
// to have NVLink.
constexpr std::uint64_t kSizeWithNvlink = 40 * kGiB;

// NCCL's channels between cards without a profile's figure (docs/design/nccl-memory.md).
int ChannelsOf(CardLink link) { return link == CardLink::kNvlink ? 24 : 4; }

// Returns an example of a key's value.
std::string_view ExampleOf(std::string_view key) {
  if (key == "cc") return "=8.0";
  if (key == "os") return "=windows";
  if (key == "link") return "=nvlink";
  return key == "size" ? "=24GiB" : "=500MiB";
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\n";
  const std::size_t first = text.find_first_not_of(kSpaces);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpaces) - first + 1);
}

std::string Quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t at = text.find(separator); at != std::string_view::npos;
       at = text.find(separator)) {
    parts.push_back(Trim(text.substr(0, at)));
    text.remove_prefix(at + 1);
  }
  parts.push_back(Trim(text));
  return parts;
}

// Returns the Levenshtein distance, for "did you mean".
std::size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({changed, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

// A prefix, such as "h100" of "h100-80gb", is nearer than any other part, such as "a6000" of
// "rtx-a6000", and that is nearer than any mistyped word.
std::size_t Distance(std::string_view text, std::string_view candidate) {
  constexpr std::size_t kShortestPart = 3;
  if (!text.empty() && candidate.starts_with(text)) return 0;
  if (text.size() >= kShortestPart && candidate.find(text) != std::string_view::npos) return 1;
  return EditDistance(text, candidate) + 1;
}

// Returns the candidate that text most likely means; empty if none is near.
std::string_view Nearest(std::string_view text, const std::vector<std::string_view>& candidates) {
  std::string_view best;
  std::size_t best_distance = text.size() / 2 + 2;
  for (std::string_view candidate : candidates) {
    const std::size_t distance = Distance(text, candidate);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string Joined(const std::vector<std::string_view>& names) {
  std::string joined;
  for (std::string_view name : names) joined += (joined.empty() ? "" : ", ") + std::string(name);
  return joined;
}

// Returns "did you mean 'x'?" or the list of all candidates.
std::string Suggestion(std::string_view text, const std::vector<std::string_view>& candidates) {
  const std::string_view nearest = Nearest(Lower(text), candidates);
  if (!nearest.empty()) return "did you mean " + Quoted(nearest) + "?";
  return "write one of: " + Joined(candidates);
}

std::vector<std::string_view> ProfileNames() {
  std::vector<std::string_view> names;
  for (const CardProfile& profile : CardProfiles()) names.push_back(profile.name);
  return names;
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// True for the end of a profile's name that begins with its number, such as "4090" or "4060-ti". A
// size has fewer digits.
bool IsProfileNumber(std::string_view text) {
  constexpr std::ptrdiff_t kDigits = 4;
  const auto end = std::find_if_not(text.begin(), text.end(), IsDigit);
  const std::string part = "-" + Lower(text);
  const auto profiles = CardProfiles();
  return end - text.begin() == kDigits &&
         std::any_of(profiles.begin(), profiles.end(), [&part](const CardProfile& profile) {
           return profile.name.find(part) != std::string_view::npos;
         });
}

// True for digits with at most one decimal point between them.
bool IsNumber(std::string_view text) {
  if (text.empty() || !IsDigit(text.front()) || !IsDigit(text.back())) return false;
  if (std::count(text.begin(), text.end(), '.') > 1) return false;
  return std::all_of(text.begin(), text.end(), [](char c) { return IsDigit(c) || c == '.'; });
}

// Parses one SPEC. The first error is kept.
class SpecParser {
 public:
  explicit SpecParser(std::string_view spec) : spec_(spec) {}

  bool Parse(std::vector<CardSpec>* cards);
  std::string TakeError() { return std::move(error_); }

 private:
  bool ParseCount(std::string_view* card);
  bool ParseCard(std::string_view card);
  bool ParseKey(std::string_view assignment);
  bool ParseSize(std::string_view text, std::string_view what, std::uint64_t* bytes);
  bool ParseComputeCapability(std::string_view text);
  bool ParseOperatingSystem(std::string_view text);
  bool ParseLink(std::string_view text);
  bool ParseNcclBytes(std::string_view text);
  void SetLink(CardLink link);
  bool CheckFits();
  bool Fail(const std::string& sentence);

  std::string_view spec_;
  CardSpec card_;
  std::size_t count_ = 1;
  std::vector<std::string_view> keys_seen_;
  std::string error_;
};

bool SpecParser::Fail(const std::string& sentence) {
  error_ = "card " + Quoted(spec_) + ": " + sentence;
  return false;
}

bool SpecParser::Parse(std::vector<CardSpec>* cards) {
  const std::vector<std::string_view> parts = Split(spec_, ',');
  std::string_view card = parts.front();
  card_.context_bytes = kDefaultContext;
  if (!ParseCount(&card) || !ParseCard(card)) return false;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    if (!ParseKey(parts[i])) return false;
  }
  if (!CheckFits()) return false;
  cards->insert(cards->end(), count_, card_);
  return true;
}

// Parses "2x80GiB": removes the "2x" from *card.
bool SpecParser::ParseCount(std::string_view* card) {
  const std::size_t digits = static_cast<std::size_t>(
      std::find_if_not(card->begin(), card->end(), IsDigit) - card->begin());
  if (digits == 0 || digits == card->size() || std::tolower((*card)[digits]) != 'x') return true;
  // Six digits are more than any sensible count has, and std::stoul must not overflow.
  const std::string number(card->substr(0, std::min<std::size_t>(digits, 6)));
  count_ = std::stoul(number);
  card->remove_prefix(digits + 1);
  *card = Trim(*card);
  if (count_ >= 1 && count_ <= kMaxCards) return true;
  return Fail("the number of cards must be 1 to " + std::to_string(kMaxCards) + ", not " + number);
}

bool SpecParser::ParseCard(std::string_view card) {
  if (card.empty())
    return Fail("the size or the profile is missing; write for example 24GiB or rtx-4090");
  if (IsDigit(card.front()) && !IsProfileNumber(card)) {
    if (!ParseSize(card, "the size", &card_.bytes)) return false;
    SetLink(card_.bytes >= kSizeWithNvlink ? CardLink::kNvlink : CardLink::kHost);
    return true;
  }
  const CardProfile* profile = FindCardProfile(card);
  if (profile == nullptr) {
    return Fail("there is no profile " + Quoted(card) + "; " + Suggestion(card, ProfileNames()) +
                (Nearest(Lower(card), ProfileNames()).empty() ? ", or a size such as 24GiB" : ""));
  }
  card_.profile = std::string(profile->name);
  card_.bytes = profile->bytes;
  card_.context_bytes = profile->context_bytes;
  card_.compute_capability_major = profile->compute_capability_major;
  card_.compute_capability_minor = profile->compute_capability_minor;
  card_.multiprocessors = profile->multiprocessors;
  card_.link = profile->link;
  card_.nccl_channels = profile->nccl_channels;
  return true;
}

bool SpecParser::ParseKey(std::string_view assignment) {
  const std::size_t equals = assignment.find('=');
  const std::string_view key = Trim(assignment.substr(0, equals));
  const std::vector<std::string_view> keys(kKeys.begin(), kKeys.end());
  if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
    return Fail("there is no key " + Quoted(key) + "; " + Suggestion(key, keys));
  }
  if (equals == std::string_view::npos) {
    return Fail("the key " + Quoted(key) + " has no value; write " + std::string(key) +
                std::string(ExampleOf(key)));
  }
  if (std::find(keys_seen_.begin(), keys_seen_.end(), key) != keys_seen_.end()) {
    return Fail("the key " + Quoted(key) + " is given twice; write it once");
  }
  keys_seen_.push_back(key);
  const std::string_view value = Trim(assignment.substr(equals + 1));
  if (key == "cc") return ParseComputeCapability(value);
  if (key == "os") return ParseOperatingSystem(value);
  if (key == "link") return ParseLink(value);
  if (key == "nccl") return ParseNcclBytes(value);
  if (key == "size") return ParseSize(value, key, &card_.bytes);
  return ParseSize(value, key, key == "other" ? &card_.other_bytes : &card_.context_bytes);
}

bool SpecParser::ParseSize(std::string_view text, std::string_view what, std::uint64_t* bytes) {
  const std::size_t unit_at = static_cast<std::size_t>(
      std::find_if_not(text.begin(), text.end(), [](char c) { return IsDigit(c) || c == '.'; }) -
      text.begin());
  const std::string_view number = text.substr(0, unit_at);
  const std::string unit = Lower(Trim(text.substr(unit_at)));
  const std::string is = std::string(what) + " " + Quoted(text);
  if (!IsNumber(number)) return Fail(is + " is not a size; write for example 24GiB or 500MiB");
  if (unit != "gib" && unit != "mib") {
    const bool mega = !unit.empty() && unit.front() == 'm';
    const std::string instead = std::string(number) + (mega ? "MiB" : "GiB");
    const bool decimal = unit == "gb" || unit == "mb" || unit == "g" || unit == "m";
    return Fail(is +
                (unit.empty() ? " has no unit"
                 : decimal    ? " is ambiguous (powers of 10 or of 2)"
                              : " has an unknown unit") +
                "; write " + instead);
  }
  const long double value = std::stold(std::string(number)) * (unit == "gib" ? kGiB : kMiB);
  if (value > static_cast<long double>(kLargestCard))
    return Fail(is + " is above 1024GiB; check the unit");
  *bytes = static_cast<std::uint64_t>(value);
  return true;
}

bool SpecParser::ParseComputeCapability(std::string_view text) {
  const std::size_t point = text.find('.');
  const bool well_formed =
      IsNumber(text) && point != std::string_view::npos && point <= 2 && text.size() - point == 2;
  if (!well_formed)
    return Fail("cc " + Quoted(text) + " is not a compute capability; write for example cc=8.0");
  card_.compute_capability_major = std::stoi(std::string(text.substr(0, point)));
  card_.compute_capability_minor = text[point + 1] - '0';
  // torch's CUDA 12 wheels contain code for Volta, the oldest of the profiles, and later.
  if (card_.compute_capability_major >= 7) return true;
  return Fail("cc " + Quoted(text) +
              " is older than the simulated card supports; write cc=7.0 or higher");
}

bool SpecParser::ParseOperatingSystem(std::string_view text) {
  card_.addresses_ascend = text == "windows";
  if (text == "linux" || text == "windows") return true;
  return Fail("os " + Quoted(text) + " is not known; write os=linux or os=windows");
}

bool SpecParser::ParseLink(std::string_view text) {
  if (text != "nvlink" && text != "pcie" && text != "host")
    return Fail("link " + Quoted(text) +
                " is not known; write link=nvlink, link=pcie or link=host");
  const CardLink link = text == "nvlink" ? CardLink::kNvlink
                        : text == "pcie" ? CardLink::kPcie
                                         : CardLink::kHost;
  if (link != card_.link) SetLink(link);
  return true;
}

bool SpecParser::ParseNcclBytes(std::string_view text) {
  std::uint64_t bytes = 0;
  if (!ParseSize(text, "nccl", &bytes)) return false;
  card_.nccl_bytes = bytes;
  return true;
}

void SpecParser::SetLink(CardLink link) {
  card_.link = link;
  card_.nccl_channels = ChannelsOf(link);
}

bool SpecParser::CheckFits() {
  if (card_.bytes == 0) return Fail("the card has no bytes; write for example 24GiB");
  if (card_.context_bytes + card_.other_bytes < card_.bytes) return true;
  return Fail("context (" + std::to_string(card_.context_bytes / kMiB) + " MiB) and other (" +
              std::to_string(card_.other_bytes / kMiB) + " MiB) do not fit into " +
              std::to_string(card_.bytes / kMiB) +
              " MiB; write a larger card or smaller context= and other=");
}

}  // namespace

const CardProfile* FindCardProfile(std::string_view name) {
  const std::string lower = Lower(name);
  for (const CardProfile& profile : CardProfiles()) {
    if (profile.name == lower) return &profile;
  }
  return nullptr;
}

bool ParseCardSpecs(std::string_view text, std::vector<CardSpec>* cards, std::string* error) {
  std::vector<CardSpec> parsed;
  for (std::string_view spec : Split(text, ';')) {
    SpecParser parser(spec);
    if (!parser.Parse(&parsed)) {
      *error = parser.TakeError();
      return false;
    }
  }
  if (parsed.size() > kMaxCards) {
    *error = "card " + Quoted(text) + ": " + std::to_string(parsed.size()) +
             " cards are more than the " + std::to_string(kMaxCards) +
             " a process may have; write fewer";
    return false;
  }
  *cards = std::move(parsed);
  return true;
}

}  // namespace memtrace::card
