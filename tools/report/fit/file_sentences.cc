// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/fit/file_sentences.h"

#include <algorithm>

#include "messages/message.h"
#include "tools/report/fit/verdict_sentences.h"
#include "tools/report/words/printable.h"
#include "tools/report/words/quantity.h"

namespace memtrace::report {
namespace {

// Returns a sentence with the names, of which there are `count` in all; "" if there are none.
std::string NamesText(const std::vector<std::string>& names, uint64_t count) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + Printable(name);
  if (list.empty()) return "";
  return names.size() < count ? Message("The first: $0.", list) : Message("Names: $0.", list);
}

std::string KeptAwayText(const fit::KeptAway& kept) {
  std::vector<std::string> sentences;
  if (kept.saves > 0)
    sentences.push_back(CountedMessage(
        kept.saves, "1 checkpoint was kept away from your folders: it was not written.",
        "$0 checkpoints were kept away from your folders: they were not written.",
        FormatCount(kept.saves)));
  if (kept.files > 0)
    sentences.push_back(CountedMessage(
        kept.files,
        "1 file that the program wrote, moved or deleted was kept away from your folders.",
        "$0 files that the program wrote, moved or deleted were kept away from your folders.",
        FormatCount(kept.files)));
  if (!kept.is_nothing()) sentences.push_back(NamesText(kept.first, kept.saves + kept.files));
  return JoinedSentences(sentences);
}

std::string ProgramsText(const fit::KeptAway& kept) {
  if (kept.programs == 0) return "";
  const std::string started = CountedMessage(
      kept.programs,
      "Each run started 1 program that is not Python. What it wrote was not kept away.",
      "Each run started $0 programs that are not Python. What they wrote was not kept away.",
      FormatCount(kept.programs));
  return JoinedSentences({started, NamesText(kept.first_programs, kept.first_programs.size())});
}

}  // namespace

std::string KeepingText(const fit::FileKeeping& keeping) {
  if (keeping.layer_bytes > 0) {
    return Message(
        "Each run wrote into its own layer over all file systems, in memory (at most $0). It could "
        "not reach your files, except caches that the runs share.",
        FormatBytes(keeping.layer_bytes));
  }
  return Message(
      "The runs had no layer over the file systems ($0). What Python writes was kept away from "
      "your files, but not what C libraries and other programs write.",
      Printable(keeping.why_no_layer));
}

std::string ChangedFilesText(const fit::FolderChanges& changes) {
  constexpr size_t kMostNames = 100;
  if (changes.names.empty()) return "";
  const auto end = changes.names.begin() +
                   static_cast<std::ptrdiff_t>(std::min(changes.names.size(), kMostNames));
  const size_t count = changes.names.size();
  return JoinedSentences(
      {CountedMessage(
           count,
           "1 FILE CHANGED IN YOUR FOLDERS while the program ran. If nobody else changed "
           "it, the program did.",
           "$0 FILES CHANGED IN YOUR FOLDERS while the program ran. If nobody else "
           "changed them, the program did.",
           FormatCount(count)),
       NamesText({changes.names.begin(), end}, count)});
}

std::string ComparedText(const fit::FileKeeping& keeping, const fit::FolderChanges& changes) {
  if (keeping.layer_bytes > 0) return "";
  const std::string changed = ChangedFilesText(changes);
  if (!changes.saw_all)
    return JoinedSentences(
        {changed, Message("Only the first $0 files of the working folder and of the folders that "
                          "the command names were compared.",
                          FormatCount(changes.most))});
  return changed.empty() ? Message(
                               "No file changed meanwhile in the working folder and in the "
                               "folders that the command names.")
                         : changed;
}

std::vector<std::string> FileTexts(const fit::Answer& answer) {
  const fit::KeptAway& kept = answer.unlimited.kept_away;
  return {KeptAwayText(kept), KeepingText(answer.keeping), ProgramsText(kept),
          ComparedText(answer.keeping, answer.changes)};
}

}  // namespace memtrace::report
