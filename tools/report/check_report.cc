// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/check_report.h"

#include <algorithm>

#include "nlohmann/json.hpp"
#include "tools/report/words/json_text.h"
#include "tools/report/words/printable.h"
#include "tools/report/words/quantity.h"

namespace memtrace::report {
namespace {

using analysis::LimitCheck;
using nlohmann::ordered_json;

bool AllHold(const std::vector<LimitCheck>& checks) {
  return std::all_of(checks.begin(), checks.end(),
                     [](const LimitCheck& check) { return check.holds(); });
}

std::string Line(const LimitCheck& check) {
  std::string line = check.holds() ? "  ok      " : "  FAILED  ";
  if (!check.card) {
    return line + (check.found == 0 ? "no out-of-memory\n"
                                    : FormatCount(static_cast<uint64_t>(check.found)) +
                                          " out-of-memory; --allow-oom lets such a run pass\n");
  }
  const std::string unit = check.what == "growth" ? " a step" : "";
  const bool of_peak = check.what == "peak" || check.what == "growth";
  line += "card " + std::to_string(*check.card) + ": " + check.what +
          (of_peak ? " " : " at the peak ") + FormatSignedBytes(check.found) + unit + ", at most " +
          FormatSignedBytes(check.limit);
  if (!check.holds()) line += ": " + FormatSignedBytes(check.found - check.limit) + " too much";
  return line + "\n";
}

}  // namespace

std::string TextCheck(const std::vector<LimitCheck>& checks, const analysis::RunFacts& run) {
  const std::string file = Printable(run.file);
  std::string text = file + "\n";
  for (const LimitCheck& check : checks) text += Line(check);
  if (!AllHold(checks)) text += "who holds it: memtrace tree --at peak " + file + "\n";
  return text;
}

std::string JsonCheck(const std::vector<LimitCheck>& checks, const analysis::RunFacts& run) {
  ordered_json rows = ordered_json::array();
  for (const LimitCheck& check : checks) {
    rows.push_back({{"card", check.card ? ordered_json(*check.card) : ordered_json(nullptr)},
                    {"what", check.what},
                    {"found", check.found},
                    {"limit", check.limit},
                    {"holds", check.holds()}});
  }
  return JsonText({{"schema", "memtrace.check/1"},
                   {"file", run.file},
                   {"holds", AllHold(checks)},
                   {"checks", rows}});
}

}  // namespace memtrace::report
