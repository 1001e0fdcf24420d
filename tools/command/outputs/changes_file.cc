// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command/outputs/changes_file.h"

#include <filesystem>
#include <string_view>
#include <system_error>

#include "absl/strings/str_split.h"
#include "messages/message.h"
#include "profiler/trace/vocabulary/facts.h"
#include "tools/analysis/source/annotation.h"
#include "tools/command/program/output_file.h"
#include "tools/command/program/program.h"
#include "tools/fit/answer/saved_changes.h"
#include "tools/report/words/printable.h"

namespace memtrace::command {
namespace {

namespace fact = trace::fact;

// Returns the patch, each line safe for a terminal; tabs stay, because they are the file's.
std::string PrintableLines(std::string_view text) {
  std::string lines;
  for (const auto line : absl::StrSplit(absl::string_view(text.data(), text.size()), '\n')) {
    for (const auto part : absl::StrSplit(line, '\t'))
      lines += report::Printable(std::string_view(part.data(), part.size())) + "\t";
    lines.back() = '\n';
  }
  if (!lines.empty()) lines.pop_back();
  return lines;
}

// Says why a change is not in the patch; "" if it is.
std::string WhyNotIn(const std::string& patch, const fit::Candidate& change,
                     const analysis::Annotations& annotations) {
  const std::string name = report::Printable(MessageOf(change.name));
  if (change.hook.empty()) return Message("$0: $1", name, MessageOf(change.change));
  const std::string hook = change.hook.substr(0, change.hook.find('='));
  const std::string why = analysis::AnnotatedText(annotations, fact::kFitNoPatch.Of(hook));
  if (!why.empty()) return Message("$0: $1", name, report::Printable(why));
  return patch.empty() ? Message("$0: it is not one line of your files", name) : "";
}

}  // namespace

absl::Status ChangesFile::Check() const {
  if (path.empty()) return absl::OkStatus();
  std::error_code error;
  if (!overwrite && std::filesystem::is_regular_file(path, error))
    return absl::InvalidArgumentError(Message("$0 exists already; -f overwrites it", path));
  return OutputFile(path).Check(/*overwrite=*/true);
}

absl::Status ChangesFile::Save(const fit::Question& question, const fit::Answer& answer) const {
  if (path.empty()) return absl::OkStatus();
  if (!answer.recommended) {
    Note(
        answer.has_within && answer.fits()
            ? Message("$0 was not written: the program fits as it is", path)
            : Message("$0 was not written: no change was found with which the program fits", path));
    return absl::OkStatus();
  }
  OutputFile file(path);
  const fit::SavedChanges saved = fit::SavedChangesOf(question, answer);
  if (absl::Status written = file.KeepText(fit::TextOf(saved)); !written.ok()) return written;
  Note(Message("wrote $0; next: memtrace run --with $0 -- COMMAND", path));
  return absl::OkStatus();
}

std::string PatchText(const fit::Answer& answer) {
  if (!answer.recommended) return "";
  const fit::TriedRemedy& remedy = answer.remedies[*answer.recommended];
  const analysis::Annotations& annotations = remedy.outcome.annotations;
  const std::string patch = PrintableLines(analysis::AnnotatedText(annotations, fact::kFitPatch));
  std::string notes;
  for (const fit::Candidate& change : remedy.changes)
    if (const std::string why = WhyNotIn(patch, change, annotations); !why.empty())
      notes += Message("Not in the patch: $0.", why) + "\n";
  return "\n" + notes + patch;
}

}  // namespace memtrace::command
