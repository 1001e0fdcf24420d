// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/recorder/accounts/summary_text.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/recorder/accounts/json_writer.h"
#include "profiler/trace/events/card_fields.h"
#include "profiler/trace/events/failure_cause.h"
#include "profiler/trace/events/library_folder.h"

namespace memtrace::recorder {
namespace {

constexpr size_t kMostCards = 32;   // in a process; their number is stated if there are more
constexpr size_t kMostRows = 64;    // of a card: current ones, and as many at its peak
constexpr size_t kRowsOfFrame = 8;  // so many fewer rows leave out one frame of a stack
constexpr size_t kMostFileText = 200;

// Limits the rows and the cards that a summary lists.
struct SummaryRoom {
  size_t rows = kMostRows;  // of a card
  size_t cards = kMostCards;
};

// Returns the end of a path, without the folders that do not fit.
std::string_view EndOfPath(std::string_view path) {
  if (path.size() <= kMostFileText) return path;
  const size_t slash = path.find('/', path.size() - kMostFileText);
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

struct Groups {
  GroupSums now;
  GroupSums at_peak;
  Bytes waiting_requested = 0;
  Bytes waiting_allocated = 0;
};

class SummaryWriter {
 public:
  SummaryWriter(const LiveTable& live, const RunAccount& run, const trace::TraceWriter& writer)
      : run_(run), names_(writer.definitions()), lost_events_(writer.loss().lost_events()) {
    for (const auto& [device, card] : run.cards()) groups_[device].at_peak = card.dead_since_peak();
    live.ForEach([&](const LiveTable::Key& key, const LiveBlock& block) {
      Add(DeviceIndex{key.second}, key.first, block, nullptr);
    });
    run.waiting().ForEach([&](const WaitingBlocks::Key& key, const FreedBlock& waiting) {
      Add(key.second, key.first, waiting.block, &waiting);
      groups_[key.second].waiting_requested += waiting.block.requested;
      groups_[key.second].waiting_allocated += waiting.block.allocated;
    });
  }

  std::string Write(const SummaryMoment& moment, SummaryRoom room) {
    most_rows_ = room.rows;
    json_ = {};
    json_.Begin('{');
    json_.Text("schema", "memtrace.summary/1");
    json_.Number("last", moment.is_last ? 1 : 0);
    json_.Number("events", moment.events);
    json_.Number("lost_events", lost_events_);
    json_.Number("time_ns", moment.time_ns);
    json_.Number("unix_ns", moment.unix_ns);
    json_.Number("steps", run_.steps());
    Position("at", run_.position());
    Failures();
    json_.Number("cards_in_all", run_.cards().size());
    json_.Begin("cards", '[');
    size_t count = 0;
    for (const auto& [device, card] : run_.cards()) {
      if (count++ < room.cards) Card(device, card);
    }
    json_.End(']');
    json_.End('}');
    return json_.text();
  }

 private:
  void Add(DeviceIndex device, DeviceAddress address, const LiveBlock& block,
           const FreedBlock* freed) {
    const auto found = run_.cards().find(device);
    if (found == run_.cards().end()) return;
    const CardAccount& card = found->second;
    Groups& groups = groups_[device];
    const bool is_gone = freed != nullptr;
    const ProgramPosition& last = is_gone ? freed->at_request : run_.position();
    card.AddTo(groups.now, address, block, is_gone, last);
    if (card.WasAtPeak(block, is_gone ? freed->sequence : ~uint64_t{0})) {
      card.AddTo(groups.at_peak, address, block, is_gone, last);
    }
  }

  void Position(std::string_view key, const ProgramPosition& position) {
    json_.Begin(key, '{');
    json_.Number("step", position.step);
    json_.Text("phase", trace::PhaseName(position.phase));
    json_.End('}');
  }

  void Failures() {
    json_.Number("out_of_memory", run_.failures());
    if (run_.failures() == 0) return;
    const trace::OutOfMemory& last = run_.last_failure().event;
    json_.Begin("last_out_of_memory", '{');
    json_.Number("device", static_cast<uint32_t>(last.device));
    json_.Number("requested", last.requested);
    json_.Number("allocated", last.allocated);
    json_.Number("obtainable", last.obtainable);
    json_.Text("owner", names_.Text(last.owner));
    Position("at", run_.last_failure().at);
    if (const trace::CardLedger* card = trace::FailedCard(last))
      json_.Text("cause", trace::FailureCauseName(trace::CauseOfFailure(last, *card)));
    Stack(names_.Stack(last.stack));
    json_.End('}');
  }

  // Writes [file, function, line], innermost first: the innermost frame, and those that are not in
  // folders of libraries.
  void Stack(const std::vector<trace::Frame>& stack) {
    json_.Begin("stack", '[');
    size_t room = most_rows_ / kRowsOfFrame;
    for (size_t i = 0; i < stack.size() && room > 0; ++i) {
      if (i > 0 && trace::IsInLibraryFolder(stack[i].file)) continue;
      AddFrame(stack[i]);
      --room;
    }
    json_.End(']');
  }
  void AddFrame(const trace::Frame& frame) {
    json_.Begin('[');
    json_.Text(EndOfPath(frame.file), kMostFileText);
    json_.Text(frame.function);
    json_.Number(frame.line);
    json_.End(']');
  }

  void Card(DeviceIndex device, const CardAccount& card) {
    Groups& groups = groups_[device];
    json_.Begin('{');
    json_.Number("index", static_cast<uint32_t>(device));
    json_.Number("live_requested", card.live_requested());
    json_.Number("live_allocated", card.live_allocated());
    json_.Number("waiting_requested", groups.waiting_requested);
    json_.Number("waiting_allocated", groups.waiting_allocated);
    json_.Number("reserved", card.mapped.bytes());
    json_.Number("peak_reserved", card.mapped.most_bytes());
    Rows("now", groups.now);
    json_.Begin("peak", '{');
    json_.Number("bytes", card.peak().bytes);
    json_.Number("allocated", card.peak().allocated);
    json_.Number("reserved", card.peak().reserved);
    Position("at", card.peak().at);
    Rows("held", groups.at_peak);
    json_.End('}');
    json_.Begin("live_at_steps", '[');
    for (const uint64_t level : card.live_at_steps()) json_.Number(level);
    json_.End(']');
    if (card.sample) Sample(*card.sample);
    json_.End('}');
  }

  void Sample(const trace::CardLedger& sample) {
    json_.Begin("sample", '{');
    for (const trace::CardField& field : trace::kCardFields) {
      json_.Number(field.name, sample.*field.value);
    }
    json_.End('}');
  }

  // Writes [role, owner, bytes], largest first; the rest is combined under "(other)".
  void Rows(std::string_view key, const GroupSums& sums) {
    using Row = std::pair<std::pair<trace::Role, trace::StringId>, Bytes>;
    std::vector<Row> rows(sums.begin(), sums.end());
    std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
      return std::pair(b.second, a.first) < std::pair(a.second, b.first);
    });
    json_.Begin(key, '[');
    Bytes rest = 0;
    for (size_t i = 0; i < rows.size(); ++i) {
      if (i >= most_rows_) {
        rest += rows[i].second;
      } else if (rows[i].second > 0) {
        AddRow(trace::RoleName(rows[i].first.first),
               rows[i].first.second == 0 ? "(none)" : names_.Text(rows[i].first.second),
               rows[i].second);
      }
    }
    if (rest > 0) AddRow("(other)", "(other)", rest);
    json_.End(']');
  }
  void AddRow(std::string_view role, std::string_view owner, Bytes bytes) {
    json_.Begin('[');
    json_.Text(role);
    json_.Text(owner);
    json_.Number(bytes);
    json_.End(']');
  }

  const RunAccount& run_;
  const trace::DefinitionWriter& names_;
  const uint64_t lost_events_;
  std::map<DeviceIndex, Groups> groups_;
  JsonWriter json_;
  size_t most_rows_ = kMostRows;
};

}  // namespace

std::string SummaryText(const LiveTable& live, const RunAccount& run,
                        const trace::TraceWriter& writer, const SummaryMoment& moment,
                        size_t most_bytes) {
  SummaryWriter summary(live, run, writer);
  for (size_t rows = kMostRows; rows > 0; rows /= 2) {
    std::string text = summary.Write(moment, {.rows = rows});
    if (text.size() <= most_bytes) return text;
  }
  for (size_t cards = kMostCards / 2; cards > 0; cards /= 2) {
    std::string text = summary.Write(moment, {.rows = 1, .cards = cards});
    if (text.size() <= most_bytes) return text;
  }
  return "";
}

}  // namespace memtrace::recorder
