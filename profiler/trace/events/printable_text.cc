// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/trace/events/printable_text.h"

#include <array>
#include <cstdio>

namespace memtrace::trace {
namespace {

uint8_t Byte(std::string_view text, size_t at) { return static_cast<uint8_t>(text[at]); }

size_t SequenceLength(uint8_t first) {
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first < 0xe0) return 2;
  if (first >= 0xe0 && first < 0xf0) return 3;
  if (first >= 0xf0 && first < 0xf5) return 4;
  return 0;
}

bool IsControl(uint32_t value) { return value < 0x20 || (value >= 0x7f && value < 0xa0); }

// True for marks, embeddings, overrides and isolates of direction, line and paragraph separators,
// the zero-width and the byte-order mark: they change how the text around them is displayed.
bool ChangesDisplay(uint32_t value) {
  return (value >= 0x200b && value <= 0x200f) || (value >= 0x2028 && value <= 0x202e) ||
         (value >= 0x2066 && value <= 0x2069) || value == 0x061c || value == 0xfeff;
}

std::string Escape(const char* format, uint32_t value) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

}  // namespace

std::optional<CodePoint> DecodeUtf8(std::string_view text, size_t at) {
  const size_t length = SequenceLength(Byte(text, at));
  if (length == 0 || at + length > text.size()) return std::nullopt;
  constexpr std::array<uint32_t, 5> kFirstBits = {0, 0x7f, 0x1f, 0x0f, 0x07};
  constexpr std::array<uint32_t, 5> kSmallest = {0, 0, 0x80, 0x800, 0x10000};
  uint32_t value = Byte(text, at) & kFirstBits[length];
  for (size_t i = 1; i < length; ++i) {
    if ((Byte(text, at + i) & 0xc0) != 0x80) return std::nullopt;
    value = value << 6 | (Byte(text, at + i) & 0x3f);
  }
  if (value < kSmallest[length] || value > 0x10ffff) return std::nullopt;
  if (value >= 0xd800 && value < 0xe000) return std::nullopt;
  return CodePoint{value, length};
}

std::string PrintableText(std::string_view text) {
  std::string printable;
  for (size_t at = 0; at < text.size();) {
    const auto point = DecodeUtf8(text, at);
    if (!point) {
      printable += Escape("\\x%02x", Byte(text, at));
      ++at;
      continue;
    }
    if (IsControl(point->value)) {
      printable += Escape("\\x%02x", point->value);
    } else if (ChangesDisplay(point->value)) {
      printable += Escape("\\u%04x", point->value);
    } else {
      printable += text.substr(at, point->bytes);
    }
    at += point->bytes;
  }
  return printable;
}

}  // namespace memtrace::trace
