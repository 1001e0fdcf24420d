// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_RECORDER_ACCOUNTS_JSON_WRITER_H_
#define MEMTRACE_PROFILER_RECORDER_ACCOUNTS_JSON_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace memtrace::recorder {

// Builds a JSON text: objects, arrays, integers and texts. It uses no library because it runs in
// someone else's process. It writes the commas; the caller must close what it opened.
class JsonWriter {
 public:
  void Begin(char bracket) { Put(bracket); }
  void Begin(std::string_view key, char bracket) {
    Key(key);
    Put(bracket);
  }
  void End(char bracket) {
    text_ += bracket;
    needs_comma_ = true;
  }
  void Number(std::string_view key, uint64_t value) {
    Key(key);
    Number(value);
  }
  void Number(uint64_t value) {
    Comma();
    text_ += std::to_string(value);
  }
  void Text(std::string_view key, std::string_view value) {
    Key(key);
    Text(value);
  }
  // Keeps bytes that are not ASCII, because they may be UTF-8. Cuts at `most` bytes, between
  // characters.
  void Text(std::string_view value, size_t most = 80) {
    if (value.size() > most) {
      while (most > 0 && (static_cast<uint8_t>(value[most]) & 0xc0) == 0x80) --most;
      value = value.substr(0, most);
    }
    Comma();
    text_ += '"';
    for (const char c : value) Escape(c);
    text_ += '"';
  }

  const std::string& text() const { return text_; }

 private:
  void Comma() {
    if (needs_comma_) text_ += ',';
    needs_comma_ = true;
  }
  void Put(char bracket) {
    Comma();
    text_ += bracket;
    needs_comma_ = false;
  }
  void Key(std::string_view key) {
    Comma();
    text_ += '"';
    text_ += key;
    text_ += "\":";
    needs_comma_ = false;
  }
  void Escape(char c) {
    const auto byte = static_cast<uint8_t>(c);
    if (c == '"' || c == '\\') text_ += '\\';
    if (byte >= 0x20 && byte != 0x7f) {
      text_ += c;
      return;
    }
    char code[8];
    std::snprintf(code, sizeof(code), "\\u%04x", byte);
    text_ += code;
  }

  std::string text_;
  bool needs_comma_ = false;
};

}  // namespace memtrace::recorder

#endif  // MEMTRACE_PROFILER_RECORDER_ACCOUNTS_JSON_WRITER_H_
