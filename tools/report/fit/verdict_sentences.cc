// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/fit/verdict_sentences.h"

#include <algorithm>

#include "tools/report/fit/remedy_sections.h"
#include "tools/report/words/printable.h"
#include "tools/report/words/quantity.h"

namespace memtrace::report {
namespace {

using fit::Answer;
using fit::Climb;
using fit::Outcome;
using fit::Outlook;

// Returns "in each of the last 8 steps" or "every 10 steps or so (4 times in a row)".
std::string FrequencyText(const Climb& climb) {
  if (climb.every == 1) return "in each of the last " + FormatCounted(climb.times, "step");
  return "every " + FormatCounted(climb.every, "step") + " or so (" +
         FormatCounted(climb.times, "time") + " in a row)";
}

std::string ClimbText(const Outlook& outlook) {
  return "The peak rose by " + FormatBytes(outlook.climb->bytes) + " " +
         FrequencyText(*outlook.climb) + ".";
}

// Returns the need of the card that has needed most so far.
fit::CardNeed FullestSoFar(const Outcome& outcome) {
  fit::CardNeed fullest;
  for (fit::CardNeed& need : fit::Joined(outcome.processes))
    if (need.total >= fullest.total) fullest = std::move(need);
  return fullest;
}

// Says how far the trial had come when it was stopped, and what that means for the card.
std::string SoFarText(const Answer& answer) {
  const Outcome& outcome = answer.stopped->outcome;
  if (outcome.processes.empty()) return "";
  const fit::CardNeed need = FullestSoFar(outcome);
  const std::string card = "card " + std::to_string(need.card);
  std::string text = "Until then, in " + FormatCounted(outcome.outlook.steps, "whole step") +
                     ", it needed " + FormatBytes(need.total) + " of " + card + ".";
  const auto index = static_cast<size_t>(need.card);
  if (answer.has_need() || index >= answer.card_bytes.size()) return text;
  const uint64_t has = answer.card_bytes[index];
  if (need.total <= has) return text + " The card has " + FormatBytes(has) + ".";
  return text + " That is " + FormatBytes(need.total - has) + " more than the card has.";
}

// True if the stopped run needed too much already; in its later steps it could only need more.
bool IsKnownNotToFit(const Answer& answer) {
  if (answer.has_need() || answer.cards.empty()) return false;
  const fit::CardNeed need = FullestSoFar(answer.stopped->outcome);
  const auto card = static_cast<size_t>(need.card);
  return card < answer.card_bytes.size() && need.total > answer.card_bytes[card];
}

std::string NeedSoFar(const Answer& answer) {
  if (!answer.has_need()) return "";
  const fit::CardNeed need = FullestSoFar(answer.unlimited);
  const auto card = static_cast<size_t>(need.card);
  std::string text =
      " It needs " + FormatBytes(need.total) + " of card " + std::to_string(need.card);
  if (card < answer.card_bytes.size()) text += "'s " + FormatBytes(answer.card_bytes[card]);
  return text + " (" + SeenText(answer.unlimited.outlook) + ").";
}

}  // namespace

std::string SeenText(const Outlook& outlook) {
  const std::string steps = FormatCounted(outlook.steps, "step");
  if (!outlook.is_whole) return "seen in " + steps;
  return outlook.steps == 0 ? "seen in the whole program" : "seen in the whole program, " + steps;
}

std::string SettledText(const Outlook& outlook) {
  if (outlook.climb) return ClimbText(outlook);
  if (outlook.last_rise == 0) return "";
  return "Its peak did not rise after step " + FormatCount(outlook.last_rise) + ".";
}

std::string UnseenText(const Outlook& outlook) {
  if (outlook.is_whole) return "";
  return "It was stopped there: later data, evaluation and saving were not seen.";
}

std::string WillNotFitText(const Outlook& outlook) {
  return "WILL NOT FIT beyond about step " + FormatCount(outlook.full_in_step - 1) + ". " +
         ClimbText(outlook);
}

std::string NotKnownText(const Outcome& outcome) {
  const Outlook& outlook = outcome.outlook;
  if (outcome.is_late) return "NOT KNOWN. The run on the card was ended at its limit of time.";
  if (outlook.climb)
    return "NOT KNOWN. " + ClimbText(outlook) +
           " If it goes on so, the card is full in about step " +
           FormatCount(outlook.full_in_step) + ".";
  return "NOT KNOWN. Nothing failed in " + FormatCounted(outlook.steps, "step") +
         ", but the peak still rose in the last of them. More steps can tell: --watch 120, or "
         "--steps 2:100.";
}

std::vector<std::string> FurtherSentences(const Answer& answer) {
  std::vector<std::string> texts;
  const Outcome& within = answer.within;
  if (const auto failed = within.Failed()) {
    std::string text = "First to fail on the card: " + FailedText(*failed) + ".";
    if (within.exit_code == 0) text += " The program caught this error and ended with exit code 0.";
    texts.push_back(std::move(text));
  }
  if (const auto over = within.LastRecoveredFailure()) {
    const uint64_t times = within.times_got_over();
    texts.push_back(FormatCounted(times, "request") +
                    " failed on the card, and the program got over " +
                    (times == 1 ? "it: " : "them; the last: ") + FailedText(*over) + ".");
  }
  if (&answer.told() != &answer.unlimited)
    texts.push_back("Without a limit it would take " +
                    FormatBytes(FullestSoFar(answer.unlimited).total) +
                    ": it takes less where there is less.");
  return texts;
}

std::string StoppedText(const fit::StoppedTrial& stopped) {
  return std::string("memtrace fit was ") +
         (stopped.is_late ? "ended at its limit of time" : "stopped") + " in the run \"" +
         Printable(stopped.name) + "\"; nothing after that was run.";
}

std::string KnownSoFarText(const Answer& answer) {
  const std::string so_far = SoFarText(answer);
  return (IsKnownNotToFit(answer) ? "DOES NOT FIT." : "NOT KNOWN.") + NeedSoFar(answer) + " " +
         StoppedText(*answer.stopped) + (so_far.empty() ? "" : " " + so_far);
}

}  // namespace memtrace::report
