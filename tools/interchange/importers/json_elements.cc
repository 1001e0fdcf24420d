// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/interchange/importers/json_elements.h"

namespace memtrace::interchange {

char JsonElements::Peek() {
  at_ = text_.find_first_not_of(" \t\r\n", at_);
  if (at_ == std::string_view::npos) at_ = text_.size();
  return at_ < text_.size() ? text_[at_] : '\0';
}

bool JsonElements::Take(char c) {
  if (Peek() != c || at_ == text_.size()) return false;
  ++at_;
  return true;
}

bool JsonElements::SkipString() {
  ++at_;
  while (at_ < text_.size()) {
    at_ = text_.find_first_of("\"\\", at_);
    if (at_ == std::string_view::npos) break;
    if (text_[at_] == '"') {
      ++at_;
      return true;
    }
    at_ += 2;  // a backslash and what it escapes
  }
  at_ = text_.size();
  return false;
}

std::optional<std::string_view> JsonElements::Value() {
  const char first = Peek();
  const size_t begin = at_;
  if (first == '"') {
    if (!SkipString()) return std::nullopt;
    return text_.substr(begin, at_ - begin);
  }
  if (first != '{' && first != '[') {
    at_ = text_.find_first_of(",]} \t\r\n", at_);
    if (at_ == std::string_view::npos) at_ = text_.size();
    if (at_ == begin || at_ == text_.size()) return std::nullopt;
    return text_.substr(begin, at_ - begin);
  }
  size_t depth = 0;
  while (at_ < text_.size()) {
    at_ = text_.find_first_of("\"{}[]", at_);
    if (at_ == std::string_view::npos) break;
    const char c = text_[at_];
    if (c == '"') {
      if (!SkipString()) return std::nullopt;
      continue;
    }
    ++at_;
    depth += c == '{' || c == '[' ? 1 : 0;
    depth -= c == '}' || c == ']' ? 1 : 0;
    if (depth == 0) return text_.substr(begin, at_ - begin);
  }
  at_ = text_.size();
  return std::nullopt;
}

}  // namespace memtrace::interchange
