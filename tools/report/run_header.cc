// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/run_header.h"

#include <utility>

#include "tools/report/plan_report.h"
#include "tools/report/sections/activity_table.h"
#include "tools/report/words/command_words.h"
#include "tools/report/words/printable.h"
#include "tools/report/words/quantity.h"

namespace memtrace::report {
namespace {

using analysis::RunFacts;
using analysis::SimulationFacts;

std::string Versions(const RunFacts& run) {
  std::string text = run.torch.empty() ? "" : "torch " + Printable(run.torch);
  if (run.allocator.empty()) return text;
  const std::string allocator =
      run.allocator == "native" ? "torch's own allocator" : Printable(run.allocator) + " allocator";
  return text + (text.empty() ? "" : ", ") + allocator;
}

std::string Times(uint64_t count) { return count == 1 ? "once" : FormatCount(count) + " times"; }

std::string CardText(const RunFacts& run) {
  std::string card = run.card.empty() ? "" : "card " + Printable(run.card);
  if (!run.simulated) return card;
  return (card.empty() ? "card" : card) + ", SIMULATED: kernels did not run";
}

// With host values, the trace says for every read if the value was true.
std::string KnownSteeringText(const SimulationFacts& facts) {
  if (facts.reads_unknown + facts.reads_assumed == 0) {
    return facts.reads_known == 0
               ? "the host read no value back from the card: none steered the run"
               : "all values that the host read back were true ones: no unknown value steered the "
                 "run";
  }
  if (facts.reads_unknown == 0) {
    return "the host read assumed values " + Times(facts.reads_assumed) +
           ", which may have steered the run, and no unknown ones";
  }
  return "the host read unknown values " + Times(facts.reads_unknown) +
         (facts.reads_assumed > 0 ? " and assumed ones " + Times(facts.reads_assumed) : "") +
         "; kernels did not run, so they may have steered the run";
}

// The card counts the values that the host reads back, not what the program does with them.
std::string SteeringText(const RunFacts& run) {
  if (!run.simulated) return "";
  if (run.simulation.host_values) return KnownSteeringText(run.simulation);
  const std::optional<uint64_t>& reads = run.simulation.device_to_host_copies;
  if (!reads) return "whether values that were not computed steered the run was not counted";
  if (*reads == 0) return "the host read no value back from the card: none steered the run";
  return "the host read values back " + Times(*reads) +
         "; kernels did not run, so they may have steered the run";
}

std::string EventText(const analysis::Explanation& explanation, const RunFacts& run) {
  const uint64_t lost = run.completeness.lost_events;
  if (!run.snapshot.empty()) {
    return "a memory snapshot of " + FormatCount(explanation.run.counts.events) + " events, " +
           (run.snapshot == "whole"  ? "from the start of the run on"
            : run.snapshot == "late" ? "which begin in the middle of the run"
                                     : "with a gap where its file was cut") +
           "; what is on a card beside them (context, other processes) is not known";
  }
  return FormatCount(explanation.run.counts.events) + " events, " +
         (lost == 0 ? "none lost" : FormatCount(lost) + " LOST (figures may be too low)");
}

// Says in sentences what a simulated card did not do.
class SimulationText {
 public:
  explicit SimulationText(const SimulationFacts& facts) : facts_(facts) {}

  std::vector<Part> Run() {
    Count(facts_.kernel_launches, "kernel launches counted, none run");
    AddHostReads();
    if (facts_.copies_dropped.value_or(0) > 0)
      Count(facts_.copies_dropped, "copies not made: too large for the host");
    if (facts_.faults.value_or(0) > 0) {
      Count(facts_.faults, "FAULTS: memory touched when it was gone, or taken away when in use");
      for (const std::string& fault : facts_.first_faults) Say(Printable(fault), 1);
    }
    Count(facts_.assumed_workspaces,
          "library calls (cuDNN, cuSOLVER) whose workspaces are assumed, "
          "docs/design/simulated-card.md says how");
    AddTiming();
    AddUnsupportedCalls();
    if (parts_.empty()) Say("the process left no counts in the trace");
    return std::move(parts_);
  }

 private:
  void Say(const std::string& text, size_t depth = 0) {
    parts_.emplace_back(Paragraph{text, depth});
  }
  void Count(const std::optional<uint64_t>& count, const std::string& what) {
    if (count) Say(FormatCount(*count) + " " + what);
  }
  void AddHostReads();
  void AddTiming();
  void AddUnsupportedCalls();

  const SimulationFacts& facts_;
  std::vector<Part> parts_;
};

// Returns "train.py:42 in step: 12 times unknown, answered 0.0 (aten::_local_scalar_dense)".
void SimulationText::AddHostReads() {
  constexpr size_t kMostLines = 8;
  if (!facts_.host_values) {
    const uint64_t reads = facts_.device_to_host_copies.value_or(0);
    if (reads > 0) Say("the host read values back " + Times(reads));
    return;
  }
  Say("values read by the host: " + FormatCount(facts_.reads_known) + " true, " +
      FormatCount(facts_.reads_assumed) + " assumed, " + FormatCount(facts_.reads_unknown) +
      " unknown");
  for (size_t i = 0; i < facts_.reads.size() && i < kMostLines; ++i) {
    const analysis::HostRead& read = facts_.reads[i];
    Say(Printable(read.place) + ": " + Times(read.count) +
            (read.assumed ? " assumed" : " unknown") +
            (read.answer.empty() ? "" : ", answered " + Printable(read.answer)) + " (" +
            Printable(read.operation) + ")",
        1);
  }
  if (facts_.reads.size() > kMostLines)
    Say("and " + FormatCount(facts_.reads.size() - kMostLines) + " more lines", 1);
}

// Says which of two bounds the run is; it may be both.
void SimulationText::AddTiming() {
  if (facts_.events.empty() || !facts_.timed_answers) return;
  const bool eager = facts_.events == "eager";
  const std::string how = "events: " + Printable(facts_.events) +
                          (eager ? " (work is done at once)" : " (work is done when waited for)");
  if (*facts_.timed_answers == 0) return Say(how + "; the other timing gives the same run");
  Say(how + "; the program was told " + Times(*facts_.timed_answers) +
      " what the other timing would have told otherwise: this run is the " +
      (eager ? "lower" : "upper") + " bound, --events " + (eager ? "lazy" : "eager") +
      " gives the other");
}

void SimulationText::AddUnsupportedCalls() {
  if (facts_.unsupported.empty()) return;
  std::string calls;
  for (const auto& [name, count] : facts_.unsupported) {
    calls += (calls.empty() ? "" : ", ") + Printable(name) + " (" + Times(count) + ")";
  }
  Say("calls answered \"not supported\": " + calls);
}

// Returns "rank 3 of 8" for one process of several.
std::string RankText(const RunFacts& run) {
  if (run.rank.empty() || run.world_size.empty() || run.world_size == "1") return "";
  return "rank " + Printable(run.rank) + " of " + Printable(run.world_size);
}

}  // namespace

std::string DamageText(const trace::Completeness& completeness) {
  std::string text;
  if (completeness.damaged_blocks > 0) {
    text += FormatCount(completeness.damaged_blocks) + " damaged block" +
            (completeness.damaged_blocks == 1 ? "" : "s") + " left out";
  }
  if (completeness.truncated_bytes > 0) {
    text += std::string(completeness.damaged_blocks > 0 ? ", " : "") + "cut short, last " +
            FormatCount(completeness.truncated_bytes) + " bytes belong to no whole record";
  } else if (completeness.end_missing) {
    text += "cut short";
  }
  return text + "; first fault at byte " + FormatCount(completeness.first_bad_offset);
}

std::string PartialBanner(const trace::Completeness& completeness) {
  if (completeness.whole()) return "";
  return "PARTIAL: " + DamageText(completeness) + "; figures cover the rest";
}

std::string KeptBanner(const trace::Completeness& completeness) {
  if (completeness.dropped_events == 0) return "";
  std::string text = "recording begins ";
  text += completeness.live_set_missing ? "in the middle"
                                        : "at step " + FormatCount(completeness.begins_at_step);
  text += "; " + FormatCount(completeness.dropped_events) +
          " older events were dropped as asked by --keep (" + FormatBytes(completeness.kept_bytes) +
          ")";
  if (completeness.live_set_missing) {
    text += "; what lived then is not known, because its list did not fit: keep more";
  }
  return text;
}

Document RunSections(const analysis::Explanation& explanation, const RunFacts& run) {
  const std::string repaired =
      run.repaired.empty() ? "" : "REPAIRED: of " + Printable(run.repaired);
  Document sections;
  for (const std::string& banner :
       {PartialBanner(run.completeness), KeptBanner(run.completeness), repaired}) {
    if (!banner.empty()) sections.push_back({.id = "missing", .parts = {Paragraph{banner}}});
  }
  const std::string command = Shortened(Printable(ShortCommand(run, Columns())), Columns());
  const Clauses what = {
      {Printable(run.file), command, RankText(run), Versions(run), CardText(run)}};
  const Clauses trust = {
      {SteeringText(run), PlanLine(run), EventText(explanation, run),
       ActivityText(explanation.run.activities),
       run.completeness.closed ? "" : "file not closed: killed or still running"}};
  sections.push_back({.id = "run", .parts = {what, trust}});
  return sections;
}

Section SimulationSection(const RunFacts& run) {
  Section section{
      .id = "simulated",
      .title = "WHAT WAS SIMULATED",
      .subtitle = "(sizes, addresses and failures are exact; values and times are not)"};
  if (run.simulated) section.parts = SimulationText(run.simulation).Run();
  return section;
}

}  // namespace memtrace::report
