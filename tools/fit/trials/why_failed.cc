// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/trials/why_failed.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "messages/message.h"

namespace memtrace::fit {
namespace {

constexpr absl::string_view kTraceback = "Traceback (most recent call last):";
constexpr absl::string_view kFile = "  File \"";

// The place and the error in a traceback.
struct Traceback {
  std::string line;   // the innermost of the user's own: "train.py:12"
  std::string error;  // "FileNotFoundError: [Errno 2] ..."
};

// Returns "name:N" for a line `  File "PATH", line N, in f`, or faulthandler's without the second
// comma; empty for libraries and Python's own files.
std::string PlaceOf(absl::string_view line) {
  if (!absl::ConsumePrefix(&line, kFile)) return "";
  const size_t quote = line.find("\", line ");
  if (quote == absl::string_view::npos) return "";
  const std::string path(line.substr(0, quote));
  const absl::string_view rest = line.substr(quote + 8);
  const bool is_library = absl::StrContains(path, "site-packages") ||
                          absl::StrContains(path, "/lib/python") || absl::StartsWith(path, "<");
  if (is_library) return "";
  return std::filesystem::path(path).filename().string() + ":" +
         std::string(rest.substr(0, rest.find_first_not_of("0123456789")));
}

// Returns the lines of the rank whose traceback comes first, without the "[rank0]: " that torch
// puts before each; the log as it is if no traceback has that.
std::string OfFirstRank(absl::string_view log) {
  absl::string_view prefix;
  std::string lines;
  for (absl::string_view line : absl::StrSplit(log, '\n')) {
    const size_t begin = line.find(kTraceback);
    if (prefix.empty() && begin != absl::string_view::npos && absl::StartsWith(line, "[rank"))
      prefix = line.substr(0, begin);
    if (!prefix.empty() && absl::ConsumePrefix(&line, prefix)) absl::StrAppend(&lines, line, "\n");
  }
  return prefix.empty() ? std::string(log) : lines;
}

Traceback LastTraceback(absl::string_view log) {
  Traceback last;
  bool is_inside = false;
  for (const absl::string_view line : absl::StrSplit(log, '\n')) {
    if (absl::StrContains(line, kTraceback)) {
      is_inside = true;
      last = {};
    } else if (std::string place = PlaceOf(line); !place.empty()) {
      last.line = std::move(place);
      is_inside = true;  // the log may begin within a traceback
    } else if (is_inside && !line.empty() && line.front() != ' ') {
      last.error = std::string(line);
      is_inside = false;
    }
  }
  return last;
}

bool HasAny(const std::string& text, std::initializer_list<absl::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [&text](absl::string_view word) { return absl::StrContains(text, word); });
}

// Returns a sentence about the external cause of the error; empty if the program itself is the
// cause.
std::string ExternalCause(const std::string& where, const std::string& error) {
  if (absl::StrContains(error, "EOF when reading a line"))
    return Message("$0 asks the user for input, and nobody is there ($1)", where, error);
  if (HasAny(error, {"ConnectionError", "ConnectTimeout", "LocalEntryNotFound", "OfflineMode",
                     "gaierror", "URLError", "MaxRetryError", "HfHubHTTPError", "ConnectError",
                     "connect to 'https", "couldn't connect", "Temporary failure in name"}))
    return Message("$0 needs the network or a hub ($1)", where, error);
  if (absl::StartsWith(error, "FileNotFoundError"))
    return Message("$0 needs a file that does not exist ($1)", where, error);
  return "";
}

}  // namespace

// Reads the traceback that faulthandler prints shortly before a trial is ended, innermost first.
std::string PlaceAtEnd(std::string_view text) {
  constexpr absl::string_view kBegin = "(most recent call first):";
  const absl::string_view log(text.data(), text.size());
  bool is_inside = false;
  std::string of_last_thread;  // the last thread is the main one
  for (const absl::string_view line : absl::StrSplit(log, '\n')) {
    if (absl::EndsWith(line, kBegin)) {
      is_inside = true;
      of_last_thread.clear();
    } else if (is_inside && of_last_thread.empty()) {
      of_last_thread = PlaceOf(line);
    }
  }
  return of_last_thread;
}

std::string LastMemtraceSentence(std::string_view text) {
  const absl::string_view log(text.data(), text.size());
  const std::vector<absl::string_view> lines = absl::StrSplit(log, '\n', absl::SkipEmpty());
  if (lines.empty()) return "";
  absl::string_view last = lines.back();
  return absl::ConsumePrefix(&last, "memtrace: ") ? std::string(last) : "";
}

std::string WhyFailed(std::string_view log, bool has_stub) {
  if (std::string said = LastMemtraceSentence(log); !said.empty()) return said;
  const Traceback traceback = LastTraceback(OfFirstRank({log.data(), log.size()}));
  if (traceback.error.empty()) return "";
  const std::string where = traceback.line.empty() ? Message("the program") : traceback.line;
  std::string cause = ExternalCause(where, traceback.error);
  if (cause.empty()) return Message("$0 raises $1", where, traceback.error);
  if (has_stub) return cause;
  return Message("$0; write a replacement for it into a Python file, and name that with --stub",
                 cause);
}

}  // namespace memtrace::fit
