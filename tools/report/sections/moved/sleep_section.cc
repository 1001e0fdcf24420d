// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/sections/moved/sleep_section.h"

#include <algorithm>
#include <string>
#include <vector>

#include "messages/message.h"
#include "tools/report/sections/moved/moved_rows.h"
#include "tools/report/words/printable.h"
#include "tools/report/words/quantity.h"

namespace memtrace::report {
namespace {

using analysis::MovedBytes;
using trace::MoveKind;

// The sleeps of one tag.
struct Sleeper {
  std::string tag;
  uint64_t first_step = 0;
  uint64_t times = 0;
  uint64_t slept = 0;
  uint64_t woke = 0;
};

// Returns the tags by the bytes that slept, most first.
std::vector<Sleeper> SleepersOf(int32_t card, const analysis::ExplainedHolders& holders) {
  std::vector<Sleeper> sleepers;
  const auto of = [&](const MovedBytes& row) -> Sleeper& {
    const auto found = std::find_if(sleepers.begin(), sleepers.end(),
                                    [&](const Sleeper& each) { return each.tag == row.to; });
    if (found != sleepers.end()) return *found;
    return sleepers.emplace_back(Sleeper{.tag = row.to, .first_step = row.step});
  };
  for (const MovedBytes& row : MovedRows(card, holders, MoveKind::kSlept)) {
    of(row).slept += row.bytes;
    of(row).times += row.times;
  }
  for (const MovedBytes& row : MovedRows(card, holders, MoveKind::kWoke)) of(row).woke += row.bytes;
  std::stable_sort(sleepers.begin(), sleepers.end(),
                   [](const Sleeper& a, const Sleeper& b) { return a.slept > b.slept; });
  return sleepers;
}

std::string SentenceOf(const Sleeper& sleeper) {
  const std::string tag = Printable(sleeper.tag);
  const std::string slept = FormatBytes(sleeper.slept);
  const std::string woke = FormatBytes(sleeper.woke);
  if (sleeper.times == 1 && sleeper.first_step == 0)
    return Message("'$0' slept once, before the first step: $1 left the card, and $2 came back.",
                   tag, slept, woke);
  if (sleeper.times == 1)
    return Message("'$0' slept once, in step $1: $2 left the card, and $3 came back.", tag,
                   sleeper.first_step, slept, woke);
  if (sleeper.first_step == 0)
    return Message("'$0' slept $1 times: $2 left the card, and $3 came back.", tag,
                   FormatCount(sleeper.times), slept, woke);
  return Message("'$0' slept $1 times, from step $2 on: $3 left the card, and $4 came back.", tag,
                 FormatCount(sleeper.times), sleeper.first_step, slept, woke);
}

}  // namespace

Section SleepSection(int32_t card, const analysis::ExplainedHolders& holders) {
  Section section{.id = "sleep",
                  .title = Message("SLEPT OFF THE CARD"),
                  .subtitle = Message("as memtrace.sleep was told")};
  const std::vector<Sleeper> sleepers = SleepersOf(card, holders);
  if (sleepers.empty()) return section;
  std::vector<std::string> sentences;
  for (size_t i = 0; i < std::min(sleepers.size(), kShownMoves); ++i)
    sentences.push_back(SentenceOf(sleepers[i]));
  if (sleepers.size() > kShownMoves)
    sentences.push_back(CountedMessage(sleepers.size() - kShownMoves, "1 more tag slept.",
                                       "$0 more tags slept.",
                                       FormatCount(sleepers.size() - kShownMoves)));
  section.parts.emplace_back(Paragraph{JoinedSentences(sentences)});
  return section;
}

}  // namespace memtrace::report
