// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/interchange/writers/rows/run_json.h"

#include <string>

namespace memtrace::interchange {

nlohmann::ordered_json RunJson(const ExportedRun& run) {
  const analysis::RunFacts& facts = run.facts;
  const trace::Completeness& completeness = facts.completeness;
  nlohmann::ordered_json json;
  const auto add = [&json](const char* key, const std::string& value) {
    if (!value.empty()) json[key] = value;
  };
  add("file", facts.file);
  add("command", facts.command);
  add("host", facts.host);
  add("process", facts.process);
  add("rank", facts.rank);
  add("world_size", facts.world_size);
  add("torch", facts.torch);
  add("allocator", facts.allocator);
  add("card", facts.card);
  if (facts.started_unix_ns != 0) json["started_unix_ns"] = facts.started_unix_ns;
  json["simulated"] = facts.simulated ? 1 : 0;
  json["whole"] = completeness.whole() ? 1 : 0;
  json["lost_events"] = completeness.lost_events;
  json["dropped_events"] = completeness.dropped_events;
  return json;
}

}  // namespace memtrace::interchange
