// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command/inputs/fit_values.h"

#include <algorithm>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "tools/command/program/program.h"
#include "tools/fit/sizes/scaling.h"

namespace memtrace::command {

bool ReadSteps(const std::string& text, fit::Trial& trial) {
  const std::vector<std::string> parts = absl::StrSplit(absl::string_view(text), ':');
  return parts.size() <= 2 && absl::SimpleAtoi(parts.front(), &trial.least_steps) &&
         absl::SimpleAtoi(parts.back(), &trial.most_steps) && trial.least_steps >= 1 &&
         trial.least_steps <= trial.most_steps;
}

bool Mentions(const std::vector<std::string>& command, const fit::Variation& variation) {
  return std::any_of(command.begin(), command.end(), [&variation](const std::string& word) {
    return word.find("{" + variation.name + "}") != std::string::npos;
  });
}

bool ReadVariations(const std::string& option, const std::vector<std::string>& texts,
                    const std::vector<std::string>& command,
                    std::vector<fit::Variation>& variations) {
  for (const std::string& text : texts) {
    absl::StatusOr<fit::Variation> variation = fit::ParseVariation(option, text);
    const bool is_used = variation.ok() && Mentions(command, *variation);
    if (!is_used) {
      Note(variation.ok() ? option + ": the command does not contain {" + variation->name + "}"
                          : std::string(variation.status().message()));
      return false;
    }
    variations.push_back(*std::move(variation));
  }
  return true;
}

bool AreNumbers(const std::vector<fit::Variation>& scalings) {
  for (const fit::Variation& scaling : scalings) {
    const auto values = fit::ValuesOf(scaling);
    if (!values.ok()) Note(std::string(values.status().message()));
    if (!values.ok()) return false;
  }
  return true;
}

}  // namespace memtrace::command
