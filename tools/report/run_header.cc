// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/run_header.h"

#include "tools/report/activity_table.h"
#include "tools/report/command_words.h"
#include "tools/report/plan_report.h"
#include "tools/report/printable.h"
#include "tools/report/quantity.h"

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

// With host values every read is known to be of a true value or not.
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

// The card counts what the host reads back, not what the program then does with it.
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
    return "a memory snapshot of " + FormatCount(explanation.counts.events) + " events, " +
           (run.snapshot == "whole"  ? "from the start of the run on"
            : run.snapshot == "late" ? "which begin in the middle of the run"
                                     : "with a gap where its file was cut") +
           "; what is on a card beside them (context, other processes) is not known";
  }
  return FormatCount(explanation.counts.events) + " events, " +
         (lost == 0 ? "none lost" : FormatCount(lost) + " LOST (figures may be too low)");
}

std::string UnsupportedLine(const SimulationFacts& facts) {
  if (facts.unsupported.empty()) return "";
  std::string calls;
  for (const auto& [name, count] : facts.unsupported) {
    calls += (calls.empty() ? "" : ", ") + Printable(name) + " (" + Times(count) + ")";
  }
  return Wrapped("  calls answered \"not supported\": " + calls, 4);
}

// "  train.py:42 in step: 12 times unknown, answered 0.0 (aten::_local_scalar_dense)"
std::string ReadLines(const SimulationFacts& facts) {
  constexpr size_t kMostLines = 8;
  std::string lines;
  for (size_t i = 0; i < facts.reads.size() && i < kMostLines; ++i) {
    const analysis::HostRead& read = facts.reads[i];
    lines += Wrapped("    " + Printable(read.place) + ": " + Times(read.count) +
                         (read.assumed ? " assumed" : " unknown") +
                         (read.answer.empty() ? "" : ", answered " + Printable(read.answer)) +
                         " (" + Printable(read.operation) + ")",
                     6);
  }
  if (facts.reads.size() > kMostLines) {
    lines += "    and " + FormatCount(facts.reads.size() - kMostLines) + " more lines\n";
  }
  return lines;
}

std::string ReadSection(const SimulationFacts& facts) {
  if (!facts.host_values) {
    const uint64_t reads = facts.device_to_host_copies.value_or(0);
    return reads > 0 ? Wrapped("  the host read values back " + Times(reads), 4) : "";
  }
  return Wrapped("  values read by the host: " + FormatCount(facts.reads_known) + " true, " +
                     FormatCount(facts.reads_assumed) + " assumed, " +
                     FormatCount(facts.reads_unknown) + " unknown",
                 4) +
         ReadLines(facts);
}

std::string FaultLines(const SimulationFacts& facts) {
  std::string lines;
  for (const std::string& fault : facts.first_faults)
    lines += Wrapped("    " + Printable(fault), 6);
  return lines;
}

// A run is one of two bounds, or both at once.
std::string TimingLine(const SimulationFacts& facts) {
  if (facts.events.empty() || !facts.timed_answers) return "";
  const bool eager = facts.events == "eager";
  const std::string how = "  events: " + Printable(facts.events) +
                          (eager ? " (work is done at once)" : " (work is done when waited for)");
  if (*facts.timed_answers == 0) return Wrapped(how + "; the other timing gives the same run", 4);
  return Wrapped(how + "; the program was told " + Times(*facts.timed_answers) +
                     " what the other timing would have told otherwise: this run is the " +
                     (eager ? "lower" : "upper") + " bound, --events " +
                     (eager ? "lazy" : "eager") + " gives the other",
                 4);
}

std::string CountLine(const std::optional<uint64_t>& count, const std::string& what) {
  return count ? Wrapped("  " + FormatCount(*count) + " " + what, 4) : "";
}

// "rank 3 of 8": of a job of several processes.
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

std::string RunHeader(const analysis::Explanation& explanation, const RunFacts& run) {
  const std::string banner = PartialBanner(run.completeness);
  const std::string command = Shortened(Printable(ShortCommand(run, Columns())), Columns());
  const std::string kept = KeptBanner(run.completeness);
  return (banner.empty() ? "" : Wrapped(banner, 0) + "\n") +
         (kept.empty() ? "" : Wrapped(kept, 0) + "\n") +
         (run.repaired.empty() ? ""
                               : Wrapped("REPAIRED: of " + Printable(run.repaired), 0) + "\n") +
         JoinedByDots({Printable(run.file), command, RankText(run), Versions(run), CardText(run)}) +
         JoinedByDots({SteeringText(run), PlanLine(run), EventText(explanation, run),
                       ActivityText(explanation.activities),
                       run.completeness.closed ? "" : "file not closed: killed or still running"});
}

std::string SimulationSection(const RunFacts& run) {
  if (!run.simulated) return "";
  const SimulationFacts& facts = run.simulation;
  const std::string counts =
      CountLine(facts.kernel_launches, "kernel launches counted, none run") + ReadSection(facts) +
      (facts.copies_dropped.value_or(0) > 0
           ? CountLine(facts.copies_dropped, "copies not made: too large for the host")
           : "") +
      (facts.faults.value_or(0) > 0
           ? CountLine(facts.faults,
                       "FAULTS: memory touched when it was gone, or taken away when in use") +
                 FaultLines(facts)
           : "") +
      CountLine(facts.assumed_workspaces,
                "library calls (cuDNN, cuSOLVER) whose workspaces are assumed, "
                "docs/simulated-card.md says how") +
      TimingLine(facts) + UnsupportedLine(facts);
  return "\n" +
         Wrapped(
             "WHAT WAS SIMULATED  (sizes, addresses and failures are exact; values and times are "
             "not)",
             2) +
         (counts.empty() ? "  the process left no counts in the trace\n" : counts);
}

}  // namespace memtrace::report
