// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/fit/verdict_sentences.h"

#include <algorithm>
#include <utility>

#include "messages/message.h"
#include "profiler/trace/vocabulary/facts.h"
#include "tools/fit/answer/batches.h"
#include "tools/report/fit/job_sections.h"
#include "tools/report/fit/remedy_sections.h"
#include "tools/report/words/printable.h"
#include "tools/report/words/quantity.h"

namespace memtrace::report {
namespace {

using fit::Answer;
using fit::Climb;
using fit::Outcome;
using fit::Outlook;

// Says how what stays allocated grew.
std::string GrowthText(const Climb& climb) {
  if (climb.every == 1)
    return CountedMessage(climb.times, "The memory in use grew by $0 in the last step.",
                          "The memory in use grew by $0 in each of the last $1 steps.",
                          FormatBytes(climb.bytes), FormatCount(climb.times));
  return CountedMessage(climb.times, "The memory in use grew by $0 about every $1 steps (once).",
                        "The memory in use grew by $0 about every $1 steps ($2 times in a row).",
                        FormatBytes(climb.bytes), FormatCount(climb.every),
                        FormatCount(climb.times));
}

std::string ClimbText(const Climb& climb) {
  if (climb.is_of_floor) return GrowthText(climb);
  if (climb.every == 1)
    return CountedMessage(climb.times, "The peak rose by $0 in the last step.",
                          "The peak rose by $0 in each of the last $1 steps.",
                          FormatBytes(climb.bytes), FormatCount(climb.times));
  return CountedMessage(climb.times, "The peak rose by $0 about every $1 steps (once).",
                        "The peak rose by $0 about every $1 steps ($2 times in a row).",
                        FormatBytes(climb.bytes), FormatCount(climb.every),
                        FormatCount(climb.times));
}

// Returns the need of the card that has needed most so far.
fit::CardNeed FullestSoFar(const Outcome& outcome) {
  fit::CardNeed fullest;
  for (fit::CardNeed& need : fit::Joined(outcome.processes))
    if (need.total >= fullest.total) fullest = std::move(need);
  return fullest;
}

// Says what a step sends to other cards, of the process that sends most; "" if none sends any.
std::string MostSentText(const Outcome& outcome) {
  const fit::ProcessNeed* most = outcome.MostSending();
  if (most == nullptr) return "";
  const std::string sent = SentText(most->cost);
  if (outcome.processes.size() == 1)
    return Message("Each step sends $0 (calls of NCCL, counted as rings).", sent);
  return Message(
      "Each step of $0 sends $1 (calls of NCCL, counted as rings). No other process sends more.",
      Printable(most->name), sent);
}

// Says how far the trial had come when it was stopped, and what that means for the card.
std::string SoFarText(const Answer& answer) {
  const Outcome& outcome = answer.stopped->outcome;
  if (outcome.processes.empty()) return "";
  const fit::CardNeed need = FullestSoFar(outcome);
  const std::string steps = FormatCount(outcome.outlook.steps);
  const std::string bytes = FormatBytes(need.total);
  std::string text =
      answer.job
          ? CountedMessage(
                outcome.outlook.steps, "Until then, in 1 whole step, rank $2 needed most: $1.",
                "Until then, in $0 whole steps, rank $2 needed most: $1.", steps, bytes, need.card)
          : CountedMessage(
                outcome.outlook.steps, "Until then, in 1 whole step, it needed $1 of card $2.",
                "Until then, in $0 whole steps, it needed $1 of card $2.", steps, bytes, need.card);
  const auto index = static_cast<size_t>(need.card);
  if (answer.has_need() || index >= answer.card_bytes.size()) return text;
  const uint64_t has = answer.card_bytes[index];
  return JoinedSentences({text, need.total <= has ? Message("The card has $0.", FormatBytes(has))
                                                  : MoreThanCardText(need.total - has)});
}

std::string NeedSoFar(const Answer& answer) {
  if (!answer.has_need()) return "";
  const fit::CardNeed need = FullestSoFar(answer.unlimited);
  const auto card = static_cast<size_t>(need.card);
  const std::string seen = SeenText(answer.unlimited.outlook);
  if (card >= answer.card_bytes.size()) {
    const std::string bytes = FormatBytes(need.total);
    return answer.job ? Message("Rank $1 needs most: $0 ($2).", bytes, need.card, seen)
                      : Message("It needs $0 of card $1 ($2).", bytes, need.card, seen);
  }
  return NeedText(answer, need.total, need.card, seen);
}

std::string RecoveredText(const Outcome& outcome, const fit::FailedLine& last) {
  const uint64_t times = outcome.times_got_over();
  return CountedMessage(
      times, "1 request failed on the card, and the program recovered from it: $1.",
      "$0 requests failed on the card, and the program recovered from them. The last: $1.",
      FormatCount(times), FailedText(last));
}

// Says which batches were the largest, and in which steps they were run; "" if nothing is known.
std::string BatchesText(const Answer& answer) {
  const Outcome& outcome = answer.has_within ? answer.within : answer.unlimited;
  std::vector<std::string> sentences;
  for (const std::string& sentence : fit::BatchSentencesOf(
           analysis::AnnotatedText(outcome.annotations, trace::fact::kFitBatches))) {
    // A loader that is made anew in each epoch says the same again.
    std::string text = Printable(sentence);
    if (std::find(sentences.begin(), sentences.end(), text) == sentences.end())
      sentences.push_back(std::move(text));
  }
  return JoinedSentences(sentences);
}

}  // namespace

std::string NeedText(const Answer& answer, uint64_t need, int32_t card, const std::string& seen) {
  const auto index = static_cast<size_t>(card);
  const uint64_t has = index < answer.card_bytes.size() ? answer.card_bytes[index] : 0;
  if (answer.job)
    return Message("Rank $0 needs most: $1 of its card's $2 ($3).", card, FormatBytes(need),
                   FormatBytes(has), seen);
  return Message("It needs $0 of card $1's $2 ($3).", FormatBytes(need), card, FormatBytes(has),
                 seen);
}

std::string MoreThanCardText(uint64_t bytes) {
  return Message("That is $0 more than the card has.", FormatBytes(bytes));
}

std::string SeenText(const Outlook& outlook) {
  const std::string steps = FormatCount(outlook.steps);
  if (!outlook.is_whole)
    return CountedMessage(outlook.steps, "seen in 1 step", "seen in $0 steps", steps);
  if (outlook.steps == 0) return Message("seen in the whole program");
  return CountedMessage(outlook.steps, "seen in the whole program, 1 step",
                        "seen in the whole program, $0 steps", steps);
}

std::string SettledText(const Outlook& outlook) {
  if (outlook.climb) return ClimbText(*outlook.climb);
  if (outlook.last_rise == 0) return "";
  return Message("Its peak did not rise after step $0.", FormatCount(outlook.last_rise));
}

std::string UnseenText(const Outlook& outlook) {
  if (outlook.is_whole) return "";
  if (outlook.planned_steps > outlook.steps)
    return Message("Its Trainer plans $0 steps; the rest of them was not seen.",
                   FormatCount(outlook.planned_steps));
  return Message("What comes after them was not seen.");
}

std::string SeenInText(const fit::LeastSeen& seen, const std::string& fits) {
  if (!seen.has_runs || seen.is_whole || seen.steps == 0) return fits;
  return CountedMessage(seen.steps, "$0 in 1 step", "$0 in $1 steps", fits,
                        FormatCount(seen.steps));
}

std::string RunsOutText(const Outcome& outcome) {
  const Climb& climb = *outcome.outlook.climb;
  const std::string step = FormatCount(outcome.Failed()->at.step);
  const std::string bytes = FormatBytes(climb.bytes);
  if (climb.every > 1)
    return JoinedSentences({Message("RUNS OUT IN STEP $0.", step), ClimbText(climb),
                            Message("The run was continued until it failed.")});
  return JoinedSentences(
      {Message("RUNS OUT IN STEP $0.", step),
       climb.is_of_floor ? Message("The memory in use grew by $0 in each step until then.", bytes)
                         : Message("The peak rose by $0 in each step until then.", bytes)});
}

std::string GapNames(const std::vector<fit::Gap>& gaps) {
  std::string names;
  for (const fit::Gap& gap : gaps)
    names += (names.empty() ? "" : ", ") + fit::MomentWords(gap.moment);
  return names;
}

std::string GapsText(const Answer& answer) {
  const Outlook& outlook = answer.within.outlook;
  const std::vector<fit::Gap>& gaps = answer.gaps;
  const std::string nothing =
      outlook.steps == 0
          ? Message("NOT KNOWN. Nothing failed in the run.")
          : CountedMessage(outlook.steps, "NOT KNOWN. Nothing failed in 1 step.",
                           "NOT KNOWN. Nothing failed in $0 steps.", FormatCount(outlook.steps));
  if (gaps.size() == 1)
    return JoinedSentences(
        {nothing, Message("The job also has a moment that was not seen: $0.", GapNames(gaps)),
         Printable(gaps[0].evidence), Printable(gaps[0].why_not)});
  return JoinedSentences(
      {nothing, Message("The job also has moments that were not seen: $0.", GapNames(gaps))});
}

std::string WillNotFitText(const Outlook& outlook) {
  return JoinedSentences(
      {Message("WILL NOT FIT beyond about step $0.", FormatCount(outlook.full_in_step - 1)),
       ClimbText(*outlook.climb)});
}

bool IsKnownNotToFit(const Answer& answer) {
  if (answer.has_need() || answer.cards.empty()) return false;
  const fit::CardNeed need = FullestSoFar(answer.stopped->outcome);
  const auto card = static_cast<size_t>(need.card);
  return card < answer.card_bytes.size() && need.total > answer.card_bytes[card];
}

std::string NotKnownText(const Outcome& outcome) {
  const Outlook& outlook = outcome.outlook;
  if (outcome.is_late) return Message("NOT KNOWN. The run on the card reached its time limit.");
  if (outlook.EndsBeforeFull())
    return JoinedSentences(
        {Message("NOT KNOWN."), ClimbText(*outlook.climb),
         Message("If this continues, the card will be full in about step $0, after the $1 steps "
                 "that its Trainer plans. A longer run can tell: --time 3600.",
                 FormatCount(outlook.full_in_step), FormatCount(outlook.planned_steps))});
  if (outlook.climb)
    return JoinedSentences({Message("NOT KNOWN."), ClimbText(*outlook.climb),
                            Message("If this continues, the card will be full in about step $0.",
                                    FormatCount(outlook.full_in_step))});
  return CountedMessage(
      outlook.steps,
      "NOT KNOWN. Nothing failed in 1 step, but the peak still rose in it. More steps can tell: "
      "--watch 120, or --steps 2:100.",
      "NOT KNOWN. Nothing failed in $0 steps, but the peak still rose in the last of them. More "
      "steps can tell: --watch 120, or --steps 2:100.",
      FormatCount(outlook.steps));
}

std::string SentText(const fit::StepCost& cost) {
  const std::string near = FormatBytes(cost.sent_bytes);
  const std::string far = FormatBytes(cost.sent_bytes_network);
  if (cost.sent_bytes_network == 0) return Message("$0 to other cards of the machine", near);
  if (cost.sent_bytes == 0) return Message("$0 over the network", far);
  return Message("$0 to other cards of the machine, $1 over the network", near, far);
}

std::vector<std::string> FurtherSentences(const Answer& answer) {
  std::vector<std::string> texts;
  const Outcome& within = answer.deciding();
  if (std::string job = JobText(answer); !job.empty()) texts.push_back(std::move(job));
  if (const auto failed = within.Failed()) {
    const std::string first = Message("First to fail on the card: $0.", FailedText(*failed));
    const bool is_caught = within.exit_code == 0;
    texts.push_back(JoinedSentences(
        {first,
         is_caught ? Message("The program caught this error and ended with exit code 0.") : ""}));
  }
  if (const auto last = within.LastRecoveredFailure())
    texts.push_back(RecoveredText(within, *last));
  if (std::string batches = BatchesText(answer); !batches.empty())
    texts.push_back(std::move(batches));
  const uint64_t without_limit = FullestSoFar(answer.unlimited).total;
  const bool takes_less =
      &answer.told() == &answer.within && FullestSoFar(answer.within).total < without_limit;
  if (takes_less)
    texts.push_back(Message("Without a limit it would take $0. It takes less if less is available.",
                            FormatBytes(without_limit)));
  if (const std::string sent = MostSentText(answer.told()); !sent.empty()) texts.push_back(sent);
  return texts;
}

std::string StoppedText(const fit::StoppedTrial& stopped) {
  const std::string run = Printable(stopped.name);
  if (stopped.is_late)
    return Message(
        "memtrace fit reached its time limit in the run \"$0\"; nothing after that was run.", run);
  return Message("memtrace fit was stopped in the run \"$0\"; nothing after that was run.", run);
}

std::string KnownSoFarText(const Answer& answer) {
  return JoinedSentences(
      {IsKnownNotToFit(answer) ? Message("DOES NOT FIT.") : Message("NOT KNOWN."),
       NeedSoFar(answer), StoppedText(*answer.stopped), SoFarText(answer)});
}

}  // namespace memtrace::report
