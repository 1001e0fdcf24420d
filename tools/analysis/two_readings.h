// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_TWO_READINGS_H_
#define MEMTRACE_TOOLS_ANALYSIS_TWO_READINGS_H_

#include <cstdint>
#include <map>
#include <vector>

#include "absl/status/status.h"
#include "tools/analysis/explained/card.h"
#include "tools/analysis/holders/call_sizes.h"
#include "tools/analysis/kept/failed_attempts.h"
#include "tools/analysis/kept/growth_search.h"
#include "tools/analysis/kept/unread_names.h"
#include "tools/analysis/kept/untrained_passes.h"
#include "tools/analysis/replayed/captures.h"
#include "tools/analysis/replayed/moment_spec.h"
#include "tools/analysis/replayed/timeline.h"
#include "tools/analysis/source/event_source.h"
#include "tools/analysis/source/site_names.h"

namespace memtrace::analysis {

// Reads a trace twice and holds what an explanation is made from. The first reading finds the
// moments, the second captures the cards at these moments.
class TwoReadings {
 public:
  TwoReadings(const EventSource& source, const MomentSpec& spec);
  TwoReadings(const TwoReadings&) = delete;  // `captures` and `growth` refer to `timeline`
  TwoReadings& operator=(const TwoReadings&) = delete;

  // Reads the source twice. Returns kOutOfRange, with a sentence, if it has no such moment.
  absl::Status Read();

  // True if the moment to explain is that of a failed request.
  bool is_failure() const;
  // True if it is the peak.
  bool is_peak() const;
  // Returns the update from which the next step is foreseen.
  Update latest_update() const;
  // Returns the blocks as they are at the end of the second reading.
  LiveSet& live() { return captures.live(); }

  SiteNames sites;
  Timeline timeline;
  AttemptWatch attempts;
  UnreadNames unread_names;
  UntrainedWatch untrained;
  CallSizes call_sizes;
  Captures captures;
  GrowthSearch growth;
  // By card:
  std::map<int32_t, CapturedCard> at_moment;
  std::map<int32_t, std::vector<CapturedBlock>> at_peak;
  std::map<int32_t, CardMoment> most_reserved;
  std::map<int32_t, CardMoment> fullest;
  std::map<int32_t, std::vector<CapturedBlock>> after_update;

 private:
  absl::Status FindMoments();
  void CaptureMoments();
  void LookAt(uint64_t ordinal, int32_t device, std::map<int32_t, CardMoment>& into);
  void LookForGrowth();

  const EventSource& source_;
  MomentSpec spec_;
  std::map<int32_t, uint64_t> moments_;  // ordinals, by card
};

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_TWO_READINGS_H_
