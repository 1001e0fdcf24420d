// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/changes/candidates.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "messages/message.h"
#include "tools/fit/trials/card_limit.h"

namespace memtrace::fit {
namespace {

using analysis::Effort;

constexpr const char* kSettings = "PYTORCH_CUDA_ALLOC_CONF";

Effort LargestEffort(const std::vector<Candidate>& changes) {
  Effort largest = Effort::kSetting;
  for (const Candidate& change : changes) largest = std::max(largest, change.effort);
  return largest;
}

// Replaces every "{name}" in the words.
void Put(const std::string& name, const std::string& value, std::vector<std::string>& words) {
  for (std::string& word : words)
    word = absl::StrReplaceAll(word, {{absl::StrCat("{", name, "}"), value}});
}

void Append(std::string_view word, std::string& list) {
  if (!word.empty()) absl::StrAppend(&list, list.empty() ? "" : ",", std::string(word));
}

}  // namespace

std::string Candidate::HookWord() const {
  return degree == 0 ? hook : absl::StrCat(hook, "=", degree);
}

std::string Candidate::NameWithDegree() const {
  if (degree == 0) return MessageOf(name);
  if (degrees.step == remedies::Step::kByOne && of > 0)
    return Message("$0 of $1 of $2 layers", MessageOf(name), degree, of);
  return Message("$0 ($1)", MessageOf(name), degree);
}

bool AreInConflict(const Candidate& a, const Candidate& b) {
  const auto allocates = [](const Candidate& of) {
    return !of.settings.empty() || of.allocator != "native";
  };
  const auto steps = [](const Candidate& of) {
    return of.hook == "fused" || of.hook == "loop" || of.hook == "adam8bit";
  };
  const auto places = [](const Candidate& of) {
    return of.hook == "offload" || of.hook == "second_card" || of.hook == "balanced";
  };
  const auto wraps_blocks = [](const Candidate& of) {
    return of.hook == "checkpoint" || of.hook == "checkpoint_products" ||
           of.hook == "activations_on_host";
  };
  const auto computes_loss = [](const Candidate& of) {
    return of.hook == "pieces" || of.hook == "liger";
  };
  const bool are_values = !a.option.empty() && a.option == b.option;
  return are_values || (allocates(a) && allocates(b)) || (steps(a) && steps(b)) ||
         (places(a) && places(b)) || (wraps_blocks(a) && wraps_blocks(b)) ||
         (computes_loss(a) && computes_loss(b));
}

bool IsLess(const std::vector<Candidate>& a, const std::vector<Candidate>& b) {
  return std::pair(LargestEffort(a), a.size()) < std::pair(LargestEffort(b), b.size());
}

std::vector<std::vector<Candidate>> Extensions(const std::vector<Candidate>& base,
                                               const std::vector<Candidate>& by) {
  std::vector<std::vector<Candidate>> sets;
  for (const Candidate& candidate : by) {
    const bool goes_with_it =
        std::none_of(base.begin(), base.end(), [&candidate](const Candidate& member) {
          return member.name == candidate.name || AreInConflict(member, candidate);
        });
    if (!goes_with_it) continue;
    std::vector<Candidate>& set = sets.emplace_back(base);
    set.push_back(candidate);
  }
  std::stable_sort(sets.begin(), sets.end(), IsLess);
  return sets;
}

absl::StatusOr<Variation> ParseVariation(const std::string& option, std::string_view text) {
  const size_t equals = text.find('=');
  Variation variation;
  if (equals != std::string_view::npos && equals > 0) {
    const std::string_view values = text.substr(equals + 1);
    variation.name = std::string(text.substr(0, equals));
    variation.values = absl::StrSplit(absl::string_view(values.data(), values.size()), ',');
  }
  const bool has_empty =
      std::find(variation.values.begin(), variation.values.end(), "") != variation.values.end();
  if (variation.values.size() >= 2 && !has_empty) return variation;
  return absl::InvalidArgumentError(
      option + ": '" + std::string(text) +
      "' names fewer than two values; write it as batch_size=8,4,2,1");
}

std::vector<std::string> WithFirstValues(std::vector<std::string> command,
                                         const std::vector<Variation>& variations) {
  for (const Variation& variation : variations)
    Put(variation.name, variation.values.front(), command);
  return command;
}

std::vector<Candidate> CandidatesOf(const Variation& variation) {
  std::vector<Candidate> candidates;
  for (size_t i = 1; i < variation.values.size(); ++i) {
    const std::string text = variation.name + "=" + variation.values[i];
    candidates.push_back({.name = text,
                          .change = Message("$0 instead of $1", text, variation.values.front()),
                          .cost = Message("depends on the option"),
                          .effort = Effort::kLines,
                          .option = variation.name,
                          .value = variation.values[i]});
  }
  return candidates;
}

Trial WithChanges(Trial trial, const std::vector<Candidate>& changes,
                  std::string_view user_settings, const std::vector<Variation>& variations) {
  std::string settings(user_settings);
  bool needs_card = false;
  for (const Candidate& change : changes) {
    Append(change.HookWord(), trial.changes);
    Append(change.settings, settings);
    if (change.allocator != "native") trial.allocator = change.allocator;
    needs_card = needs_card || change.takes_another_card;
    if (!change.option.empty()) Put(change.option, change.value, trial.command);
  }
  if (settings != user_settings) trial.set[kSettings] = settings;
  trial.command = WithFirstValues(std::move(trial.command), variations);
  if (needs_card && !trial.job && BytesOfCards(trial.cards).size() == 1)
    trial.cards.push_back(trial.cards[0]);
  return trial;
}

std::optional<Variation> ProcessVariation(std::vector<std::string>& command, size_t cards) {
  constexpr std::string_view kOptions[] = {"--nproc-per-node", "--nproc_per_node",
                                           "--num_processes", "--num-processes"};
  for (size_t i = 0; i < command.size(); ++i) {
    const std::string name = command[i].substr(0, command[i].find('='));
    if (std::find(std::begin(kOptions), std::end(kOptions), name) == std::end(kOptions)) continue;
    const bool is_one_word = name != command[i];
    if (!is_one_word && i + 1 == command.size()) continue;
    const std::string text = is_one_word ? command[i].substr(name.size() + 1) : command[i + 1];
    uint64_t processes = 0;
    if (!absl::SimpleAtoi(text, &processes) || processes <= cards) continue;
    Variation variation{.name = "processes", .values = {text}};
    for (processes /= 2; processes > 0; processes /= 2)
      variation.values.push_back(std::to_string(processes));
    (is_one_word ? command[i] : command[i + 1]) =
        is_one_word ? name + "={processes}" : "{processes}";
    return variation;
  }
  return std::nullopt;
}

}  // namespace memtrace::fit
