// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/words/json_text.h"

namespace memtrace::report {

std::string JsonText(const nlohmann::ordered_json& json) {
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

nlohmann::ordered_json LostJson(const trace::Completeness& completeness) {
  nlohmann::ordered_json lost = {{"events", completeness.lost_events},
                                 {"damaged_blocks", completeness.damaged_blocks},
                                 {"truncated_bytes", completeness.truncated_bytes}};
  if (completeness.dropped_events > 0) {
    lost["dropped_events"] = completeness.dropped_events;
    lost["begins_at_step"] = completeness.begins_at_step;
    lost["live_set_missing"] = completeness.live_set_missing;
  }
  return lost;
}

}  // namespace memtrace::report
