// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_EXPLAINED_CARD_H_
#define MEMTRACE_TOOLS_ANALYSIS_EXPLAINED_CARD_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/analysis/holders/breakdown.h"
#include "tools/analysis/holders/logits.h"
#include "tools/analysis/holders/micro_batches_in_flight.h"
#include "tools/analysis/holders/second_models.h"
#include "tools/analysis/replayed/card_ledger.h"
#include "tools/analysis/source/moment.h"
#include "tools/analysis/source/other_processes.h"

namespace memtrace::analysis {

// A moment of a card other than that of its report.
struct CardMoment {
  Moment when;
  Ledger ledger;
};

struct CardExplanation {
  int32_t index = 0;
  Moment when;     // when the request failed, on every card; the moment that was requested; else
                   // this card's peak
  Ledger ledger;   // then
  Breakdown peak;  // requested bytes in use
  Position peak_at;
  SecondModels second_models;  // of `peak`
  Logits logits;               // likewise
  // Both at `peak`, and only if the process is one of several ranks.
  std::optional<MicroBatchesInFlight> in_flight;
  std::map<std::string, uint64_t> layers;  // CountLayers
  // The moments when most was reserved, and when most was in use or waited for a stream; neither
  // need be the peak of requested bytes. Nothing without segments, or without blocks.
  std::optional<CardMoment> most_reserved;
  std::optional<CardMoment> fullest;
  // The number of times that torch emptied its cache for a request, and that it waited for all
  // streams; nothing if the trace does not say.
  std::optional<uint64_t> retries;
  std::optional<uint64_t> waits;
  // Processes of the same launch that then had memory of this card, largest first. Their own traces
  // are not read.
  std::vector<OtherProcess> others;
};

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_EXPLAINED_CARD_H_
