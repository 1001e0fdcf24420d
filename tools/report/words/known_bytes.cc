// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/words/known_bytes.h"

namespace memtrace::report {

std::string EvidenceMarks(const analysis::KnownBytes& known) {
  std::string marks;
  if (known.guessed > 0) marks += '~';
  if (known.inferred > 0) marks += '*';
  return marks;
}

void AddKnownBytes(const analysis::KnownBytes& known, nlohmann::ordered_json& row) {
  row["stated_bytes"] = known.stated;
  row["inferred_bytes"] = known.inferred;
  row["guessed_bytes"] = known.guessed;
}

}  // namespace memtrace::report
