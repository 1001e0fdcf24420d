// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/words/quantity.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>

#include "messages/message.h"

namespace memtrace::report {
namespace {

constexpr uint64_t kKiB = uint64_t{1} << 10;
constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kGiB = uint64_t{1} << 30;

std::string Decimal(uint64_t bytes, uint64_t unit, int digits, const char* name) {
  std::array<char, 48> text{};
  const double value = static_cast<double>(bytes) / static_cast<double>(unit);
  std::snprintf(text.data(), text.size(), "%.*f %s", digits, value, name);
  return text.data();
}

}  // namespace

std::string FormatBytes(uint64_t bytes) {
  if (bytes >= kGiB) return Decimal(bytes, kGiB, 2, "GiB");
  if (bytes >= kMiB) return Decimal(bytes, kMiB, 1, "MiB");
  if (bytes >= kKiB) return Decimal(bytes, kKiB, 1, "KiB");
  return CountedMessage(bytes, "1 byte", "$0 bytes", bytes);
}

std::string FormatSignedBytes(int64_t bytes) {
  return (bytes < 0 ? "-" : "") + FormatBytes(static_cast<uint64_t>(bytes < 0 ? -bytes : bytes));
}

std::string FormatSeconds(uint64_t nanoseconds) {
  return FormatHundredths(static_cast<int64_t>(nanoseconds / 10'000'000)) + " s";
}

std::string FormatDuration(uint64_t nanoseconds) {
  constexpr uint64_t kMicrosecond = 1'000;
  constexpr uint64_t kMillisecond = 1'000'000;
  if (nanoseconds >= 100 * kMillisecond) return FormatSeconds(nanoseconds);
  const bool short_one = nanoseconds < kMillisecond / 10;
  const uint64_t tenths = nanoseconds / ((short_one ? kMicrosecond : kMillisecond) / 10);
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) +
         (short_one ? " us" : " ms");
}

std::string FormatCount(uint64_t count) {
  std::string text = std::to_string(count);
  for (size_t at = text.size(); at > 3;) {
    at -= 3;
    text.insert(at, ",");
  }
  return text;
}

int64_t SumOfBytes(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a < 0 ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
}

int64_t DifferenceOfBytes(int64_t a, int64_t b) {
  int64_t difference = 0;
  if (!__builtin_sub_overflow(a, b, &difference)) return difference;
  return a < 0 ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
}

TableUnit UnitFor(uint64_t largest) {
  // Below 4 GiB, hundredths of a GiB would be too coarse.
  if (largest < 4 * kGiB) return {"MiB", kMiB};
  return {"GiB", kGiB};
}

int64_t Hundredths(int64_t bytes, TableUnit unit) {
  const double exact = static_cast<double>(bytes) * 100 / static_cast<double>(unit.bytes);
  return std::llround(exact);
}

namespace {

// Bytes rounded down, and the loss in hundredths of a byte. No product overflows, because a damaged
// trace may contain any number.
struct RoundedDown {
  int64_t bytes = 0;
  int64_t hundredths = 0;
  int64_t loss = 0;
  int64_t rows = 1;  // that have these bytes
  bool is_raised = false;

  int64_t figure() const { return hundredths + (is_raised ? 1 : 0); }
};

RoundedDown InHundredths(int64_t bytes, int64_t unit) {
  int64_t whole = bytes / unit;
  int64_t rest = bytes % unit;
  if (rest < 0) {
    --whole;
    rest += unit;
  }
  return {.bytes = bytes, .hundredths = whole * 100 + rest * 100 / unit, .loss = rest * 100 % unit};
}

// Returns one entry for each amount, in the order in which it first occurs.
std::vector<RoundedDown> DistinctAmounts(const std::vector<int64_t>& bytes, TableUnit unit) {
  std::vector<RoundedDown> amounts;
  for (const int64_t value : bytes) {
    const auto known =
        std::find_if(amounts.begin(), amounts.end(),
                     [value](const RoundedDown& amount) { return amount.bytes == value; });
    if (known == amounts.end()) {
      amounts.push_back(InHundredths(value, static_cast<int64_t>(unit.bytes)));
    } else {
      ++known->rows;
    }
  }
  return amounts;
}

// Raises those that lost most, as long as all rows of an amount can be raised. If rows of equal
// amounts are then left, the largest of the others takes what is missing.
void RaiseByLoss(std::vector<RoundedDown>& amounts, int64_t missing) {
  std::stable_sort(amounts.begin(), amounts.end(),
                   [](const RoundedDown& a, const RoundedDown& b) { return a.loss > b.loss; });
  for (RoundedDown& amount : amounts) {
    amount.is_raised = amount.loss > 0 && amount.rows <= missing;
    if (amount.is_raised) missing -= amount.rows;
  }
  const bool some_are_left =
      std::any_of(amounts.begin(), amounts.end(),
                  [](const RoundedDown& amount) { return amount.loss > 0 && !amount.is_raised; });
  if (!some_are_left) return;
  std::stable_sort(amounts.begin(), amounts.end(),
                   [](const RoundedDown& a, const RoundedDown& b) { return a.bytes > b.bytes; });
  for (RoundedDown& amount : amounts) {
    if (missing <= 0 || amount.bytes <= 0) return;
    if (amount.is_raised || amount.rows > missing) continue;
    amount.is_raised = true;
    missing -= amount.rows;
  }
}

}  // namespace

std::vector<int64_t> AdditiveHundredths(const std::vector<int64_t>& bytes, int64_t total,
                                        TableUnit unit) {
  std::vector<RoundedDown> amounts = DistinctAmounts(bytes, unit);
  int64_t missing = total;
  for (const RoundedDown& amount : amounts) missing -= amount.hundredths * amount.rows;
  RaiseByLoss(amounts, missing);
  std::vector<int64_t> hundredths;
  hundredths.reserve(bytes.size());
  for (const int64_t value : bytes) {
    const auto amount =
        std::find_if(amounts.begin(), amounts.end(),
                     [value](const RoundedDown& each) { return each.bytes == value; });
    hundredths.push_back(amount->figure());
  }
  return hundredths;
}

std::string FormatHundredths(int64_t hundredths) {
  const int64_t size = hundredths < 0 ? -hundredths : hundredths;
  const std::string fraction = std::to_string(size % 100);
  return (hundredths < 0 ? "-" : "") + std::to_string(size / 100) + "." +
         (fraction.size() < 2 ? "0" : "") + fraction;
}

std::string FormatFigure(uint64_t bytes, TableUnit unit) {
  return FormatHundredths(Hundredths(static_cast<int64_t>(bytes), unit));
}

std::string FormatRest(uint64_t rows, uint64_t bytes) {
  return Message("$0 more, $1", FormatCount(rows), FormatBytes(bytes));
}

}  // namespace memtrace::report
