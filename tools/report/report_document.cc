// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/report_document.h"

#include <utility>

#include "tools/report/map_report.h"
#include "tools/report/run_header.h"
#include "tools/report/sections/activity_table.h"
#include "tools/report/sections/cards_table.h"
#include "tools/report/sections/fragmentation_table.h"
#include "tools/report/sections/growth_table.h"
#include "tools/report/sections/holder_table.h"
#include "tools/report/sections/ledger_table.h"
#include "tools/report/sections/outside_table.h"
#include "tools/report/sections/peak_section.h"
#include "tools/report/sections/remedy_table.h"
#include "tools/report/sections/request_facts.h"
#include "tools/report/sections/verdict_text.h"

namespace memtrace::report {
namespace {

using analysis::Explanation;

Section VerdictSection(const Explanation& explanation) {
  std::string text;
  for (const std::string& sentence : VerdictSentences(explanation))
    text += (text.empty() ? "" : " ") + sentence;
  return {.id = "verdict", .parts = {Paragraph{text}}};
}

}  // namespace

Document ReportDocument(const Explanation& explanation, const analysis::RunFacts& run) {
  Document document = RunSections(explanation, run);
  for (const Section& section :
       {VerdictSection(explanation), RequestSection(explanation.failure.request),
        LedgerSection(explanation), CardsSection(explanation), HolderSection(explanation),
        OutsideSection(explanation.holders.outside), IdleSection(explanation.holders),
        GrowthSection(explanation), ScratchSection(explanation), FragmentationSection(explanation),
        MapSection(explanation), PeakSection(explanation), SimulationSection(run),
        RemedySection(explanation)}) {
    if (!section.parts.empty()) document.push_back(section);
  }
  return document;
}

}  // namespace memtrace::report
