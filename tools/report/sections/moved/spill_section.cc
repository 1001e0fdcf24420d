// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/sections/moved/spill_section.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "messages/message.h"
#include "profiler/trace/events/unused_name.h"
#include "tools/report/sections/moved/moved_rows.h"
#include "tools/report/words/printable.h"
#include "tools/report/words/quantity.h"
#include "tools/report/words/vocabulary_words.h"

namespace memtrace::report {
namespace {

using analysis::MovedBytes;
using trace::MoveKind;

// Kernels of an H100 read the host's memory with 51 GB/s and write it with 52
// (docs/design/politeness.md).
constexpr uint64_t kBytesPerMicrosecond = 51'000;
// A step reads and writes what is on the host once: states of optimizers are updated in place,
// activations and gradients are written, then read.
constexpr uint64_t kPassesOfStep = 2;

// Returns the words for a role, or the name of an owner in quotes.
std::string WhatMoved(std::string_view what) {
  const std::optional<trace::Role> role = RoleNamed(what);
  if (role == trace::Role::kUnknown) return Message("blocks of unknown role");
  return role ? RoleWords(what) : absl::StrCat("'", Printable(what), "'");
}

// Memory is known to be unused only after some steps.
std::string SentenceOfUnused(const MovedBytes& moved, std::string_view name) {
  return Message(
      "In step $0, $1 of $2 that no operation used in that step and the one before moved "
      "to the host.",
      moved.step, FormatBytes(moved.bytes), WhatMoved(name));
}

std::string SentenceOf(const MovedBytes& moved) {
  if (const auto unused = trace::NameOfUnused(moved.to)) return SentenceOfUnused(moved, *unused);
  return moved.step == 0 ? Message("Before the first step, $0 of $1 moved to the host.",
                                   FormatBytes(moved.bytes), WhatMoved(moved.to))
                         : Message("In step $0, $1 of $2 moved to the host.", moved.step,
                                   FormatBytes(moved.bytes), WhatMoved(moved.to));
}

std::string CostSentence(uint64_t on_host) {
  const uint64_t bytes = kPassesOfStep * on_host;
  return Message(
      "The host has $0 of it at the end. If each step reads and writes it once, $1 pass the bus, "
      "which takes about $2 at 51 GB/s (measured on an H100).",
      FormatBytes(on_host), FormatBytes(bytes),
      FormatDuration(bytes / kBytesPerMicrosecond * 1000));
}

// Returns what the simulated card has counted; empty if it does not know of a bus.
std::string BusSentence(const analysis::SimulationFacts& simulation) {
  if (!simulation.bus_bytes) return "";
  const std::string copies = FormatBytes(*simulation.bus_bytes);
  const uint64_t products = simulation.product_bus_bytes.value_or(0);
  if (products == 0) return Message("In the whole run, copies moved $0 over the bus.", copies);
  return Message(
      "In the whole run, copies moved $0 over the bus, and matrix products an estimated $1 (each "
      "operand counts once a product).",
      copies, FormatBytes(products));
}

}  // namespace

Section SpillSection(int32_t card, const analysis::ExplainedHolders& holders,
                     const analysis::SimulationFacts& simulation) {
  Section section{.id = "spill",
                  .title = Message("MOVED TO THE HOST"),
                  .subtitle = Message("because the card was full")};
  std::vector<MovedBytes> spilled = MovedRows(card, holders, MoveKind::kSpilled);
  if (spilled.empty()) return section;
  const uint64_t moved = SumOf(spilled);
  const uint64_t back = SumOf(MovedRows(card, holders, MoveKind::kCameBack));
  std::stable_sort(spilled.begin(), spilled.end(),
                   [](const MovedBytes& a, const MovedBytes& b) { return a.bytes > b.bytes; });
  std::vector<std::string> sentences;
  for (size_t i = 0; i < std::min(spilled.size(), kShownMoves); ++i)
    sentences.push_back(SentenceOf(spilled[i]));
  if (spilled.size() > kShownMoves)
    sentences.push_back(Message("In all, $0 moved to the host.", FormatBytes(moved)));
  if (back > 0) sentences.push_back(Message("$0 came back or were freed.", FormatBytes(back)));
  if (moved > back) sentences.push_back(CostSentence(moved - back));
  sentences.push_back(BusSentence(simulation));
  section.parts.emplace_back(Paragraph{JoinedSentences(sentences)});
  return section;
}

}  // namespace memtrace::report
