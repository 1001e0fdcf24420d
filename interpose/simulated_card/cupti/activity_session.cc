// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/cupti/activity_session.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "base/mutex.h"
#include "interpose/simulated_card/cupti/cupti_names.h"
#include "interpose/simulated_card/cupti/external_correlation.h"

namespace memtrace::card {
namespace {

// The moment at which this thread entered its current call.
thread_local Moment entered;

// True for kinds that have records, and for OVERHEAD: nothing is instrumented or compiled on the
// card, so there is no overhead to record.
bool IsSupportedKind(CUpti_ActivityKind kind) {
  return SizeOf(kind) > 0 || kind == CUPTI_ACTIVITY_KIND_OVERHEAD;
}

std::uint32_t ThreadId(CUpti_ActivityThreadIdType type) {
  return static_cast<std::uint32_t>(type == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM
                                        ? static_cast<unsigned long>(syscall(SYS_gettid))
                                        : pthread_self());
}

bool IsWait(memtrace_card_event_kind kind) {
  return kind == MEMTRACE_CARD_STREAM_WAITED || kind == MEMTRACE_CARD_DEVICE_WAITED ||
         kind == MEMTRACE_CARD_EVENT_WAITED || kind == MEMTRACE_CARD_STREAM_WAITS;
}

}  // namespace

void ActivitySession::Change() {
  is_on_ =
      std::any_of(kinds_.begin(), kinds_.end(), [](const auto& kind) { return kind.load(); }) ||
      runtime_calls_.MayHaveAny() || driver_calls_.MayHaveAny();
}

CUptiResult ActivitySession::Enable(CUpti_ActivityKind kind, bool enabled) {
  if (kind <= CUPTI_ACTIVITY_KIND_INVALID || kind >= CUPTI_ACTIVITY_KIND_COUNT)
    return CUPTI_ERROR_INVALID_KIND;
  if (enabled && !IsSupportedKind(kind)) return CUPTI_ERROR_NOT_COMPATIBLE;
  kinds_[static_cast<std::size_t>(kind)] = enabled;
  // kineto enables only the first of each pair and reads both.
  if (kind == CUPTI_ACTIVITY_KIND_MEMCPY) kinds_[CUPTI_ACTIVITY_KIND_MEMCPY2] = enabled;
  if (kind == CUPTI_ACTIVITY_KIND_SYNCHRONIZATION) kinds_[CUPTI_ACTIVITY_KIND_CUDA_EVENT] = enabled;
  if (kind == CUPTI_ACTIVITY_KIND_RUNTIME) runtime_calls_.SetAll(enabled);
  if (kind == CUPTI_ACTIVITY_KIND_DRIVER) driver_calls_.SetAll(enabled);
  Change();
  return CUPTI_SUCCESS;
}

CUptiResult ActivitySession::EnableCall(bool is_runtime, std::uint32_t number, bool enabled) {
  if (NameOf(is_runtime, number) == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  (is_runtime ? runtime_calls_ : driver_calls_).Set(number, enabled);
  Change();
  return CUPTI_SUCCESS;
}

void ActivitySession::DisableAll() {
  for (auto& kind : kinds_) kind = false;
  runtime_calls_.SetAll(false);
  driver_calls_.SetAll(false);
  Change();
}

void ActivitySession::Enter() { entered = clock_.Now(); }

void ActivitySession::Leave(const memtrace_card_call& call) {
  const CallNumber number = NumberOf(call.name);
  if (!(number.is_runtime ? runtime_calls_ : driver_calls_).Has(number.number)) return;
  if (number.number == 0) return;
  AppendExternal(call.correlation);
  CUpti_ActivityAPI record = {};
  record.kind = number.is_runtime ? CUPTI_ACTIVITY_KIND_RUNTIME : CUPTI_ACTIVITY_KIND_DRIVER;
  record.cbid = number.number;
  record.start = entered.timestamp;
  record.end = clock_.Now().timestamp;
  record.processId = static_cast<std::uint32_t>(getpid());
  record.threadId = ThreadId(thread_ids_);
  record.correlationId = call.correlation;
  record.returnValue = static_cast<std::uint32_t>(call.result);
  Append(record);
}

// According to cupti_activity.h, such a record precedes that of the call.
void ActivitySession::AppendExternal(std::uint32_t correlation) {
  if (!IsKindEnabled(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION)) return;
  ExternalCorrelation::OfThread().VisitInnermost(
      [&](CUpti_ExternalCorrelationKind kind, std::uint64_t id) {
        CUpti_ActivityExternalCorrelation record = {};
        record.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
        record.externalKind = kind;
        record.externalId = id;
        record.correlationId = correlation;
        Append(record);
      });
}

void ActivitySession::AppendEnded(std::vector<OpenWork> ended) {
  const Moment now = clock_.Now();
  for (OpenWork& work : ended) {
    SetTimes(work.record, work.start.timestamp,
             TimestampAfter(work.start, kMemtraceCardWorkNanoseconds, now));
    std::visit([&](const auto& record) { Append(record); }, work.record);
  }
}

template <typename Wanted>
void ActivitySession::End(Wanted wanted) {
  std::vector<OpenWork> ended;
  {
    const MutexLock lock(mutex_);
    for (auto open = open_.begin(); open != open_.end();) {
      if (wanted(open->first)) {
        ended.push_back(open->second);
        open = open_.erase(open);
      } else {
        ++open;
      }
    }
  }
  if (!ended.empty()) AppendEnded(std::move(ended));
}

void ActivitySession::Start(const memtrace_card_event& event) {
  const StreamKey key = {event.device, event.stream};
  End([&](const StreamKey& open) { return open == key; });
  OpenWork work = {WorkRecordOf(event), clock_.Now()};
  if (!IsKindEnabled(KindOf(work.record))) return;
  std::vector<OpenWork> ended;
  {
    const MutexLock lock(mutex_);
    const auto [open, is_new] = open_.try_emplace(key, work);
    // Another thread may have added work since the look-up.
    if (!is_new) ended.push_back(std::exchange(open->second, work));
  }
  if (!ended.empty()) AppendEnded(std::move(ended));
}

void ActivitySession::Waited(const memtrace_card_event& event) {
  const bool one_stream = event.kind == MEMTRACE_CARD_STREAM_WAITED;
  End([&](const StreamKey& open) {
    return open.first == event.device && (!one_stream || open.second == event.stream);
  });
  if (!IsKindEnabled(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION)) return;
  SynchronizationRecord record = SynchronizationRecordOf(event);
  record.end = clock_.Now().timestamp;
  record.start = event.correlation == 0 ? record.end : entered.timestamp;
  Append(record);
}

void ActivitySession::HandleEvent(const memtrace_card_event& event) {
  if (IsWait(event.kind)) return Waited(event);
  switch (event.kind) {
    case MEMTRACE_CARD_KERNEL:
    case MEMTRACE_CARD_COPY:
    case MEMTRACE_CARD_FILL:
      return Start(event);
    case MEMTRACE_CARD_EVENT_RECORDED: {
      if (!IsKindEnabled(CUPTI_ACTIVITY_KIND_CUDA_EVENT)) return;
      EventRecord record = EventRecordOf(event);
      if (event_timestamps_) record.deviceTimestamp = clock_.Now().timestamp;
      return Append(record);
    }
    case MEMTRACE_CARD_ALLOCATED:
    case MEMTRACE_CARD_RELEASED: {
      if (!IsKindEnabled(CUPTI_ACTIVITY_KIND_MEMORY2)) return;
      MemoryRecord record = MemoryRecordOf(event);
      record.timestamp = clock_.Now().timestamp;
      return Append(record);
    }
    case MEMTRACE_CARD_STREAM_MADE:
      if (IsKindEnabled(CUPTI_ACTIVITY_KIND_STREAM)) Append(StreamRecordOf(event));
      return;
    default:
      return;
  }
}

void ActivitySession::Flush() {
  End([](const StreamKey&) { return true; });
  buffers_.Flush();
}

}  // namespace memtrace::card
