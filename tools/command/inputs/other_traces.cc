// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command/inputs/other_traces.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <variant>

#include "absl/status/statusor.h"
#include "profiler/trace/events/event.h"
#include "tools/analysis/explanation.h"
#include "tools/analysis/source/frames.h"
#include "tools/command/inputs/trace_input.h"

namespace memtrace::command {
namespace {

using analysis::CardExplanation;
using analysis::Explanation;
using analysis::OtherProcess;

constexpr size_t kMostTraces = 64;  // the most that are opened, and ...
constexpr size_t kMostRead = 4;     // ... read: the largest
// A trace of this size or less is searched for an out-of-memory, which takes about a second.
constexpr uint64_t kLargestLookedAt = uint64_t{64} << 20;

// Returns the same wall-clock time in the other trace; nothing if that began later.
std::optional<uint64_t> TimeInOtherTrace(const analysis::RunFacts& run,
                                         const analysis::RunFacts& other, uint64_t time_ns) {
  if (run.started_unix_ns == 0 || other.started_unix_ns == 0) return std::nullopt;
  const uint64_t when = run.started_unix_ns + time_ns;
  if (when < other.started_unix_ns) return std::nullopt;
  return when - other.started_unix_ns;
}

// Adds the largest holding of `held`.
void AddLargest(const analysis::Breakdown& held, const TraceInput& input,
                OtherProcess::Holdings& holds) {
  if (held.holdings.empty()) return;
  const analysis::Holding& largest = held.holdings.front();
  holds.line = analysis::UserLine(input.Stack(largest.stack));
  holds.largest = std::string(trace::RoleName(largest.role)) + " " + largest.site;
  const bool has_line = !holds.line.empty() && holds.line != largest.site;
  if (has_line) holds.largest += " (" + holds.line + ")";
  holds.largest_bytes = largest.bytes;
  holds.is_of_file = largest.role == trace::Role::kCheckpoint;
}

// Returns CUDA_VISIBLE_DEVICES, which tells how the process numbers its cards.
std::string VisibleCards(const TraceInput& input) {
  const auto found = input.info().find("environment.CUDA_VISIBLE_DEVICES");
  return found == input.info().end() ? "" : found->second;
}

// `device` is the card if both processes number cards alike; without it the fullest card is taken.
std::optional<OtherProcess::Holdings> HoldingsInOtherTrace(const TraceInput& input,
                                                           uint64_t time_ns,
                                                           std::optional<int32_t> device) {
  const absl::StatusOr<Explanation> there =
      analysis::Explain(input, {analysis::MomentSpec::Kind::kTime, time_ns, device});
  if (!there.ok()) return std::nullopt;
  const CardExplanation& card = there->cards[there->card];
  OtherProcess::Holdings holds;
  if (device && card.index != *device) return holds;
  holds.context = card.ledger.positive(analysis::LedgerPart::kContext);
  holds.live = card.ledger.positive(analysis::LedgerPart::kLive);
  holds.has_own_card =
      std::any_of(there->cards.begin(), there->cards.end(), [&card](const CardExplanation& each) {
        return each.index != card.index && each.ledger.positive(analysis::LedgerPart::kLive) > 0;
      });
  AddLargest(there->holders.held, input, holds);
  return holds;
}

// Reads the traces of other processes of the launch.
class OtherTraces {
 public:
  OtherTraces(const TraceInput& input, const analysis::RunFacts& run, CardExplanation& card)
      : input_(input), run_(run), card_(card) {}

  void Read(const std::string& file) {
    const absl::StatusOr<TraceInput> input = TraceInput::Open(file);
    if (!input.ok()) return;
    const analysis::RunFacts facts =
        analysis::ReadRunFacts(file, input->info(), {}, input->completeness());
    OtherProcess* other = facts.host == run_.host ? Find(facts.process) : nullptr;
    if (other == nullptr) return;
    const std::optional<uint64_t> time = TimeInOtherTrace(run_, facts, card_.when.time_ns);
    if (!time) return;
    std::optional<int32_t> device;
    if (VisibleCards(*input) == VisibleCards(input_)) device = card_.index;
    other->holds = HoldingsInOtherTrace(*input, *time, device);
    if (other->holds) other->holds->file = file;
  }

 private:
  OtherProcess* Find(const std::string& process) {
    for (size_t i = 0; i < std::min(card_.others.size(), kMostRead); ++i)
      if (card_.others[i].pid == process) return &card_.others[i];
    return nullptr;
  }

  const TraceInput& input_;
  const analysis::RunFacts& run_;
  CardExplanation& card_;
};

// True if a request failed and nothing was allocated after it: the process did not recover.
bool EndedOutOfMemory(const TraceInput& input) {
  bool has_failed = false;
  input.ForEach([&has_failed](const trace::Event& event) {
    if (std::holds_alternative<trace::OutOfMemory>(event.payload)) has_failed = true;
    if (std::holds_alternative<trace::Allocate>(event.payload)) has_failed = false;
  });
  return has_failed;
}

}  // namespace

void AddMemoryOfOthers(const TraceInput& input, const analysis::RunFacts& run,
                       CardExplanation& card) {
  if (card.others.empty()) return;
  OtherTraces traces(input, run, card);
  for (size_t i = 0; i < std::min(run.siblings.size(), kMostTraces); ++i)
    traces.Read(run.siblings[i]);
}

void AddTracesThatRanOut(const analysis::RunFacts& run, analysis::ExplainedFailure& failure) {
  if (failure.request) return;
  for (size_t i = 0; i < std::min(run.siblings.size(), kMostTraces); ++i) {
    std::error_code error;
    const uint64_t size = std::filesystem::file_size(run.siblings[i], error);
    if (error || size > kLargestLookedAt) continue;
    const absl::StatusOr<TraceInput> input = TraceInput::Open(run.siblings[i]);
    if (input.ok() && EndedOutOfMemory(*input)) failure.ran_out_beside.push_back(run.siblings[i]);
  }
}

}  // namespace memtrace::command
