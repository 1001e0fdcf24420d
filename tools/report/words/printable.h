// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_WORDS_PRINTABLE_H_
#define MEMTRACE_TOOLS_REPORT_WORDS_PRINTABLE_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace memtrace::report {

// Columns of a text report: those of the terminal (COLUMNS, where it is set), but from 80 to 100;
// 100 if the output is no terminal.
inline constexpr size_t kColumns = 100;
inline constexpr size_t kLeastColumns = 80;
size_t Columns();

// Text from a trace, made safe for a terminal: control characters, bytes that are no UTF-8 and
// characters that turn the direction of writing are shown as \x1b or \u202e.
std::string Printable(std::string_view text);

// With a capital letter at the beginning, if that is one of English.
std::string Capitalized(std::string text);

// Columns that printable text takes in a terminal, one character at a time: two for what Unicode
// calls wide (Chinese, Japanese, Korean, most emoji), none for an accent that joins the letter
// before it. What a terminal joins to one picture counts as its parts.
size_t Width(std::string_view text);

// Cuts to at most `width` columns, with an ellipsis, and fills up with blanks.
std::string LeftAligned(std::string_view text, size_t width);
std::string RightAligned(std::string_view text, size_t width);
std::string Shortened(std::string_view text, size_t width);
// Cuts the beginning instead: of a path the end tells more.
std::string ShortenedFront(std::string_view text, size_t width);

// Words into lines of at most Columns(), lines after the first begin with `indent` blanks.
std::string Wrapped(std::string_view text, size_t indent);

// Parts joined by " · ", broken before a part that would not fit.
std::string JoinedByDots(const std::vector<std::string>& parts);

// A bar of eighths of a column: "███▌".
std::string Bar(double columns);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_WORDS_PRINTABLE_H_
