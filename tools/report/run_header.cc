// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/run_header.h"

#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "messages/message.h"
#include "tools/report/plan_report.h"
#include "tools/report/sections/activity_table.h"
#include "tools/report/words/command_words.h"
#include "tools/report/words/printable.h"
#include "tools/report/words/quantity.h"

namespace memtrace::report {
namespace {

using analysis::RunFacts;
using analysis::SimulationFacts;

std::string AllocatorText(const RunFacts& run) {
  if (run.allocator.empty()) return "";
  if (run.allocator == "native") return Message("torch's own allocator");
  return Message("$0 allocator", Printable(run.allocator));
}

std::string NoReadsText() {
  return Message(
      "The host read no value back from the card, so unknown values cannot have changed what the "
      "program did.");
}

// Returns the reason to doubt a simulated run; empty if there is none. With host values, the trace
// says for every read if the value was true. Without them, the card only counts the reads.
std::string DoubtText(const SimulationFacts& facts) {
  if (facts.host_values) {
    if (facts.reads_unknown + facts.reads_assumed == 0) return "";
    return Message(
        "The host read values that no kernel had computed (reads: $0 unknown, $1 assumed); they "
        "may have changed what the program did.",
        FormatCount(facts.reads_unknown), FormatCount(facts.reads_assumed));
  }
  const std::optional<uint64_t>& reads = facts.device_to_host_copies;
  if (!reads) {
    return Message(
        "Reads by the host were not counted, so values that were not computed may have changed "
        "what the program did.");
  }
  if (*reads == 0) return "";
  return CountedMessage(
      *reads, "The host read values back once; they may have changed what the program did.",
      "The host read values back $0 times; they may have changed what the program did.",
      FormatCount(*reads));
}

std::string CardText(const RunFacts& run) {
  const std::string card = Printable(run.card);
  if (!run.simulated) return card.empty() ? "" : Message("card $0", card);
  return card.empty() ? Message("simulated card (kernels did not run)")
                      : Message("simulated card $0 (kernels did not run)", card);
}

std::string SnapshotText(const RunFacts& run) {
  if (run.snapshot.empty()) return "";
  const std::string extent =
      run.snapshot == "whole"
          ? Message("This memory snapshot has the events from the start of the run.")
      : run.snapshot == "late"
          ? Message("The events of this memory snapshot begin in the middle of the run.")
          : Message("This memory snapshot has a gap where its file was cut.");
  return JoinedSentences(
      {extent, Message("What else was on a card (context, other processes) is not known.")});
}

// Returns the number of events if some are missing.
std::string EventText(uint64_t events, const RunFacts& run) {
  const trace::Completeness& completeness = run.completeness;
  if (completeness.lost_events > 0) {
    return CountedMessage(completeness.lost_events,
                          "1 event was LOST ($0 were recorded); figures may be too low.",
                          "$1 events were LOST ($0 were recorded); figures may be too low.",
                          FormatCount(events), FormatCount(completeness.lost_events));
  }
  const bool has_all = run.snapshot.empty() || run.snapshot == "whole";
  if (has_all && completeness.whole() && completeness.dropped_events == 0) return "";
  return ReadableEventsText(events);
}

// Returns what is known of kernels if CUPTI missed some.
std::string MissedActivityText(const analysis::ActivityWatch& activities) {
  const bool has_all = activities.was_on() && activities.gaps() == 0 && activities.dropped() == 0;
  return has_all ? "" : ActivityText(activities);
}

// Says in sentences what a simulated card did not do.
class SimulationText {
 public:
  explicit SimulationText(const SimulationFacts& facts) : facts_(facts) {}

  std::vector<Part> Run() {
    AddLaunches();
    AddHostReads();
    AddFaults();
    AddAssumedWorkspaces();
    AddTiming();
    AddUnsupportedCalls();
    if (parts_.empty()) Say(Message("The process left no counts in the trace."));
    return std::move(parts_);
  }

 private:
  void Say(const std::string& text, size_t depth = 0) {
    parts_.emplace_back(Paragraph{text, depth});
  }
  void AddLaunches();
  void AddHostReads();
  void AddRead(const analysis::HostRead& read);
  void AddFaults();
  void AddAssumedWorkspaces();
  void AddTiming();
  void AddUnsupportedCalls();

  const SimulationFacts& facts_;
  std::vector<Part> parts_;
};

void SimulationText::AddLaunches() {
  if (!facts_.kernel_launches) return;
  Say(CountedMessage(*facts_.kernel_launches, "1 kernel launch was counted; it did not run.",
                     "$0 kernel launches were counted; none ran.",
                     FormatCount(*facts_.kernel_launches)));
}

void SimulationText::AddHostReads() {
  constexpr size_t kMostLines = 8;
  if (!facts_.host_values) {
    if (!facts_.device_to_host_copies) return;
    const uint64_t reads = *facts_.device_to_host_copies;
    return Say(reads == 0
                   ? NoReadsText()
                   : CountedMessage(reads, "The host read values back once.",
                                    "The host read values back $0 times.", FormatCount(reads)));
  }
  const uint64_t doubtful = facts_.reads_assumed + facts_.reads_unknown;
  if (facts_.reads_known + doubtful == 0) return Say(NoReadsText());
  Say(JoinedSentences(
      {Message("Reads of values by the host: $0 true, $1 assumed, $2 unknown.",
               FormatCount(facts_.reads_known), FormatCount(facts_.reads_assumed),
               FormatCount(facts_.reads_unknown)),
       doubtful > 0 ? ""
                    : Message("All were true, so unknown values cannot have changed what the "
                              "program did.")}));
  for (size_t i = 0; i < facts_.reads.size() && i < kMostLines; ++i) AddRead(facts_.reads[i]);
  if (facts_.reads.size() > kMostLines) {
    const uint64_t more = facts_.reads.size() - kMostLines;
    Say(CountedMessage(more, "1 more line is left out.", "$0 more lines are left out.",
                       FormatCount(more)),
        1);
  }
}

// Says "train.py:42 in step: 12 reads of unknown values (aten::_local_scalar_dense). The answer was
// 0.0."
void SimulationText::AddRead(const analysis::HostRead& read) {
  const std::string place = Printable(read.place);
  const std::string operation = Printable(read.operation);
  const std::string count = FormatCount(read.count);
  const std::string what =
      read.assumed
          ? CountedMessage(read.count, "$0: 1 read of assumed values ($1).",
                           "$0: $2 reads of assumed values ($1).", place, operation, count)
          : CountedMessage(read.count, "$0: 1 read of unknown values ($1).",
                           "$0: $2 reads of unknown values ($1).", place, operation, count);
  const std::string answer =
      read.answer.empty() ? "" : Message("The answer was $0.", Printable(read.answer));
  Say(JoinedSentences({what, answer}), 1);
}

void SimulationText::AddFaults() {
  if (const uint64_t dropped = facts_.copies_dropped.value_or(0); dropped > 0) {
    Say(CountedMessage(dropped, "1 copy was not made because it was too large for the host.",
                       "$0 copies were not made because they were too large for the host.",
                       FormatCount(dropped)));
  }
  if (const uint64_t faults = facts_.faults.value_or(0); faults > 0) {
    Say(CountedMessage(faults,
                       "1 FAULT: memory was used or given to a kernel after it was gone, or taken "
                       "away while in use.",
                       "$0 FAULTS: memory was used or given to a kernel after it was gone, or "
                       "taken away while in use.",
                       FormatCount(faults)));
    for (const std::string& fault : facts_.first_faults) Say(Printable(fault), 1);
  }
}

void SimulationText::AddAssumedWorkspaces() {
  if (!facts_.assumed_workspaces) return;
  Say(CountedMessage(*facts_.assumed_workspaces,
                     "1 library call (cuDNN, cuSOLVER) has a workspace whose size is assumed; "
                     "memtrace explain workspaces says more.",
                     "$0 library calls (cuDNN, cuSOLVER) have workspaces whose size is assumed; "
                     "memtrace explain workspaces says more.",
                     FormatCount(*facts_.assumed_workspaces)));
}

// Says which of two bounds the run is; it may be both.
void SimulationText::AddTiming() {
  const bool is_eager = facts_.events == "eager";
  if (!facts_.timed_answers || (!is_eager && facts_.events != "lazy")) return;
  const std::string how =
      is_eager ? Message("Events: eager (work is done at once).")
               : Message("Events: lazy (work is done only when the host waits for it).");
  const uint64_t answers = *facts_.timed_answers;
  if (answers == 0)
    return Say(JoinedSentences({how, Message("The other timing gives the same run.")}));
  Say(JoinedSentences(
      {how,
       CountedMessage(answers, "1 answer to the program would be different with the other timing.",
                      "$0 answers to the program would be different with the other timing.",
                      FormatCount(answers)),
       is_eager ? Message("This run is the lower bound; --events lazy gives the upper one.")
                : Message("This run is the upper bound; --events eager gives the lower one.")}));
}

void SimulationText::AddUnsupportedCalls() {
  if (facts_.unsupported.empty()) return;
  std::string calls;
  for (const auto& [name, count] : facts_.unsupported) {
    calls += (calls.empty() ? "" : ", ") + Printable(name) + " (" + FormatCount(count) + ")";
  }
  Say(Message("Calls answered \"not supported\", with their number: $0.", calls));
}

// Returns "rank 3 of 8" for one process of several, and how many of these were not started.
std::string RankText(const RunFacts& run) {
  if (run.rank.empty() || run.world_size.empty() || run.world_size == "1") return "";
  const uint64_t started = run.real_ranks.size();
  uint64_t world = 0;
  if (started == 0 || !absl::SimpleAtoi(run.world_size, &world) || world <= started)
    return Message("rank $0 of $1", Printable(run.rank), Printable(run.world_size));
  return Message("rank $0 of $1, $2 of which are virtual", Printable(run.rank), FormatCount(world),
                 FormatCount(world - started));
}

}  // namespace

std::string ReadableEventsText(uint64_t events) {
  return CountedMessage(events, "1 event can be read.", "$0 events can be read.",
                        FormatCount(events));
}

std::string NotClosedText(const trace::Completeness& completeness) {
  if (completeness.closed) return "";
  return Message("The file was not closed: the process was killed or is still running.");
}

std::string DamageText(const trace::Completeness& completeness) {
  std::string blocks;
  if (completeness.damaged_blocks > 0) {
    blocks =
        CountedMessage(completeness.damaged_blocks, "1 damaged block is left out.",
                       "$0 damaged blocks are left out.", FormatCount(completeness.damaged_blocks));
  }
  std::string end;
  if (completeness.truncated_bytes > 0) {
    end = CountedMessage(completeness.truncated_bytes,
                         "The file is cut short: its last byte is not part of a whole record.",
                         "The file is cut short: its last $0 bytes are not part of a whole record.",
                         FormatCount(completeness.truncated_bytes));
  } else if (completeness.end_missing) {
    end = Message("The file is cut short.");
  }
  return JoinedSentences(
      {blocks, end,
       Message("The first fault is at byte $0.", FormatCount(completeness.first_bad_offset))});
}

std::string PartialBanner(const trace::Completeness& completeness) {
  if (completeness.whole()) return "";
  return Message("PARTIAL: $0 Figures cover only what can be read.", DamageText(completeness));
}

std::string KeptBanner(const trace::Completeness& completeness) {
  if (completeness.dropped_events == 0) return "";
  const std::string begin =
      completeness.live_set_missing
          ? Message("The recording begins in the middle of the run.")
          : Message("The recording begins at step $0.", FormatCount(completeness.begins_at_step));
  const std::string dropped = CountedMessage(
      completeness.dropped_events, "1 older event was dropped, as requested with --keep ($0).",
      "$1 older events were dropped, as requested with --keep ($0).",
      FormatBytes(completeness.kept_bytes), FormatCount(completeness.dropped_events));
  if (!completeness.live_set_missing) return JoinedSentences({begin, dropped});
  return JoinedSentences({begin, dropped,
                          Message("The blocks in use at that time are not known, because their "
                                  "list did not fit: use a larger --keep.")});
}

Document RunSections(const analysis::ExplainedRun& recorded, const RunFacts& run) {
  const std::string repaired =
      run.repaired.empty() ? "" : Message("REPAIRED from $0", Printable(run.repaired));
  Document sections;
  for (const std::string& banner :
       {PartialBanner(run.completeness), KeptBanner(run.completeness), repaired}) {
    if (!banner.empty()) sections.push_back({.id = "missing", .parts = {Paragraph{banner}}});
  }
  const std::string command = Shortened(Printable(ShortCommand(run, Columns())), Columns());
  Section section{.id = "run",
                  .parts = {Clauses{{Printable(run.file), command, RankText(run),
                                     run.torch.empty() ? "" : "torch " + Printable(run.torch),
                                     AllocatorText(run), CardText(run), PlanLine(run)}}}};
  for (const std::string& sentence :
       {run.simulated ? DoubtText(run.simulation) : "", SnapshotText(run),
        EventText(recorded.counts.events, run), MissedActivityText(recorded.activities),
        NotClosedText(run.completeness)}) {
    if (!sentence.empty()) section.parts.emplace_back(Paragraph{sentence});
  }
  sections.push_back(std::move(section));
  return sections;
}

Section SimulationSection(const RunFacts& run) {
  Section section{
      .id = "simulated",
      .title = Message("WHAT WAS SIMULATED"),
      .subtitle = Message("(sizes, addresses and failures are exact; values and times are not)")};
  if (run.simulated) section.parts = SimulationText(run.simulation).Run();
  return section;
}

}  // namespace memtrace::report
