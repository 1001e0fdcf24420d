// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_WORDS_PRINTABLE_H_
#define MEMTRACE_TOOLS_REPORT_WORDS_PRINTABLE_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace memtrace::report {

// The columns of a text report: the terminal's (COLUMNS, if it is set), within 80 to 100; 100 if
// the output is not a terminal.
inline constexpr size_t kColumns = 100;
inline constexpr size_t kLeastColumns = 80;
size_t Columns();

// Makes text from a trace safe for a terminal: control characters, bytes that are not UTF-8 and
// characters that change the direction of writing are shown as \x1b or \u202e.
std::string Printable(std::string_view text);

// Returns the text with its first letter as a capital, if it is an English one.
std::string Capitalized(std::string text);

// Returns the columns that printable text takes in a terminal, one character at a time: two for
// those that Unicode calls wide (Chinese, Japanese, Korean, most emoji), none for an accent that
// joins the letter before it. A picture joined from several characters counts as its parts.
size_t Width(std::string_view text);

// Cut to at most `width` columns, with an ellipsis; the aligned ones fill up with blanks.
std::string LeftAligned(std::string_view text, size_t width);
std::string RightAligned(std::string_view text, size_t width);
std::string Shortened(std::string_view text, size_t width);
// Cuts the beginning instead, because the end of a path says more.
std::string ShortenedFront(std::string_view text, size_t width);

// Wraps words into lines of at most Columns(), Chinese between its characters; lines after the
// first begin with `indent` blanks.
std::string Wrapped(std::string_view text, size_t indent);

// Joins parts by " · " and breaks before a part that would not fit.
std::string JoinedByDots(const std::vector<std::string>& parts);

// Returns a bar of eighths of a column: "███▌".
std::string Bar(double columns);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_WORDS_PRINTABLE_H_
