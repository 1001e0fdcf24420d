// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/json_text.h"

namespace memtrace::report {

std::string JsonText(const nlohmann::ordered_json& json) {
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

nlohmann::ordered_json LostJson(const trace::Completeness& completeness) {
  return {{"events", completeness.lost_events},
          {"damaged_blocks", completeness.damaged_blocks},
          {"truncated_bytes", completeness.truncated_bytes}};
}

}  // namespace memtrace::report
