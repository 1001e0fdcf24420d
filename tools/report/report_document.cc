// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/report_document.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "messages/message.h"
#include "tools/report/map_report.h"
#include "tools/report/run_header.h"
#include "tools/report/sections/activity_table.h"
#include "tools/report/sections/cards_table.h"
#include "tools/report/sections/fragmentation_table.h"
#include "tools/report/sections/growth_table.h"
#include "tools/report/sections/holder_table.h"
#include "tools/report/sections/ledger_table.h"
#include "tools/report/sections/moved/sleep_section.h"
#include "tools/report/sections/moved/spill_section.h"
#include "tools/report/sections/next_commands.h"
#include "tools/report/sections/outside_table.h"
#include "tools/report/sections/peak_section.h"
#include "tools/report/sections/remedy_table.h"
#include "tools/report/sections/request_facts.h"
#include "tools/report/sections/top_holders.h"
#include "tools/report/sections/verdict_text.h"
#include "tools/report/words/printable.h"
#include "tools/report/words/text_document.h"

namespace memtrace::report {
namespace {

using analysis::Explanation;

// The remedies of the first screen.

struct Meaning {
  std::string_view id;  // of the section
  std::string_view sentence;
};

// A sentence a section, for those who see it the first time.
constexpr std::array kMeanings = {
    Meaning{"request", Marked("The request that failed, and the code that made it.")},
    Meaning{"card", Marked("Where every byte of the card is: the rows add up to its size.")},
    Meaning{"cards", Marked("Each card at its own peak, or when the request failed.")},
    Meaning{"holders",
            Marked("The largest groups of blocks in use: what they are, and where they are from.")},
    Meaning{"outside",
            Marked("Memory that the process took from the driver without torch's allocator.")},
    Meaning{"sleep", Marked("Memory under movable tags that slept off the card.")},
    Meaning{"spill",
            Marked("Memory of the card that moved to the host, because the card was full.")},
    Meaning{"idle", Marked("Blocks in use that no kernel has written for a long time.")},
    Meaning{"growth", Marked("What is in use when a step begins, and grows from step to step.")},
    Meaning{"scratch", Marked("The operations that needed most temporary memory.")},
    Meaning{
        "fragmentation",
        Marked("Free memory between blocks, and the blocks that keep it from being given back.")},
    Meaning{"segments", Marked("What lies at which address.")},
    Meaning{"peak", Marked("The moment when the program had most memory in use.")},
    Meaning{"remedies", Marked("Changes, the least effort first, and what the card must hold with "
                               "each.")},
};

std::string MeaningOf(std::string_view id) {
  const auto* found = std::find_if(kMeanings.begin(), kMeanings.end(),
                                   [id](const Meaning& each) { return each.id == id; });
  return found == kMeanings.end() ? "" : MessageOf(found->sentence);
}

Section VerdictSection(const VerdictText& verdict) {
  return {.id = "verdict", .parts = {Paragraph{JoinedSentences(verdict.first)}}};
}

Section OtherSentences(const VerdictText& verdict) {
  Section section{.id = "more", .title = Message("MORE ABOUT THE VERDICT")};
  for (const std::string& sentence : verdict.others)
    section.parts.emplace_back(Paragraph{sentence});
  return section;
}

}  // namespace

Document FirstScreen(const Explanation& explanation, const analysis::RunFacts& run,
                     FirstScreenSize size) {
  const analysis::CardExplanation& card = explanation.card_of_verdict();
  Document document = RunSections(explanation.run, run);
  for (const Section& section :
       {VerdictSection(VerdictTextOf(explanation)),
        TopHolderSection(card, explanation.holders, size.holders),
        RemedySection(card, explanation.cures, explanation.failure, size.remedies),
        Section{.id = "next", .parts = {NextCommands(explanation, run)}}}) {
    if (!section.parts.empty()) document.push_back(section);
  }
  return document;
}

Document FirstScreenOfTerminal(const Explanation& explanation, const analysis::RunFacts& run) {
  constexpr std::ptrdiff_t kLines = 25;
  constexpr std::array<FirstScreenSize, 5> kSizes = {{{5, 2}, {4, 2}, {3, 2}, {2, 2}, {3, 1}}};
  Document screen;
  for (const FirstScreenSize size : kSizes) {
    screen = FirstScreen(explanation, run, size);
    const std::string text = TextOf(screen);
    if (std::count(text.begin(), text.end(), '\n') <= kLines) break;
  }
  return screen;
}

Document EvidenceSections(const Explanation& explanation, const analysis::RunFacts& run) {
  const analysis::CardExplanation& card = explanation.card_of_verdict();
  Document document;
  for (Section section :
       {OtherSentences(VerdictTextOf(explanation)), RequestSection(explanation.failure.request),
        LedgerSection(explanation, run.simulation), CardsSection(explanation),
        HolderSection(explanation), OutsideSection(card.index, explanation.holders, run.simulation),
        SleepSection(card.index, explanation.holders),
        SpillSection(card.index, explanation.holders, run.simulation),
        IdleSection(explanation.holders), GrowthSection(explanation), ScratchSection(explanation),
        FragmentationSection(explanation), MapSection(explanation.layout), PeakSection(card),
        SimulationSection(run), AllRemediesSection(card, explanation.cures)}) {
    if (section.parts.empty()) continue;
    section.meaning = MeaningOf(section.id);
    document.push_back(std::move(section));
  }
  document.push_back(
      {.id = "json",
       .parts = {Paragraph{
           Message("All rows with exact bytes: memtrace report --json $0", Printable(run.file))}}});
  return document;
}

Document WholeReport(const Explanation& explanation, const analysis::RunFacts& run) {
  Document document = FirstScreenOfTerminal(explanation, run);
  for (Section& section : EvidenceSections(explanation, run))
    document.push_back(std::move(section));
  return document;
}

}  // namespace memtrace::report
