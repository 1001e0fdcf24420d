// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/recorded_text/secrets.h"

#include <algorithm>
#include <array>

namespace memtrace {
namespace {

constexpr std::string_view kHidden = "***";

// A name is secret if it ends with one of these: hf_token, apiKey, WANDB_API_KEY, mypassword.
constexpr std::array<std::string_view, 13> kSecretEnds = {
    "token",      "key",        "secret",      "secrets", "password", "passwords",    "passwd",
    "passphrase", "credential", "credentials", "bearer",  "pwd",      "authorization"};
// The plurals of "token" and "key" count things unless one of these words precedes them.
constexpr std::array<std::string_view, 7> kSecretKinds = {"api",    "auth",    "access", "secret",
                                                          "bearer", "private", "hf"};

// The prefixes of well-known services' tokens, and the minimum length of such a token.
constexpr std::array<std::string_view, 8> kTokenBeginnings = {
    "hf_", "sk-", "ghp_", "gho_", "github_pat_", "glpat-", "xoxb-", "AKIA"};
constexpr size_t kLeastToken = 20;

bool IsNamePart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.';
}

std::string Lowered(std::string_view text) {
  std::string lowered(text);
  for (char& c : lowered) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lowered;
}

bool EndsWithAny(std::string_view text, const auto& ends) {
  return std::any_of(ends.begin(), ends.end(),
                     [text](std::string_view end) { return text.ends_with(end); });
}

// Scans the text of a JSON array; within a word, a quote is \" and a line break is \n.
class Redaction {
 public:
  explicit Redaction(std::string_view text) : text_(text) {}

  std::string Run() {
    while (at_ < text_.size()) Step();
    return std::move(out_);
  }

 private:
  // Returns one character as JSON writes it: \n, \", or itself.
  std::string_view UnitAt(size_t at) const {
    return text_.substr(at, at < text_.size() && text_[at] == '\\' ? 2 : 1);
  }
  bool IsWordEnd(size_t at) const { return at >= text_.size() || text_[at] == '"'; }
  bool IsBlank(size_t at) const {
    const std::string_view unit = UnitAt(at);
    return unit == " " || unit == "\\n" || unit == "\\t" || unit == "\\r";
  }
  bool IsQuote(size_t at) const {
    const std::string_view unit = UnitAt(at);
    return unit == "'" || unit == "\\\"";
  }
  bool Begins(std::string_view what) const { return text_.substr(at_, what.size()) == what; }

  size_t SkipBlanks(size_t at) const {
    while (!IsWordEnd(at) && IsBlank(at)) at += UnitAt(at).size();
    return at;
  }

  void Copy(size_t end) {
    out_ += text_.substr(at_, end - at_);
    at_ = end;
  }

  void Step() {
    if (Begins("://")) return CopyUrlHost();
    if (IsWordEnd(at_) || IsBlank(at_)) is_url_ = false;
    if (!IsNamePart(text_[at_])) return Copy(std::min(at_ + UnitAt(at_).size(), text_.size()));
    size_t end = at_;
    while (end < text_.size() && IsNamePart(text_[end])) ++end;
    const std::string_view name = text_.substr(at_, end - at_);
    if (IsKnownToken(name)) return Hide(end);
    Copy(end);
    if (IsSecretName(name)) HideValueOf(name);
  }

  static bool IsKnownToken(std::string_view word) {
    return word.size() >= kLeastToken &&
           std::any_of(kTokenBeginnings.begin(), kTokenBeginnings.end(),
                       [word](std::string_view begin) { return word.starts_with(begin); });
  }

  // Hides the value after a name: after = or :, or, if the name is an option, after a blank or in
  // the next word.
  void HideValueOf(std::string_view name) {
    size_t at = at_;
    if (!IsWordEnd(at) && IsQuote(at)) at += UnitAt(at).size();  // the name of a JSON field
    const size_t begin = at;
    at = SkipBlanks(at);
    if (!IsWordEnd(at) && (text_[at] == '=' || text_[at] == ':')) {
      const bool is_field = text_[at] == ':';
      ++at;
      Copy(is_field || begin + 1 < at ? SkipBlanks(at) : at);
      return HideValue(is_field ? ",;})]" : is_url_ ? "&#" : "");
    }
    const bool takes_next_word = name.front() == '-' || Lowered(name) == "bearer";
    if (!takes_next_word) return;
    if (IsWordEnd(at)) return HideNextWord(at);
    if (IsBlank(at_)) {
      Copy(at);
      HideValue("");
    }
  }

  // Hides the text up to its closing quote, or to a blank or one of `ends`.
  void HideValue(std::string_view ends) {
    if (IsWordEnd(at_)) return;
    const bool is_quoted = IsQuote(at_);
    const std::string_view quote = UnitAt(at_);
    if (is_quoted) Copy(at_ + quote.size());
    size_t end = at_;
    while (!IsWordEnd(end)) {
      const std::string_view unit = UnitAt(end);
      const bool is_end = is_quoted
                              ? unit == quote
                              : EndsValue(end, ends) && !IsScheme(text_.substr(at_, end - at_));
      if (is_end) break;
      end += unit.size();
    }
    Hide(end);
  }

  bool EndsValue(size_t at, std::string_view ends) const {
    const std::string_view unit = UnitAt(at);
    return IsBlank(at) || unit == "\\\"" || ends.find(unit) != std::string_view::npos;
  }

  // True if a second word follows as part of the value, as in "Authorization: Bearer V".
  static bool IsScheme(std::string_view word) {
    const std::string lowered = Lowered(word);
    return lowered == "bearer" || lowered == "basic" || lowered == "token";
  }

  // `at` is the quote that ends the option's own word.
  void HideNextWord(size_t at) {
    size_t begin = at + 1;
    while (begin < text_.size() && (text_[begin] == ',' || text_[begin] == ' ')) ++begin;
    if (begin >= text_.size() || text_[begin] != '"' || text_.substr(begin + 1, 1) == "-") return;
    Copy(begin + 1);
    size_t end = at_;
    while (!IsWordEnd(end)) end += UnitAt(end).size();
    Hide(end);
  }

  // Copies from :// to the host and hides "user:password@"; on a site also "token@".
  void CopyUrlHost() {
    is_url_ = true;
    const bool is_site = out_.ends_with("http") || out_.ends_with("https");
    Copy(at_ + 3);
    size_t end = at_;
    size_t colon = std::string_view::npos;
    while (!IsWordEnd(end) && !IsBlank(end) && text_[end] != '/' && text_[end] != '@') {
      if (text_[end] == ':' && colon == std::string_view::npos) colon = end;
      end += UnitAt(end).size();
    }
    if (IsWordEnd(end) || text_[end] != '@') return;
    if (colon != std::string_view::npos) {
      Copy(colon + 1);
      Hide(end);
    } else if (is_site) {
      Hide(end);
    }
  }

  void Hide(size_t end) {
    end = std::min(end, text_.size());
    if (end > at_) out_ += kHidden;
    at_ = end;
  }

  std::string_view text_;
  std::string out_;
  size_t at_ = 0;
  bool is_url_ = false;
};

}  // namespace

bool IsSecretName(std::string_view name) {
  std::string lowered = Lowered(name);
  if (EndsWithAny(lowered, kSecretEnds)) return true;
  if (!lowered.ends_with("keys") && !lowered.ends_with("tokens")) return false;
  lowered.resize(lowered.rfind(lowered.ends_with("keys") ? "keys" : "tokens"));
  while (lowered.ends_with('_') || lowered.ends_with('-')) lowered.pop_back();
  return EndsWithAny(lowered, kSecretKinds);
}

std::string WithoutSecrets(std::string_view command) { return Redaction(command).Run(); }

}  // namespace memtrace
