// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/source/run_facts.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "nlohmann/json.hpp"
#include "profiler/trace/vocabulary/facts.h"

namespace memtrace::analysis {
namespace {

std::string Fact(const std::map<std::string, std::string>& info, const std::string& key) {
  const auto found = info.find(key);
  return found == info.end() ? std::string() : found->second;
}

// Returns the numbers of "0,448"; none if it is anything else.
std::vector<uint64_t> Numbers(const std::string& list) {
  std::vector<uint64_t> numbers;
  for (const std::string& word : std::vector<std::string>(absl::StrSplit(list, ','))) {
    numbers.emplace_back();
    if (!absl::SimpleAtoi(word, &numbers.back())) return {};
  }
  return numbers;
}

// Returns the words of the command, which is kept as a JSON array; empty if it is anything else.
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

// Shortens "/home/me/train.py:5 in step" to "train.py:5 in step", as reports name lines elsewhere.
std::string WithoutFolder(const std::string& place) {
  if (place.empty() || place.front() != '/') return place;
  return place.substr(place.substr(0, place.find(" in ")).rfind('/') + 1);
}

// Parses a count, what was known, operator, answer and place, with tabs between them
// (interpose/torch/host_values).
std::optional<HostRead> ParseHostRead(const std::string& text) {
  const std::vector<std::string> fields = absl::StrSplit(text, '\t');
  HostRead read;
  if (fields.size() != 5 || !absl::SimpleAtoi(fields[0], &read.count)) return std::nullopt;
  read.assumed = fields[1] == "assumed";
  read.operation = fields[2];
  read.answer = fields[3];
  read.place = WithoutFolder(fields[4]);
  return read;
}

void ReadHostValues(const Annotations& annotations, SimulationFacts& facts) {
  facts.host_values = AnnotatedText(annotations, fact::kSimulationValues) == "on";
  facts.reads_known = AnnotatedNumber(annotations, fact::kSimulationReadsKnown).value_or(0);
  facts.reads_assumed = AnnotatedNumber(annotations, fact::kSimulationReadsAssumed).value_or(0);
  facts.reads_unknown = AnnotatedNumber(annotations, fact::kSimulationReadsUnknown).value_or(0);
  for (const auto& [number, value] : AnnotatedAll(annotations, fact::kSimulationRead)) {
    if (auto read = ParseHostRead(std::string(value))) facts.reads.push_back(*std::move(read));
  }
  std::stable_sort(facts.reads.begin(), facts.reads.end(),
                   [](const HostRead& a, const HostRead& b) { return a.count > b.count; });
}

std::map<int, NcclBytes> ReadNccl(const Annotations& annotations) {
  std::map<int, NcclBytes> cards;
  for (const auto& [number, value] : AnnotatedAll(annotations, fact::kSimulationNccl)) {
    const std::vector<std::string> figures = absl::StrSplit(std::string(value), ' ');
    int card = 0;
    NcclBytes read;
    const bool has_host = figures.size() == 5;  // older traces do not say it
    if ((has_host || figures.size() == 4) && absl::SimpleAtoi(std::string(number), &card) &&
        absl::SimpleAtoi(figures[0], &read.charged) && absl::SimpleAtoi(figures[1], &read.least) &&
        absl::SimpleAtoi(figures[2], &read.most) &&
        absl::SimpleAtoi(figures[3], &read.communicators) &&
        (!has_host || absl::SimpleAtoi(figures[4], &read.host)))
      cards[card] = read;
  }
  return cards;
}

SimulationFacts ReadSimulation(const Annotations& annotations) {
  SimulationFacts facts;
  facts.kernel_launches = AnnotatedNumber(annotations, fact::kSimulationKernelLaunches);
  facts.device_to_host_copies = AnnotatedNumber(annotations, fact::kSimulationDeviceToHostCopies);
  facts.copies_dropped = AnnotatedNumber(annotations, fact::kSimulationCopiesDropped);
  facts.faults = AnnotatedNumber(annotations, fact::kSimulationFaults);
  facts.bus_bytes = AnnotatedNumber(annotations, fact::kSimulationBusBytes);
  facts.product_bus_bytes = AnnotatedNumber(annotations, fact::kSimulationProductBusBytes);
  facts.timed_answers = AnnotatedNumber(annotations, fact::kSimulationAnswersThatDependOnTime);
  const auto events = annotations.find(fact::kSimulationEvents);
  if (events != annotations.end()) facts.events = events->second;
  for (const NumberedAnnotation& fault : AnnotatedAll(annotations, fact::kSimulationFault))
    facts.first_faults.emplace_back(fault.value);
  facts.assumed_workspaces = AnnotatedNumber(annotations, fact::kSimulationAssumedWorkspaces);
  for (const NumberedAnnotation& call : AnnotatedAll(annotations, fact::kSimulationUnsupported)) {
    const std::string key = fact::kSimulationUnsupported.Of(call.number);
    facts.unsupported[std::string(call.number)] = AnnotatedNumber(annotations, key).value_or(1);
  }
  facts.nccl = ReadNccl(annotations);
  ReadHostValues(annotations, facts);
  return facts;
}

}  // namespace

RunFacts ReadRunFacts(const std::string& file, const std::map<std::string, std::string>& info,
                      const Annotations& annotations, const trace::Completeness& completeness) {
  RunFacts facts;
  facts.file = file;
  facts.words = CommandWords(Fact(info, "command"));
  facts.command = facts.words.empty() ? Fact(info, "command") : absl::StrJoin(facts.words, " ");
  facts.host = Fact(info, "host");
  facts.process = Fact(info, "pid");
  if (!absl::SimpleAtoi(Fact(info, "started_unix_ns"), &facts.started_unix_ns))
    facts.started_unix_ns = 0;
  facts.rank = Fact(info, "environment.RANK");
  facts.world_size = Fact(info, "environment.WORLD_SIZE");
  facts.real_ranks = Numbers(Fact(info, "environment.MEMTRACE_REAL_RANKS"));
  facts.groups = ParseRankGroups(AnnotatedText(annotations, fact::kJobGroups));
  facts.ranks_alike = AnnotatedNumber(annotations, fact::kJobRanksAlike).value_or(0);
  facts.torch = Fact(info, "torch");
  facts.allocator = Fact(info, "allocator");
  facts.card = Fact(info, "card");
  facts.snapshot = Fact(info, "snapshot");
  facts.simulated = Fact(info, "simulated") == "1";
  facts.repaired = Fact(info, "repaired");
  facts.plan = AnnotatedText(annotations, fact::kPlanFile);
  facts.placed = AnnotatedNumber(annotations, fact::kPlanPlaced).value_or(0);
  facts.placed_elsewhere = AnnotatedNumber(annotations, fact::kPlanElsewhere).value_or(0);
  facts.simulation = ReadSimulation(annotations);
  facts.completeness = completeness;
  return facts;
}

}  // namespace memtrace::analysis
