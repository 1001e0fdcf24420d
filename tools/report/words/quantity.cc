// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/words/quantity.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numeric>

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

// A number rounded down, and the loss in hundredths of a byte. No product overflows, because a
// damaged trace may contain any number.
struct RoundedDown {
  int64_t hundredths;
  int64_t loss;
};

RoundedDown RoundDown(int64_t bytes, int64_t unit) {
  int64_t whole = bytes / unit;
  int64_t rest = bytes % unit;
  if (rest < 0) {
    --whole;
    rest += unit;
  }
  return {.hundredths = whole * 100 + rest * 100 / unit, .loss = rest * 100 % unit};
}

}  // namespace

std::vector<int64_t> AdditiveHundredths(const std::vector<int64_t>& bytes, int64_t total,
                                        TableUnit unit) {
  std::vector<int64_t> hundredths;
  std::vector<int64_t> losses;
  for (int64_t value : bytes) {
    const RoundedDown rounded = RoundDown(value, static_cast<int64_t>(unit.bytes));
    hundredths.push_back(rounded.hundredths);
    losses.push_back(rounded.loss);
  }
  std::vector<size_t> by_loss(bytes.size());
  std::iota(by_loss.begin(), by_loss.end(), size_t{0});
  std::stable_sort(by_loss.begin(), by_loss.end(),
                   [&](size_t a, size_t b) { return losses[a] > losses[b]; });
  const int64_t sum = std::accumulate(hundredths.begin(), hundredths.end(), int64_t{0});
  int64_t missing = total - sum;
  for (size_t i : by_loss) {
    if (missing <= 0 || losses[i] == 0) break;
    ++hundredths[i];
    --missing;
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
