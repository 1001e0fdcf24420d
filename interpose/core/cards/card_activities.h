// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_CARDS_CARD_ACTIVITIES_H_
#define MEMTRACE_INTERPOSE_CORE_CARDS_CARD_ACTIVITIES_H_

#include <atomic>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "profiler/cupti/activity_session.h"
#include "profiler/recorder/recorder.h"

namespace memtrace {

// Records the cards' activities, which CUPTI reports, in the trace (docs/design/cupti.md); only if
// MEMTRACE_CUPTI is set. A failure becomes a state in the trace (cupti.state of format.md) and one
// line on stderr; the program goes on.
//
// Never destroyed, because CUPTI's threads may still be about to call it. Thread rule: any function
// from any thread, none under a lock that an allocation needs, nor within a call of the driver.
class CardActivities {
 public:
  // Returns null unless MEMTRACE_CUPTI is set: to 1, or to the path of the CUPTI to use. `recorder`
  // must never be destroyed.
  static CardActivities* MakeIfWanted(recorder::Recorder& recorder);
  // Writes into the trace why MEMTRACE_CUPTI has no effect in a program that allocates from the
  // driver itself.
  static void NoteIfUnavailable(recorder::Recorder& recorder);

  void Begin();
  // Pause while another tool needs CUPTI. Calls nest: each Pause needs its Resume.
  void Pause();
  void Resume();
  // Writes the records that CUPTI has returned so far.
  void Flush();
  // Writes all records and ends for good.
  void End();

  // From now on, the launches of this thread belong to the block that it allocates next.
  void BeginOperation();
  // From now on, the launches of this thread belong to no block.
  void EndOperation();

 private:
  CardActivities(recorder::Recorder& recorder, std::string library)
      : recorder_(recorder), library_(std::move(library)) {}

  absl::Status FindLibrary();
  void BeginOrReportFailure();
  void RecordState(std::string_view state, std::string_view reason);
  void Write(std::span<const cupti::CardActivity> activities);

  recorder::Recorder& recorder_;
  const std::string library_;  // path; empty: find one
  Mutex mutex_;                // guards the members below; CUPTI's threads never take it
  int pauses_ = 0;
  bool has_ended_ = false;
  bool has_complained_ = false;
  std::atomic<cupti::ActivitySession*> session_ = nullptr;  // null before Begin and without CUPTI
  std::vector<recorder::ToldActivity> told_;  // used by Write, on one thread at a time
};

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_CARDS_CARD_ACTIVITIES_H_
