// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/words/rank_words.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "messages/message.h"
#include "tools/report/words/printable.h"
#include "tools/report/words/quantity.h"

namespace memtrace::report {
namespace {

using analysis::Job;
using analysis::JobDimension;
using analysis::Parallelism;
using analysis::ProcessView;
using analysis::RankKind;

// Joins what stands side by side: "a, b".
void Append(std::string& list, const std::string& part) {
  list = list.empty() ? part : Message("$0, $1", list, part);
}

// Returns the dimensions in which processes of the job are at different places.
std::vector<JobDimension> DifferingDimensions(const Job& job) {
  std::vector<JobDimension> differing;
  for (const JobDimension& dimension : job.shape.dimensions) {
    std::optional<uint64_t> place;
    for (const ProcessView& view : job.processes) {
      const std::optional<uint64_t> rank = analysis::RankOf(view);
      if (!rank) continue;
      if (place && *place != dimension.PlaceOf(*rank)) {
        differing.push_back(dimension);
        break;
      }
      place = dimension.PlaceOf(*rank);
    }
  }
  return differing;
}

std::optional<uint64_t> SharedPlace(const Job& job, const RankKind& kind,
                                    const JobDimension& dimension) {
  std::optional<uint64_t> shared;
  for (const size_t process : kind.processes) {
    const std::optional<uint64_t> rank = analysis::RankOf(job.processes[process]);
    if (!rank || (shared && *shared != dimension.PlaceOf(*rank))) return std::nullopt;
    shared = dimension.PlaceOf(*rank);
  }
  return shared;
}

std::string NumberedPlace(const JobDimension& dimension, const std::string& number) {
  switch (dimension.parallelism()) {
    case Parallelism::kPipeline:
      return Message("pipeline stage $0 of $1", number, dimension.size);
    case Parallelism::kTensor:
      return Message("tensor-parallel rank $0 of $1", number, dimension.size);
    case Parallelism::kData:
      return Message("data-parallel rank $0 of $1", number, dimension.size);
    case Parallelism::kContext:
      return Message("context-parallel rank $0 of $1", number, dimension.size);
    case Parallelism::kExpert:
      return Message("expert-parallel rank $0 of $1", number, dimension.size);
    case Parallelism::kOther:
      break;
  }
  return Message("place $0 of $1", number, dimension.size);
}

std::string ShortPlace(const JobDimension& dimension, uint64_t place) {
  return dimension.name.empty()
             ? Message("place $0 of $1", place + 1, dimension.size)
             : Message("$0 $1 of $2", Printable(dimension.name), place + 1, dimension.size);
}

}  // namespace

std::string ProcessName(const ProcessView& view) {
  return view.run.rank.empty() ? Printable(view.file)
                               : Message("rank $0", Printable(view.run.rank));
}

std::string RanksName(const std::vector<uint64_t>& ranks) {
  constexpr size_t kRangesNamed = 16;
  if (ranks.size() == 1) return Message("rank $0", ranks.front());
  std::string list;
  size_t begin = 0;
  for (size_t range = 0; range < kRangesNamed && begin < ranks.size(); ++range) {
    size_t end = begin + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
    const std::string first = std::to_string(ranks[begin]);
    Append(list, end - begin == 1 ? first : first + "-" + std::to_string(ranks[end - 1]));
    begin = end;
  }
  if (begin < ranks.size())
    list = Message("$0 and $1 more", list, FormatCount(ranks.size() - begin));
  return Message("ranks $0", list);
}

std::string KindName(const Job& job, const RankKind& kind) {
  std::vector<uint64_t> ranks;
  ranks.reserve(kind.processes.size());
  for (const size_t process : kind.processes)
    ranks.push_back(analysis::RankOf(job.processes[process]).value_or(0));
  return RanksName(ranks);
}

std::string PlaceWords(const JobDimension& dimension, uint64_t place) {
  return NumberedPlace(dimension, std::to_string(place + 1));
}

std::string PlaceTemplate(const JobDimension& dimension) { return NumberedPlace(dimension, "$0"); }

std::string PlacesOf(const Job& job, const ProcessView& view) {
  const std::optional<uint64_t> rank = analysis::RankOf(view);
  std::string places;
  if (!rank) return places;
  for (const JobDimension& dimension : job.shape.dimensions) {
    const std::string words = PlaceWords(dimension, dimension.PlaceOf(*rank));
    Append(places,
           dimension.name.empty() ? words : Message("$0 ('$1')", words, Printable(dimension.name)));
  }
  return places;
}

std::string PlaceOfKind(const Job& job, const RankKind& kind) {
  const std::vector<JobDimension> differing = DifferingDimensions(job);
  std::string places;
  for (const JobDimension& dimension : differing) {
    const std::optional<uint64_t> place = SharedPlace(job, kind, dimension);
    if (!place) continue;
    if (differing.size() == 1) return PlaceWords(dimension, *place);
    Append(places, ShortPlace(dimension, *place));
  }
  return places;
}

std::string NameWithPlace(const Job& job, size_t process) {
  const std::string name = ProcessName(job.processes[process]);
  const std::string place = PlaceOfKind(job, {.processes = {process}, .ranks = {}});
  return place.empty() ? name : Message("$0 ($1)", name, place);
}

std::string UsedPercent(const ProcessView& view) {
  const std::optional<double> share = analysis::UsedShare(view);
  return share ? Message("$0 %", std::lround(*share * 100)) : "";
}

}  // namespace memtrace::report
