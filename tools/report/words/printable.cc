// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/words/printable.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <optional>

#include "base/environment.h"
#include "profiler/trace/events/printable_text.h"
#include "utf8proc.h"

namespace memtrace::report {
namespace {

// Returns 0 if the width is not known.
size_t TerminalColumns() {
  if (const char* columns = env::Pointer(env::kColumns)) {
    return static_cast<size_t>(std::strtoul(columns, nullptr, 10));
  }
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

struct Character {
  size_t bytes = 1;
  size_t columns = 1;
};

// A byte that is not UTF-8 counts as a character of its own.
Character CharacterAt(std::string_view text, size_t at) {
  const bool is_ascii = static_cast<uint8_t>(text[at]) < 0x80;
  const auto point = is_ascii ? std::nullopt : trace::DecodeUtf8(text, at);
  if (!point) return {};
  const int columns = utf8proc_charwidth(static_cast<utf8proc_int32_t>(point->value));
  return {.bytes = point->bytes, .columns = static_cast<size_t>(std::max(columns, 0))};
}

}  // namespace

size_t Columns() {
  static const size_t kTerminal = TerminalColumns();
  return kTerminal == 0 ? kColumns : std::clamp(kTerminal, kLeastColumns, kColumns);
}

std::string Printable(std::string_view text) { return trace::PrintableText(text); }

std::string Capitalized(std::string text) {
  if (!text.empty() && text.front() >= 'a' && text.front() <= 'z')
    text.front() = static_cast<char>(text.front() - 'a' + 'A');
  return text;
}

size_t Width(std::string_view text) {
  size_t columns = 0;
  for (size_t at = 0; at < text.size();) {
    const Character character = CharacterAt(text, at);
    at += character.bytes;
    columns += character.columns;
  }
  return columns;
}

std::string Shortened(std::string_view text, size_t width) {
  if (Width(text) <= width) return std::string(text);
  size_t end = 0;
  for (size_t columns = 0; end < text.size();) {
    const Character character = CharacterAt(text, end);
    columns += character.columns;
    if (columns + 1 > width) break;
    end += character.bytes;
  }
  return std::string(text.substr(0, end)) + "…";
}

std::string ShortenedFront(std::string_view text, size_t width) {
  size_t columns = Width(text);
  if (columns <= width) return std::string(text);
  while (columns + 1 > width && !text.empty()) {
    const Character character = CharacterAt(text, 0);
    text.remove_prefix(character.bytes);
    columns -= character.columns;
  }
  return "…" + std::string(text);
}

std::string LeftAligned(std::string_view text, size_t width) {
  const std::string cut = Shortened(text, width);
  return cut + std::string(width - Width(cut), ' ');
}

std::string RightAligned(std::string_view text, size_t width) {
  const size_t used = Width(text);
  return std::string(width > used ? width - used : 0, ' ') + std::string(text);
}

std::string Wrapped(std::string_view text, size_t indent) {
  const size_t leading = std::min(text.find_first_not_of(' '), text.size());
  std::string wrapped(leading, ' ');
  size_t column = leading;
  text.remove_prefix(leading);
  while (!text.empty()) {
    const size_t blank = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, blank);
    text.remove_prefix(std::min(blank + 1, text.size()));
    if (column > indent && column + 1 + Width(word) > Columns()) {
      wrapped += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > leading) {
      wrapped += ' ';
      ++column;
    }
    wrapped += word;
    column += Width(word);
  }
  return wrapped + "\n";
}

std::string JoinedByDots(const std::vector<std::string>& parts) {
  std::string joined;
  size_t column = 0;
  for (const std::string& part : parts) {
    if (part.empty()) continue;
    if (column > 0 && column + 3 + Width(part) > Columns()) {
      joined += '\n';
      column = 0;
    } else if (column > 0) {
      joined += " · ";
      column += 3;
    }
    if (Width(part) > Columns()) {  // begins a line of its own
      const std::string lines = Wrapped(part, 0);
      joined += lines.substr(0, lines.size() - 1);
      column = Columns();
      continue;
    }
    joined += part;
    column += Width(part);
  }
  return joined + "\n";
}

std::string Bar(double columns) {
  constexpr std::array<std::string_view, 8> kEighths = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto eighths = static_cast<size_t>(std::lround(std::max(columns, 0.0) * 8));
  std::string bar;
  for (size_t i = 0; i < eighths / 8; ++i) bar += "█";
  return bar + std::string(kEighths[eighths % 8]);
}

}  // namespace memtrace::report
