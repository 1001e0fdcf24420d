// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/run_facts.h"

#include <string_view>

#include "absl/strings/str_join.h"
#include "nlohmann/json.hpp"

namespace memtrace::analysis {
namespace {

std::string Fact(const std::map<std::string, std::string>& info, const std::string& key) {
  const auto found = info.find(key);
  return found == info.end() ? std::string() : found->second;
}

// The command is kept as a JSON array of words; empty if it is anything else.
std::vector<std::string> CommandWords(const std::string& command) {
  const nlohmann::json words = nlohmann::json::parse(command, nullptr, false);
  if (!words.is_array()) return {};
  std::vector<std::string> text;
  for (const nlohmann::json& word : words) {
    if (!word.is_string()) return {};
    text.push_back(word.get<std::string>());
  }
  return text;
}

SimulationFacts ReadSimulation(const Annotations& annotations) {
  constexpr std::string_view kFault = "simulation.fault.";
  constexpr std::string_view kUnsupported = "simulation.unsupported.";
  SimulationFacts facts;
  facts.kernel_launches = AnnotatedNumber(annotations, "simulation.kernel_launches");
  facts.device_to_host_copies = AnnotatedNumber(annotations, "simulation.device_to_host_copies");
  facts.copies_dropped = AnnotatedNumber(annotations, "simulation.copies_dropped");
  facts.faults = AnnotatedNumber(annotations, "simulation.faults");
  facts.timed_answers = AnnotatedNumber(annotations, "simulation.answers_that_depend_on_time");
  const auto events = annotations.find("simulation.events");
  if (events != annotations.end()) facts.events = events->second;
  for (auto entry = annotations.lower_bound(kFault);
       entry != annotations.end() && entry->first.rfind(kFault, 0) == 0; ++entry) {
    facts.first_faults.push_back(entry->second);
  }
  for (auto entry = annotations.lower_bound(kUnsupported);
       entry != annotations.end() && entry->first.rfind(kUnsupported, 0) == 0; ++entry) {
    facts.unsupported[entry->first.substr(kUnsupported.size())] =
        AnnotatedNumber(annotations, entry->first).value_or(1);
  }
  return facts;
}

}  // namespace

RunFacts ReadRunFacts(const std::string& file, const std::map<std::string, std::string>& info,
                      const Annotations& annotations, const trace::Completeness& completeness) {
  RunFacts facts;
  facts.file = file;
  facts.words = CommandWords(Fact(info, "command"));
  facts.command = facts.words.empty() ? Fact(info, "command") : absl::StrJoin(facts.words, " ");
  facts.torch = Fact(info, "torch");
  facts.allocator = Fact(info, "allocator");
  facts.card = Fact(info, "card");
  facts.simulated = Fact(info, "simulated") == "1";
  facts.simulation = ReadSimulation(annotations);
  facts.completeness = completeness;
  return facts;
}

}  // namespace memtrace::analysis
