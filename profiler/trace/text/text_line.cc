// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/trace/text/text_line.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace memtrace::trace {
namespace {

constexpr std::array<std::pair<std::string_view, unsigned>, 3> kUnits = {
    {{"KiB", 10}, {"MiB", 20}, {"GiB", 30}}};

constexpr std::array<std::pair<char, std::string_view>, 3> kFrameEscapes = {
    {{'%', "%25"}, {';', "%3B"}, {'@', "%40"}}};

std::string EscapeFrame(std::string_view name) {
  std::string escaped;
  for (const char c : name) {
    const auto* escape = std::find_if(kFrameEscapes.begin(), kFrameEscapes.end(),
                                      [c](const auto& candidate) { return candidate.first == c; });
    escaped += escape == kFrameEscapes.end() ? std::string(1, c) : std::string(escape->second);
  }
  return escaped;
}

std::string UnescapeFrame(std::string_view text) {
  std::string name;
  while (!text.empty()) {
    const auto* escape =
        std::find_if(kFrameEscapes.begin(), kFrameEscapes.end(),
                     [&](const auto& candidate) { return text.starts_with(candidate.second); });
    const bool escaped = escape != kFrameEscapes.end();
    name += escaped ? escape->first : text.front();
    text.remove_prefix(escaped ? escape->second.size() : 1);
  }
  return name;
}

}  // namespace

TextLine::TextLine(std::string_view line) {
  while (true) {
    line.remove_prefix(std::min(line.find_first_not_of(" \t\r"), line.size()));
    if (line.empty() || line.front() == '#') return;
    std::string word = Token(line, " \t\r=");
    if (!line.empty() && line.front() == '=') {
      line.remove_prefix(1);
      values_[word] = Token(line, " \t\r");
    } else {
      words_.push_back(std::move(word));
    }
  }
}

// Returns the text up to one of `stops`, or the quoted text.
std::string TextLine::Token(std::string_view& rest, std::string_view stops) {
  if (!rest.starts_with('"')) {
    const size_t end = std::min(rest.find_first_of(stops), rest.size());
    std::string token(rest.substr(0, end));
    rest.remove_prefix(end);
    return token;
  }
  std::string token;
  size_t at = 1;
  for (; at < rest.size() && rest[at] != '"'; ++at) {
    const bool escaped = rest[at] == '\\' && at + 1 < rest.size();
    if (escaped) ++at;
    token += escaped && rest[at] == 'n' ? '\n' : rest[at];
  }
  if (at >= rest.size()) SetError("a quote is not closed");
  rest.remove_prefix(std::min(at + 1, rest.size()));
  return token;
}

std::string TextLine::Word(size_t index) {
  if (index < words_.size()) return words_[index];
  SetError("something is missing at the end");
  return {};
}

std::string TextLine::Text(std::string_view key) {
  asked_[std::string(key)] = true;
  const auto found = values_.find(key);
  return found == values_.end() ? std::string() : found->second;
}

uint64_t TextLine::Amount(std::string_view key, uint64_t otherwise) {
  const std::string text = Text(key);
  return Has(key) ? ParseAmount(text) : otherwise;
}

uint64_t TextLine::ParseAmount(std::string_view text) {
  const std::string_view whole = text;
  unsigned shift = 0;
  for (const auto& [unit, bits] : kUnits) {
    if (text.ends_with(unit)) {
      shift = bits;
      text.remove_suffix(unit.size());
    }
  }
  const bool is_hex = text.starts_with("0x");
  if (is_hex) text.remove_prefix(2);
  uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, is_hex ? 16 : 10);
  if (error != std::errc() || end != text.data() + text.size() ||
      value << shift >> shift != value) {
    SetError("'" + std::string(whole) + "' is not a number");
    return 0;
  }
  return value << shift;
}

std::vector<Frame> TextLine::Stack(std::string_view key) {
  const std::string text = Text(key);
  std::vector<Frame> frames;
  std::string_view rest = text;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(';'), rest.size());
    frames.push_back(ParseFrame(rest.substr(0, end)));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return frames;
}

Frame TextLine::ParseFrame(std::string_view text) {
  const size_t at = text.find('@');
  const size_t colon = text.rfind(':');
  if (at == std::string_view::npos || colon == std::string_view::npos || colon < at) {
    SetError("'" + std::string(text) + "' is not function@file:line");
    return {};
  }
  return {.file = UnescapeFrame(text.substr(at + 1, colon - at - 1)),
          .function = UnescapeFrame(text.substr(0, at)),
          .line = static_cast<uint32_t>(ParseAmount(text.substr(colon + 1)))};
}

void TextLine::SetError(const std::string& what) {
  if (error_.empty()) error_ = what;
}

std::string TextLine::error() const {
  if (!error_.empty()) return error_;
  for (const auto& [key, value] : values_) {
    if (!asked_.contains(key)) return "'" + key + "=' means nothing here";
  }
  return {};
}

std::string QuoteText(std::string_view value) {
  if (!value.empty() && value.find_first_of(" \t\r\n\"#=") == std::string_view::npos) {
    return std::string(value);
  }
  std::string quoted = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c == '\n' ? std::string("\\n") : std::string(1, c);
  }
  return quoted + '"';
}

std::string FormatStack(const std::vector<Frame>& frames) {
  std::string text;
  for (const Frame& frame : frames) {
    if (!text.empty()) text += ';';
    text += EscapeFrame(frame.function) + '@' + EscapeFrame(frame.file) + ':' +
            std::to_string(frame.line);
  }
  return text;
}

}  // namespace memtrace::trace
