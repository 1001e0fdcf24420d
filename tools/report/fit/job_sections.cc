// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/fit/job_sections.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "messages/message.h"
#include "tools/report/fit/further_sections.h"
#include "tools/report/words/quantity.h"

namespace memtrace::report {
namespace {

using Kind = TableColumn::Kind;
using launch::JobRanks;

constexpr size_t kNamed = 8;

std::string Names(const std::vector<int>& ranks) {
  std::string names;
  for (size_t i = 0; i < ranks.size() && i < kNamed; ++i)
    names += (i == 0 ? "" : ", ") + std::to_string(ranks[i]);
  if (ranks.size() <= kNamed) return names;
  return Message("$0 and $1 more", names, FormatCount(ranks.size() - kNamed));
}

std::string RanText(const JobRanks& job) {
  const std::string world = FormatCount(static_cast<uint64_t>(job.world));
  const std::string names = Names(job.real);
  if (static_cast<int>(job.real.size()) == job.world)
    return CountedMessage(job.real.size(), "The job's only rank ran.",
                          "All $0 ranks of the job ran.", world);
  if (job.HasEachKind())
    return CountedMessage(job.real.size(), "The $0 ranks of the job are of one kind: rank $1 ran.",
                          "The $0 ranks of the job are of $2 kinds; one of each ran: $1.", world,
                          names, FormatCount(job.real.size()));
  return CountedMessage(job.real.size(), "Of the job's $0 ranks, only rank $1 ran.",
                        "Of the job's $0 ranks, $2 ran: $1.", world, names,
                        FormatCount(job.real.size()));
}

std::string LeftOutText(const JobRanks& job) {
  if (job.HasEachKind()) return "";
  if (job.left_out.empty()) return Message("It is not known if the other ranks need more.");
  return CountedMessage(job.left_out.size(),
                        "Rank $0 is of another kind, but the host has no memory to run it too.",
                        "$1 ranks are of other kinds, but the host has no memory to run them too: "
                        "$0.",
                        Names(job.left_out), FormatCount(job.left_out.size()));
}

// Returns for how many ranks this one stands; "" if that is not known.
std::string AlikeText(const JobRanks& job, int32_t rank) {
  const auto found = std::find(job.real.begin(), job.real.end(), rank);
  const auto place = static_cast<size_t>(found - job.real.begin());
  return place < job.alike.size() ? FormatCount(static_cast<uint64_t>(job.alike[place])) : "";
}

}  // namespace

std::string FitsWords(const fit::Answer& answer, const fit::Outlook& seen) {
  const std::string steps = FormatCount(seen.steps);
  if (!answer.is_about_all_ranks()) {
    if (seen.is_whole) return Message("THE RANKS THAT RAN FIT.");
    return CountedMessage(seen.steps, "THE RANKS THAT RAN FIT IN THE 1 STEP SEEN.",
                          "THE RANKS THAT RAN FIT IN THE $0 STEPS SEEN.", steps);
  }
  if (seen.is_whole) return Message("FITS.");
  return CountedMessage(seen.steps, "FITS IN THE 1 STEP SEEN.", "FITS IN THE $0 STEPS SEEN.",
                        steps);
}

std::string JobText(const fit::Answer& answer) {
  if (!answer.job) return "";
  return JoinedSentences({RanText(*answer.job), LeftOutText(*answer.job)});
}

Section RankSection(const fit::Answer& answer) {
  Section section{.id = "ranks", .title = Message("RANKS")};
  if (!answer.job) return section;
  Table table;
  table.columns = {{"", 24},
                   {Message("stands for"), 12, Kind::kFigure},
                   {Message("peak allocated"), 16, Kind::kFigure},
                   {Message("needs"), 12, Kind::kFigure}};
  std::vector<fit::CardNeed> needs = fit::Joined(answer.told().processes);
  std::stable_sort(needs.begin(), needs.end(),
                   [](const auto& a, const auto& b) { return a.total > b.total; });
  for (const fit::CardNeed& need : needs)
    table.rows.push_back(
        {.cells = {Message("rank $0", need.card), AlikeText(*answer.job, need.card),
                   FormatBytes(need.peak_allocated), FormatBytes(need.total)},
         .below = {LargestParts(need)}});
  if (!table.rows.empty()) section.parts.emplace_back(std::move(table));
  return section;
}

std::string VirtualRanksText(const fit::Answer& answer) {
  if (!answer.job || static_cast<int>(answer.job->real.size()) == answer.job->world) return "";
  const bool is_inferred = answer.job->HasEachKind() || !answer.job->left_out.empty();
  return JoinedSentences(
      {Message("Ranks that did not run were virtual: what they would send was taken from the "
               "nearest rank that ran."),
       is_inferred ? Message("Which ranks are alike is inferred from the process groups and shards "
                             "of rank 0.")
                   : "",
       is_inferred && !answer.scalings.empty()
           ? Message("It was found for the first value of each option.")
           : ""});
}

}  // namespace memtrace::report
