// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/text_report.h"

#include <algorithm>

#include "tools/analysis/frames.h"
#include "tools/report/activity_table.h"
#include "tools/report/fragmentation_table.h"
#include "tools/report/growth_table.h"
#include "tools/report/holder_table.h"
#include "tools/report/ledger_table.h"
#include "tools/report/map_report.h"
#include "tools/report/outside_table.h"
#include "tools/report/printable.h"
#include "tools/report/quantity.h"
#include "tools/report/run_header.h"
#include "tools/report/verdict_text.h"

namespace memtrace::report {
namespace {

using analysis::Explanation;
using analysis::RunFacts;

// Frames shown of the way from the user's line into the libraries, and of the way to it.
constexpr size_t kFramesEachWay = 4;
// Native ones, of which the first few are the allocation's own and say nothing of the operation.
constexpr size_t kNativeFrames = 16;

std::string VerdictSection(const Explanation& explanation) {
  std::string text;
  for (const std::string& sentence : VerdictSentences(explanation)) {
    text += (text.empty() ? "" : " ") + sentence;
  }
  return Wrapped(text, 0);
}

std::string FrameLine(std::string_view title, const trace::Frame& frame) {
  std::string place = Printable(analysis::ShortFrame(frame));
  if (!analysis::IsNative(frame)) place += "  " + Printable(frame.function);
  return "  " + LeftAligned(title, 11) + Shortened(place, Columns() - 13) + "\n";
}

std::string FrameLines(std::string_view title, const trace::Frame* first,
                       const trace::Frame* last) {
  std::string lines;
  size_t native = 0;
  size_t python = 0;
  for (const trace::Frame* frame = first; frame != last; ++frame) {
    size_t& count = analysis::IsNative(*frame) ? native : python;
    if (native == kNativeFrames || python == kFramesEachWay) break;
    lines += FrameLine(native + python == 0 ? title : "", *frame);
    ++count;
  }
  const size_t shown = native + python;
  const auto all = static_cast<size_t>(last - first);
  if (all > shown) {
    lines += std::string(13, ' ') + "… " + std::to_string(all - shown) + " more\n";
  }
  return lines;
}

// The user's own line first: it is the one that can be changed.
std::string StackLines(const std::vector<trace::Frame>& stack) {
  if (stack.empty()) return "  no stack was taken\n";
  const trace::Frame* begin = stack.data();
  const trace::Frame* end = begin + stack.size();
  const trace::Frame* user = analysis::InnermostUserFrame(stack);
  if (user == nullptr) return FrameLines("at", begin, end);
  return FrameLine("at", *user) + FrameLines("inside", begin, user) +
         FrameLines("called by", user + 1, end);
}

std::string RequestSection(const Explanation& explanation) {
  if (!explanation.request) return "";
  const analysis::Request& request = *explanation.request;
  std::string what = std::string(RoleName(request.role));
  what += request.role == trace::Role::kUnknown
              ? " role"
              : " (" + std::string(EvidenceName(request.evidence)) + ")";
  if (request.owner != "(none)") what += ", owner " + Printable(request.owner);
  what += ", site " + Printable(request.site);
  return "\nTHE REQUEST  " + FormatBytes(request.bytes) + "\n" +
         Wrapped("  asked for  " + what, 13) + StackLines(request.stack);
}

std::string PeakSection(const Explanation& explanation) {
  const analysis::CardExplanation& card = explanation.cards[explanation.card];
  if (card.peak.bytes == 0) return "";
  return "\n" +
         Wrapped("PEAK  " + FormatBytes(card.peak.bytes) + " requested at one instant, " +
                     DescribePosition(card.peak_at) + "; exact, by replay of the trace",
                 6) +
         ShareTables(card.peak);
}

std::string OtherCardsSection(const Explanation& explanation) {
  if (explanation.cards.size() < 2) return "";
  std::string text = "\nOTHER CARDS\n";
  for (size_t i = 0; i < explanation.cards.size(); ++i) {
    if (i == explanation.card) continue;
    const analysis::CardExplanation& card = explanation.cards[i];
    text += "  card " + std::to_string(card.index) + ": " +
            FormatBytes(card.ledger.positive("live")) + " live and " +
            FormatBytes(card.ledger.positive("free")) + " free of " +
            FormatBytes(card.ledger.total) + "; peak " + FormatBytes(card.peak.bytes) + "\n";
  }
  return text;
}

// Which step decides, where there are two to choose from.
std::string Deciding(const Explanation& explanation, const analysis::Remedy& remedy,
                     uint64_t total) {
  if (!remedy.next_step || *remedy.next_step <= remedy.this_step) return "";
  const std::string next = "step " + std::to_string(explanation.next_step->number);
  const std::string need = FormatBytes(*remedy.next_step);
  if (remedy.this_step <= total && *remedy.next_step > total) {
    return "fits this step (" + FormatBytes(remedy.this_step) + "); " + next + " needs " + need +
           ", because the states stay";
  }
  return "from " + next + " on, because the states stay: " + need + " (this one " +
         FormatBytes(remedy.this_step) + ")";
}

std::string NeedText(const analysis::Remedy& remedy, const analysis::Ledger& ledger) {
  const std::string need = FormatBytes(remedy.need());
  if (remedy.at_least) return "at least " + need;
  return need + (ledger.total_known && remedy.need() <= ledger.total ? ", fits" : "");
}

std::string RemedyLine(size_t number, const Explanation& explanation,
                       const analysis::Remedy& remedy) {
  const analysis::Ledger& ledger = explanation.cards[explanation.card].ledger;
  const std::string deciding = Deciding(explanation, remedy, ledger.total);
  const std::string cost = remedy.cost.empty() ? "" : "; costs: " + remedy.cost;
  return "  " + std::to_string(number) + " " + LeftAligned(remedy.name, 21) +
         LeftAligned(NeedText(remedy, ledger), 20) + std::string(remedy.how_known) + "\n" +
         Wrapped("    " + Printable(remedy.change + cost), 4) +
         (deciding.empty() ? "" : Wrapped("    " + deciding, 4));
}

std::string RemedySection(const Explanation& explanation) {
  constexpr size_t kRemedies = 6;
  if (explanation.remedies.empty()) return "";
  const std::string_view title = explanation.request ? "WHAT WOULD HELP" : "WHAT WOULD TAKE LESS";
  std::string text =
      "\n" + LeftAligned(title, 25) + LeftAligned("need of the card", 20) + "how known\n";
  size_t number = 0;
  for (const analysis::Remedy& remedy : explanation.remedies) {
    if (number == kRemedies) break;
    text += RemedyLine(++number, explanation, remedy);
  }
  if (explanation.remedies.size() > number)
    text += "  … " + FormatCount(explanation.remedies.size() - number) + " more\n";
  return text;
}

// At most as many as fit two lines or so.
std::string SiblingLine(const RunFacts& run) {
  constexpr size_t kNamed = 8;
  if (run.siblings.empty()) return "";
  std::string names;
  for (size_t i = 0; i < run.siblings.size() && i < kNamed; ++i) {
    names += (names.empty() ? "" : ", ") + Printable(run.siblings[i]);
  }
  if (run.siblings.size() > kNamed) {
    names += ", … " + FormatCount(run.siblings.size() - kNamed) + " more";
  }
  return "\n" + Wrapped("traces of other processes beside it: " + names, 2);
}

// Only commands that exist.
std::string NextSection(const Explanation& explanation, const RunFacts& run) {
  const std::string file = Printable(run.file);
  std::string text =
      SiblingLine(run) + "\nall rows, exact bytes: memtrace report --json " + file + "\n";
  const uint64_t failures = explanation.counts.out_of_memory;
  if (failures > 1 && explanation.request) {
    text +=
        Wrapped("this is out-of-memory " + std::to_string(explanation.request->number) + " of " +
                    std::to_string(failures) + "; another: memtrace report --oom 1 " + file,
                2);
  }
  return text;
}

}  // namespace

std::string TextReport(const Explanation& explanation, const RunFacts& run) {
  return RunHeader(explanation, run) + "\n" + VerdictSection(explanation) +
         RequestSection(explanation) + LedgerTable(explanation) + HolderTable(explanation) +
         OutsideTable(explanation) + IdleTable(explanation) + GrowthTable(explanation) +
         ScratchTable(explanation) + FragmentationTable(explanation) + AddressMap(explanation) +
         PeakSection(explanation) + OtherCardsSection(explanation) + SimulationSection(run) +
         RemedySection(explanation) + NextSection(explanation, run);
}

}  // namespace memtrace::report
