// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_MESSAGES_CATALOGUE_H_
#define MEMTRACE_MESSAGES_CATALOGUE_H_

#include <span>
#include <string_view>

// The translations, which make_catalogue.py compiles from the .po files. Only message.cc reads
// them.
namespace memtrace::messages {

struct Translation {
  std::string_view english;  // of a counted message: the text for one
  std::string_view text;
  bool is_for_page = false;  // used by the script of the page
};

// Simplified Chinese, sorted by the English text.
extern const std::span<const Translation> kChinese;

}  // namespace memtrace::messages

#endif  // MEMTRACE_MESSAGES_CATALOGUE_H_
