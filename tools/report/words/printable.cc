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

// A part of a text that stays on one line.
struct Unbroken {
  std::string_view text;
  bool is_after_blank = false;
};

// Chinese has no blanks: a line may end after each of its characters, but not before a closing mark
// or behind an opening one.
bool MayBreakBetween(std::string_view before, std::string_view after, bool is_wide) {
  constexpr std::string_view kClosing = "，。：；！？、）】》”’";
  constexpr std::string_view kOpening = "（【《“‘";
  return is_wide && kClosing.find(after) == std::string_view::npos &&
         kOpening.find(before) == std::string_view::npos;
}

// Splits a word, which has no blanks, where a line may end.
void SplitWord(std::string_view word, bool is_after_blank, std::vector<Unbroken>& parts) {
  size_t begin = 0;
  Character last;
  for (size_t at = 0; at < word.size();) {
    const Character here = CharacterAt(word, at);
    const bool is_wide = here.columns > 1 || last.columns > 1;
    if (at > 0 && MayBreakBetween(word.substr(at - last.bytes, last.bytes),
                                  word.substr(at, here.bytes), is_wide)) {
      parts.push_back({word.substr(begin, at - begin), is_after_blank && begin == 0});
      begin = at;
    }
    last = here;
    at += here.bytes;
  }
  parts.push_back({word.substr(begin), is_after_blank && begin == 0});
}

// Returns the end of the first word. A number and its "%" are one.
size_t EndOfWord(std::string_view text) {
  const size_t end = std::min(text.find(' '), text.size());
  return text.substr(end).starts_with(" %") ? std::min(text.find(' ', end + 1), text.size()) : end;
}

std::vector<Unbroken> PartsOf(std::string_view text) {
  std::vector<Unbroken> parts;
  while (!text.empty()) {
    const size_t blank = EndOfWord(text);
    SplitWord(text.substr(0, blank), !parts.empty(), parts);
    text.remove_prefix(std::min(blank + 1, text.size()));
  }
  return parts;
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
  for (const Unbroken& part : PartsOf(text.substr(leading))) {
    const size_t blank = part.is_after_blank ? 1 : 0;
    const size_t width = Width(part.text);
    if (column > indent && column + blank + width > Columns()) {
      wrapped += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (blank > 0 && column > leading) {
      wrapped += ' ';
      ++column;
    }
    wrapped += part.text;
    column += width;
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
