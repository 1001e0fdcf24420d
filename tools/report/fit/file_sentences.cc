// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/fit/file_sentences.h"

#include <algorithm>

#include "tools/report/words/printable.h"
#include "tools/report/words/quantity.h"

namespace memtrace::report {
namespace {

// Returns ": a, b …" for `count` names, of which `names` are the first.
std::string NamesText(const std::vector<std::string>& names, uint64_t count) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? ": " : ", ") + Printable(name);
  return text + (names.size() < count ? " …" : "");
}

// Returns "Kept away from your folders: 6 checkpoints, which were not written, and 2 files, ...:
// a.pt, ..."
std::string KeptAwayText(const fit::KeptAway& kept) {
  if (kept.is_nothing()) return "";
  std::string text = "Kept away from your folders: ";
  if (kept.saves > 0) text += FormatCounted(kept.saves, "checkpoint") + ", not written";
  if (kept.saves > 0 && kept.files > 0) text += ", and ";
  if (kept.files > 0) text += FormatCounted(kept.files, "file") + " written, moved or deleted";
  return text + NamesText(kept.first, kept.saves + kept.files) + ".";
}

std::string KeepingText(const fit::FileKeeping& keeping) {
  if (keeping.layer_bytes > 0) {
    return "Each run wrote into a layer of its own over all file systems, in memory (at most " +
           FormatBytes(keeping.layer_bytes) +
           "): your files cannot be reached from it, but for caches that the runs share.";
  }
  return "The runs had no layer over the file systems (" + Printable(keeping.why_no_layer) +
         "): what Python writes was kept away, but not what C libraries and other programs write.";
}

std::string ProgramsText(const fit::KeptAway& kept) {
  if (kept.programs == 0) return "";
  return "It started " + FormatCounted(kept.programs, "program") +
         " that are not Python, in each of the runs; what these wrote was not kept away" +
         NamesText(kept.first_programs, kept.first_programs.size()) + ".";
}

// Returns the comparison of the user's files, for runs that have no layer.
std::string ComparedText(const fit::Answer& answer) {
  if (answer.keeping.layer_bytes > 0) return "";
  std::string text = ChangedFilesText(answer.changes);
  if (!answer.changes.saw_all) {
    return text + (text.empty() ? "" : " ") + "Only the first " + FormatCount(answer.changes.most) +
           " files of the working folder and of those that the command names were compared.";
  }
  return text.empty() ? "No file of the working folder and of those that the command names has "
                        "changed meanwhile."
                      : text;
}

}  // namespace

std::string ChangedFilesText(const fit::FolderChanges& changes) {
  constexpr size_t kMostNames = 100;
  if (changes.names.empty()) return "";
  const auto end = changes.names.begin() +
                   static_cast<std::ptrdiff_t>(std::min(changes.names.size(), kMostNames));
  return "CHANGED IN YOUR FOLDERS while it ran, by the program if by nobody else: " +
         FormatCounted(changes.names.size(), "file") +
         NamesText({changes.names.begin(), end}, changes.names.size()) + ".";
}

std::vector<std::string> FileTexts(const fit::Answer& answer) {
  const fit::KeptAway& kept = answer.unlimited.kept_away;
  return {KeptAwayText(kept), KeepingText(answer.keeping), ProgramsText(kept),
          ComparedText(answer)};
}

}  // namespace memtrace::report
