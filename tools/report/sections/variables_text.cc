// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/sections/variables_text.h"

#include <algorithm>

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
  const std::string elements = variable.count == 0 ? "" : " of " + std::to_string(variable.count);
  return Printable(variable.name) + " (" + Printable(variable.kind) + elements + ", " +
         Printable(variable.place) + ") " + FormatBytes(variable.bytes);
}

}  // namespace

std::string VariablesText(const std::vector<Variable>& variables,
                          const analysis::ExplainedHolders& holders) {
  std::string text;
  uint64_t reached = 0;
  size_t told = 0;
  for (const Variable& variable : variables) {
    reached += variable.bytes;
    if (told == kMost || !holders.is_of_weight(variable.bytes, kPart)) continue;
    text += (told++ == 0 ? "" : " · ") + VariableText(variable);
  }
  if (told == 0) return "";
  const uint64_t held = holders.held.bytes;
  const uint64_t rest = held - std::min(held, reached);
  if (holders.is_of_weight(rest, kRestPart))
    text += " · by none " + FormatBytes(rest) + ", as the graph of a pass or a library's own";
  return "reached by variables: " + text;
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
