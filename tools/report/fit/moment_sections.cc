// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/fit/moment_sections.h"

#include <string_view>
#include <utility>
#include <vector>

#include "messages/message.h"
#include "tools/fit/needs/gap.h"
#include "tools/report/words/printable.h"
#include "tools/report/words/quantity.h"
#include "tools/report/words/vocabulary_words.h"

namespace memtrace::report {
namespace {

using fit::Answer;
using fit::Known;
using fit::MomentNeed;

std::string WordsOf(const MomentNeed& need) {
  const std::string words =
      need.moment == fit::kUsualStep ? Message("a usual step") : fit::MomentWords(need.moment);
  return need.size.empty() ? words : Message("$0 ($1)", words, Printable(need.size));
}

std::string KnownWords(Known known) {
  switch (known) {
    case Known::kExact:
      return Message("exact");
    case Known::kInferred:
      return Message("inferred");
    case Known::kAssumed:
      break;
  }
  return Message("assumed");
}

std::string FitsCell(const MomentNeed& need) {
  if (!need.fits) return "";
  return *need.fits ? Message("fits") : Message("does not fit");
}

// Returns "activations, model.layers.*: 2.10 GiB".
std::string HolderText(const fit::Holder& holder) {
  const std::string_view name = holder.name;
  const size_t comma = name.find(", ");
  if (comma == std::string_view::npos) return "";
  const std::string role = RoleWords(name.substr(0, comma));
  const std::string place = SiteWords(name.substr(comma + 2));
  const std::string bytes = FormatBytes(holder.bytes);
  if (holder.places == 1) return Message("$0, $1: $2", role, place, bytes);
  const uint64_t others = holder.places - 1;
  return CountedMessage(others, "$0, $1 and another place: $2", "$0, $1 and $3 other places: $2",
                        role, place, bytes, FormatCount(others));
}

TableRow RowOf(const MomentNeed& need) {
  TableRow row{.cells = {WordsOf(need), FormatBytes(need.needs), FitsCell(need),
                         need.fits ? KnownWords(need.known) : ""}};
  if (const std::string holder = HolderText(need.holder); !holder.empty())
    row.below.push_back(holder);
  if (!need.line.empty()) row.below.push_back(Message("runs out at $0", Printable(need.line)));
  if (need.of > 0)
    row.below.push_back(
        Message("$0 of its $1 batches were run; the others are added by what each kept",
                FormatCount(need.batches), FormatCount(need.of)));
  if (!need.failed_by_itself.empty())
    row.below.push_back(
        Message("failed by itself ($0); its memory is counted", Printable(need.failed_by_itself)));
  return row;
}

// Joins the moments beside the usual steps: "an evaluation, saving a checkpoint".
std::string NamesOf(const std::vector<MomentNeed>& moments) {
  std::string names;
  for (const MomentNeed& need : moments) {
    if (need.moment == fit::kUsualStep) continue;
    names += (names.empty() ? "" : ", ") + WordsOf(need);
  }
  return names;
}

std::string FailsText(const MomentNeed& need) {
  const std::string words = WordsOf(need);
  if (!need.line.empty())
    return Message("DOES NOT FIT: $0 runs out at $1.", words, Printable(need.line));
  if (need.known == Known::kExact) return Message("DOES NOT FIT: $0 runs out of memory.", words);
  if (need.of > 0)
    return Message("DOES NOT FIT: $0 with all its $1 batches would need $2 of card $3.", words,
                   FormatCount(need.of), FormatBytes(need.needs), need.card);
  return Message("DOES NOT FIT: $0 would need $1 of card $2.", words, FormatBytes(need.needs),
                 need.card);
}

}  // namespace

Section MomentSection(const Answer& answer) {
  Section section{.id = "moments",
                  .title = Message("MOMENTS OF THE JOB"),
                  .subtitle = Message("run with fewer steps")};
  if (!answer.whole_job || answer.whole_job->moments.empty()) return section;
  Table table;
  table.columns = {{"", 40},
                   {Message("needs"), 12, TableColumn::Kind::kFigure},
                   {"", 14},
                   {Message("how known"), 0}};
  for (const MomentNeed& need : answer.whole_job->moments) table.rows.push_back(RowOf(need));
  section.parts.emplace_back(std::move(table));
  section.parts.emplace_back(
      Note{Message("Exact: it was run on the card. Inferred: it was seen without a limit, or grew "
                   "evenly. Assumed: a policy chose values that are not computed.")});
  return section;
}

bool IsDecidedByWholeJob(const Answer& answer) {
  if (!answer.whole_job || answer.whole_job->moments.empty()) return false;
  if (!answer.has_within || !answer.within.fits()) return false;
  const fit::FitVerdict verdict = answer.verdict();
  return verdict == fit::FitVerdict::kFits || verdict == fit::FitVerdict::kDoesNotFit;
}

std::string LimitText(const MomentNeed& limited_by) {
  return Message("The moment that limits it is $0.", WordsOf(limited_by));
}

std::string WholeJobText(const Answer& answer) {
  const std::vector<MomentNeed>& moments = answer.whole_job->moments;
  if (const MomentNeed* failed = fit::FailedMomentOf(moments)) return FailsText(*failed);
  if (!answer.fits()) return Message("DOES NOT FIT.");
  const std::string names = NamesOf(moments);
  return names.empty() ? Message("FITS. Its whole job was run with fewer steps.")
                       : Message("FITS. Its whole job was run with fewer steps: $0.", names);
}

}  // namespace memtrace::report
