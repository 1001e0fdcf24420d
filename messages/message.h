// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_MESSAGES_MESSAGE_H_
#define MEMTRACE_MESSAGES_MESSAGE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/strings/substitute.h"

// Sentences that people read. Each is written in English where it is printed, as one whole literal
// with $0 to $9 for what varies, so that a translation can put the parts into another order.
// xgettext collects them by the names of these functions; docs/design/messages.md says how a
// sentence is added. All functions may be called from any thread.
namespace memtrace {
namespace messages {

// Converts what absl::Substitute does not take; everything else is passed on.
inline absl::string_view Argument(std::string_view text) { return {text.data(), text.size()}; }
inline const std::string& Argument(const std::string& text) { return text; }
inline absl::string_view Argument(const char* text) { return text; }
template <typename Number>
requires std::is_arithmetic_v<Number> Number Argument(Number number) { return number; }

// Returns the text in the language in use, or the English one if it has no translation.
std::string_view Translated(std::string_view english);
std::string_view TranslatedCount(uint64_t count, std::string_view one, std::string_view many);

// Returns the English texts that the page's script prints and their translations; none if the
// language in use is English.
std::vector<std::pair<std::string_view, std::string_view>> PageTranslations();

}  // namespace messages

// Returns the sentence in the language in use. Arguments are texts and numbers; text from a trace
// must be Printable().
template <typename... Arguments>
std::string Message(std::string_view english, const Arguments&... arguments) {
  return absl::Substitute(messages::Argument(messages::Translated(english)),
                          messages::Argument(arguments)...);
}

// The same for a sentence with a count, such as "1 step" and "$0 steps": `one` is used for 1. The
// count is no argument by itself.
template <typename... Arguments>
std::string CountedMessage(uint64_t count, std::string_view one, std::string_view many,
                           const Arguments&... arguments) {
  return absl::Substitute(messages::Argument(messages::TranslatedCount(count, one, many)),
                          messages::Argument(arguments)...);
}

// Marks a literal in a table for xgettext. MessageOf() translates it where it is printed.
constexpr std::string_view Marked(std::string_view english) { return english; }

// Returns a text that stands in a table, marked there.
inline std::string MessageOf(std::string_view marked) {
  return std::string(messages::Translated(marked));
}

// Joins sentences, of which empty ones are left out, as the language in use does: English has a
// blank between two, Chinese has none.
std::string JoinedSentences(const std::vector<std::string>& sentences);

}  // namespace memtrace

#endif  // MEMTRACE_MESSAGES_MESSAGE_H_
