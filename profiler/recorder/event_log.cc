// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/recorder/event_log.h"

#include <algorithm>
#include <ctime>
#include <string>

#include "profiler/recorder/accounts/summary_text.h"
#include "profiler/trace/vocabulary/facts.h"

namespace memtrace::recorder {
namespace {

constexpr uint64_t kLookEveryNs = 1'000'000;

// A summary looks at every live block, so the next one waits 1,000 times its duration, within these
// limits.
constexpr uint64_t kLeastSummaryNs = 1'000'000'000;
constexpr uint64_t kMostSummaryNs = 10'000'000'000;

uint64_t UnixNow() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace

void EventLog::Summarise(bool is_last) { SummariseAt(clock_.Now(), is_last); }

void EventLog::DoPeriodicWork(uint64_t now) {
  trace::TraceWriter& writer = *trace_.writer;
  look_at_ns_ = now + kLookEveryNs;
  if (now >= summary_at_ns_) SummariseAt(now, /*is_last=*/false);
  if (writer.loss().has_stopped()) return;
  MakeMarks(now);
  if (checkpoint_.is_due(writer.blocks())) checkpoint_.Begin(writer, live_, run_, sequence_, now);
  if (!checkpoint_.is_running()) return;
  checkpoint_.Continue(writer.checkpoint(), live_, run_);
  look_at_ns_ = 0;  // at the next event
}

void EventLog::SummariseAt(uint64_t now, bool is_last) {
  trace::TraceWriter& writer = *trace_.writer;
  trace::FrontPages* front = writer.front();
  if (front == nullptr || !front->has_summary()) return;
  const SummaryMoment moment{
      .events = sequence_, .time_ns = now, .unix_ns = UnixNow(), .is_last = is_last};
  front->WriteSummary(SummaryText(live_, run_, writer, moment, trace::FrontPages::kSummaryText),
                      sequence_);
  const uint64_t took = clock_.Now() - now;
  summary_at_ns_ = now + std::clamp(1000 * took, kLeastSummaryNs, kMostSummaryNs);
}

// Makes only a few marks at once, because the number comes from a page that others may write.
void EventLog::MakeMarks(uint64_t now) {
  constexpr uint64_t kMost = 16;
  trace::FrontPages* front = trace_.writer->front();
  if (front == nullptr) return;
  trace::DefinitionWriter& names = trace_.writer->definitions();
  const uint64_t wanted = front->marks_wanted();
  for (uint64_t i = 0; marks_ < wanted && i < kMost; ++i) {
    ++marks_;
    const trace::Annotate mark{
        .key = names.String(trace::fact::kSnapshot.Of(marks_)),
        .value = names.String("step " + std::to_string(run_.position().step))};
    trace_.writer->Write(++sequence_, now, mark).IgnoreError();
    run_.Note(mark);
    front->NoteMarksMade(marks_);
  }
}

}  // namespace memtrace::recorder
