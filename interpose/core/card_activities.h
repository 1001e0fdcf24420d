// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_CARD_ACTIVITIES_H_
#define MEMTRACE_INTERPOSE_CORE_CARD_ACTIVITIES_H_

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

// What the cards did, asked of CUPTI and written into the trace (docs/cupti.md); only if
// MEMTRACE_CUPTI asks for it. Whatever fails is a state that the trace says (cupti.state of
// format.md), and one line on stderr; the program goes on.
//
// Never destroyed: CUPTI's threads may be on their way into it. Thread rule: any function from any
// thread, none under a lock that an allocation needs, nor within a call of the driver.
class CardActivities {
 public:
  // Null unless MEMTRACE_CUPTI is set: to 1, or to the path of the CUPTI to use. `recorder`
  // outlives everything.
  static CardActivities* MakeIfWanted(recorder::Recorder& recorder);
  // Writes into the trace why MEMTRACE_CUPTI has no effect in a program that allocates from the
  // driver itself.
  static void NoteIfUnavailable(recorder::Recorder& recorder);

  void Begin();
  // Another tool needs CUPTI meanwhile. As often as Pause; both may be nested.
  void Pause();
  void Resume();
  // Writes what has come back by now.
  void Flush();
  // Writes all of it; for good.
  void End();

  // From now on, what this thread launches belongs to the block that it allocates next.
  void BeginOperation();
  // From now on, what this thread launches belongs to no block.
  void EndOperation();

 private:
  CardActivities(recorder::Recorder& recorder, std::string library)
      : recorder_(recorder), library_(std::move(library)) {}

  absl::Status FindLibrary();
  void BeginOrSayWhyNot();
  void Say(std::string_view state, std::string_view reason);
  void Write(std::span<const cupti::CardActivity> activities);

  recorder::Recorder& recorder_;
  const std::string library_;  // path; empty: the one that is to be found
  Mutex mutex_;                // guards what follows; CUPTI's threads never take it
  int pauses_ = 0;
  bool has_ended_ = false;
  bool has_complained_ = false;
  std::atomic<cupti::ActivitySession*> session_ = nullptr;  // null before Begin and without CUPTI
  std::vector<recorder::ToldActivity> told_;                // of Write: one thread at a time
};

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_CARD_ACTIVITIES_H_
