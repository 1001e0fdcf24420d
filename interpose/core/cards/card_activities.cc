// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/cards/card_activities.h"

#include <cstdio>
#include <utility>

#include "base/environment.h"
#include "base/mutex.h"
#include "base/status_macros.h"
#include "profiler/trace/vocabulary/facts.h"

namespace memtrace {
namespace {

static_assert(static_cast<int>(cupti::ActivityKind::kMemoryTakenBack) ==
              static_cast<int>(trace::ActivityKind::kMemoryTakenBack));

recorder::ToldActivity ToTold(const cupti::CardActivity& activity) {
  return {.activity = {.kind = static_cast<trace::ActivityKind>(activity.kind),
                       .device = static_cast<int32_t>(activity.device),
                       .stream = activity.stream,
                       .start_ns = activity.start_ns,
                       .duration_ns = activity.duration_ns,
                       .bytes = activity.bytes,
                       .address = activity.address},
          .name = activity.name,
          .operation = activity.operation};
}

// Returns "1" or a path; "" if activities are not requested.
std::string Wanted() {
  return env::Is(env::kCupti, "0") ? "" : std::string(env::Text(env::kCupti));
}

}  // namespace

CardActivities* CardActivities::MakeIfWanted(recorder::Recorder& recorder) {
  const std::string wanted = Wanted();
  return wanted.empty() ? nullptr : new CardActivities(recorder, wanted == "1" ? "" : wanted);
}

void CardActivities::NoteIfUnavailable(recorder::Recorder& recorder) {
  if (Wanted().empty()) return;
  recorder.program().Annotate(trace::fact::kCuptiState, "absent");
  recorder.program().Annotate(trace::fact::kCuptiReason,
                              "the program takes its memory from the driver itself");
}

void CardActivities::RecordState(std::string_view state, std::string_view reason) {
  recorder_.program().Annotate(trace::fact::kCuptiState, state);
  if (!reason.empty()) recorder_.program().Annotate(trace::fact::kCuptiReason, reason);
}

absl::Status CardActivities::FindLibrary() {
  MEMTRACE_ASSIGN_OR_RETURN(const auto library, library_.empty()
                                                    ? cupti::CuptiLibrary::Find()
                                                    : cupti::CuptiLibrary::Load(library_));
  session_ = &cupti::ActivitySession::Make(
      library, [this](std::span<const cupti::CardActivity> activities) { Write(activities); });
  return absl::OkStatus();
}

void CardActivities::Begin() {
  const MutexLock lock(mutex_);
  if (session_ != nullptr || has_ended_) return;
  recorder_.blocks().TieActivities();
  if (const absl::Status found = FindLibrary(); !found.ok()) {
    const std::string reason(found.message());
    RecordState("absent", reason);
    std::fprintf(stderr,
                 "memtrace: Kernels and copies are not recorded (%s). The program continues.\n",
                 reason.c_str());
    return;
  }
  BeginOrReportFailure();
}

void CardActivities::BeginOrReportFailure() {
  const absl::Status begun = session_.load()->Begin();
  if (begun.ok()) return RecordState("on", "");
  const std::string reason(begun.message());
  RecordState("refused", reason);
  if (std::exchange(has_complained_, true)) return;
  std::fprintf(
      stderr,
      "memtrace: Kernels and copies are not recorded (CUPTI reports %s). The program continues.\n",
      reason.c_str());
}

void CardActivities::Pause() {
  const MutexLock lock(mutex_);
  if (++pauses_ > 1 || session_ == nullptr || !session_.load()->is_on()) return;
  session_.load()->SetOperation(0);  // otherwise the other tool would be told with every launch
  session_.load()->End();
  RecordState("paused", "torch.profiler uses CUPTI");
}

// Tries again even if CUPTI refused before: the refusal may have been due to the other tool.
void CardActivities::Resume() {
  const MutexLock lock(mutex_);
  if (pauses_ == 0) return;
  --pauses_;
  if (pauses_ == 0 && session_ != nullptr && !has_ended_) BeginOrReportFailure();
}

void CardActivities::Flush() {
  if (auto* session = session_.load()) session->Flush();
}

void CardActivities::End() {
  const MutexLock lock(mutex_);
  if (session_ == nullptr || has_ended_) return;
  has_ended_ = true;
  session_.load()->End();
  recorder_.program().Annotate(trace::fact::kCuptiDropped,
                               std::to_string(session_.load()->dropped()));
}

void CardActivities::BeginOperation() {
  auto* session = session_.load(std::memory_order_acquire);
  if (session == nullptr) return;
  if (!session->is_on()) return EndOperation();
  session->SetOperation(recorder::OperationBlocks::Begin());
}

void CardActivities::EndOperation() {
  recorder::OperationBlocks::End();
  if (auto* session = session_.load(std::memory_order_acquire)) session->SetOperation(0);
}

void CardActivities::Write(std::span<const cupti::CardActivity> activities) {
  told_.clear();
  told_.reserve(activities.size());
  for (const cupti::CardActivity& activity : activities) told_.push_back(ToTold(activity));
  recorder_.blocks().NoteActivities(told_);
}

}  // namespace memtrace
