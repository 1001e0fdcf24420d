// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_WORDS_RANK_WORDS_H_
#define MEMTRACE_TOOLS_REPORT_WORDS_RANK_WORDS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tools/analysis/jobs/job.h"

namespace memtrace::report {

// Returns "rank 3", or the file if the process has no rank.
std::string ProcessName(const analysis::ProcessView& view);

// Returns "rank 3" or "ranks 0-3, 7" for ascending ranks, the first of many.
std::string RanksName(const std::vector<uint64_t>& ranks);
std::string KindName(const analysis::Job& job, const analysis::RankKind& kind);

// Returns "pipeline stage 1 of 8" for place 0.
std::string PlaceWords(const analysis::JobDimension& dimension, uint64_t place);

// Returns the same with "$0" for the place's number, which counts from 1.
std::string PlaceTemplate(const analysis::JobDimension& dimension);

// Returns "pipeline stage 1 of 8 ('pp'), tensor-parallel rank 2 of 8 ('tp')"; empty if the
// dimensions of the job, or the rank, are not known.
std::string PlacesOf(const analysis::Job& job, const analysis::ProcessView& view);

// Returns the place in the dimensions in which the processes of the job differ, as far as those of
// the kind share it: "pipeline stage 1 of 8", or "pp 1 of 8, tp 2 of 8".
std::string PlaceOfKind(const analysis::Job& job, const analysis::RankKind& kind);

// Returns "rank 448 (pipeline stage 8 of 8)".
std::string NameWithPlace(const analysis::Job& job, size_t process);

// Returns "90 %"; empty if the card's size is not known.
std::string UsedPercent(const analysis::ProcessView& view);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_WORDS_RANK_WORDS_H_
