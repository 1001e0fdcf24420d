// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/sections/next_commands.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "messages/message.h"
#include "tools/report/words/command_words.h"
#include "tools/report/words/printable.h"
#include "tools/report/words/quantity.h"

namespace memtrace::report {
namespace {

using analysis::Explanation;
using analysis::RunFacts;

// The mark of the recorder in place of a secret.
constexpr std::string_view kHidden = "***";

// Returns the card as --card takes it: as the run was given it, or as large as the real one.
std::string CardWord(const Explanation& explanation, const RunFacts& run) {
  if (run.simulated) return run.card;
  const analysis::Ledger& ledger = explanation.card_of_verdict().ledger;
  return ledger.total_known && ledger.total > 0 ? std::to_string(ledger.total >> 20) + "MiB" : "";
}

bool IsRepeatable(const RunFacts& run) {
  const bool is_alone = run.world_size.empty() || run.world_size == "1";
  return is_alone && !run.words.empty() &&
         std::none_of(run.words.begin(), run.words.end(), [](const std::string& word) {
           return word.find(kHidden) != std::string::npos;
         });
}

// True if `fit` tries one of the changes of the first screen: those of the allocator, which are
// replayed, and those for which it has a hook.
bool CanBeTried(const Explanation& explanation) {
  const std::vector<analysis::Remedy>& remedies = explanation.cures.remedies;
  const size_t shown = std::min<size_t>(remedies.size(), 2);
  return std::any_of(remedies.begin(), remedies.begin() + static_cast<std::ptrdiff_t>(shown),
                     [](const analysis::Remedy& remedy) {
                       return !remedy.hook.empty() || remedy.how_known == "replayed";
                     });
}

std::string FolderOf(const std::string& file) {
  const size_t slash = file.rfind('/');
  return slash == std::string::npos ? "." : file.substr(0, slash + 1);
}

}  // namespace

std::string FitCommand(const Explanation& explanation, const RunFacts& run) {
  const std::string card = CardWord(explanation, run);
  if (card.empty() || !IsRepeatable(run)) return "";
  std::string command = "memtrace fit --card " + ShellWord(card) + " --";
  for (const std::string& word : CommandWords(run)) command += " " + ShellWord(word);
  return command;
}

Facts NextCommands(const Explanation& explanation, const RunFacts& run) {
  const std::string file = ShellWord(Printable(run.file));
  Facts facts;
  const auto add = [&facts](const std::string& label, const std::string& command) {
    facts.rows.push_back({.label = label, .text = command, .is_command = true});
  };
  const bool can_try = explanation.failure.request && CanBeTried(explanation);
  const std::string fit = can_try ? FitCommand(explanation, run) : "";
  if (!fit.empty()) add(Message("try these changes"), Printable(fit));
  add(Message("see all the evidence"), "memtrace report --verbose " + file);
  const uint64_t failures = explanation.run.counts.out_of_memory;
  if (explanation.failure.got_over) {
    add(Message("see the last failure"),
        "memtrace report --oom " + std::to_string(failures) + " " + file);
  } else if (failures > 1 && explanation.failure.request) {
    const uint64_t number = explanation.failure.request->number;
    add(Message("see another of $0 failures", FormatCount(failures)),
        "memtrace report --oom " + std::string(number == 1 ? "2 " : "1 ") + file);
  }
  if (!run.siblings.empty()) {
    add(CountedMessage(run.siblings.size(), "see 1 more process", "see $0 more processes",
                       FormatCount(run.siblings.size())),
        "memtrace report " + ShellWord(Printable(FolderOf(run.file))));
  }
  return facts;
}

}  // namespace memtrace::report
