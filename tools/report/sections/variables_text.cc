// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/sections/variables_text.h"

#include <algorithm>

#include "absl/strings/str_join.h"
#include "messages/message.h"
#include "tools/report/words/printable.h"
#include "tools/report/words/quantity.h"

namespace memtrace::report {
namespace {

using analysis::Variable;

constexpr size_t kMost = 5;
constexpr uint64_t kPart = 50;      // of what is held: smaller variables are left out
constexpr uint64_t kRestPart = 20;  // of what is held: the part that no variable reaches

// Returns "kept (list of 23, train.py) 2.10 GiB".
std::string VariableText(const Variable& variable) {
  const std::string name = Printable(variable.name);
  const std::string kind = Printable(variable.kind);
  const std::string place = Printable(variable.place);
  const std::string bytes = FormatBytes(variable.bytes);
  return variable.count == 0 ? Message("$0 ($1, $2) $3", name, kind, place, bytes)
                             : Message("$0 ($1 of $2, $3) $4", name, kind,
                                       FormatCount(variable.count), place, bytes);
}

}  // namespace

std::string VariablesText(const std::vector<Variable>& variables,
                          const analysis::ExplainedHolders& holders) {
  std::vector<std::string> texts;
  uint64_t reached = 0;
  for (const Variable& variable : variables) {
    reached += variable.bytes;
    if (texts.size() < kMost && holders.is_of_weight(variable.bytes, kPart))
      texts.push_back(VariableText(variable));
  }
  if (texts.empty()) return "";
  std::string text = Message("Reached by variables: $0.", absl::StrJoin(texts, " · "));
  const uint64_t held = holders.held.bytes;
  const uint64_t rest = held - std::min(held, reached);
  if (!holders.is_of_weight(rest, kRestPart)) return text;
  return JoinedSentences(
      {text, Message("No variable reaches $0, such as the graph of a pass or memory of a library.",
                     FormatBytes(rest))});
}

nlohmann::ordered_json VariablesJson(const std::vector<Variable>& variables) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const Variable& variable : variables) {
    rows.push_back({{"name", variable.name},
                    {"place", variable.place},
                    {"kind", variable.kind},
                    {"count", variable.count},
                    {"bytes", variable.bytes}});
  }
  return rows;
}

}  // namespace memtrace::report
