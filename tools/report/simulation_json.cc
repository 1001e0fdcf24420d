// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/simulation_json.h"

#include <optional>
#include <string>

namespace memtrace::report {
namespace {

using nlohmann::ordered_json;

ordered_json OptionalText(const std::string& text) {
  return text.empty() ? ordered_json(nullptr) : ordered_json(text);
}

ordered_json OptionalCount(const std::optional<uint64_t>& count) {
  return count ? ordered_json(*count) : ordered_json(nullptr);
}

ordered_json HostValuesJson(const analysis::SimulationFacts& facts) {
  ordered_json lines = ordered_json::array();
  for (const analysis::HostRead& read : facts.reads) {
    lines.push_back({{"place", read.place},
                     {"count", read.count},
                     {"known", read.assumed ? "assumed" : "unknown"},
                     {"answer", read.answer},
                     {"operation", read.operation}});
  }
  return {{"reads",
           {{"known", facts.reads_known},
            {"assumed", facts.reads_assumed},
            {"unknown", facts.reads_unknown}}},
          {"lines", lines}};
}

}  // namespace

ordered_json SimulatedJson(const analysis::RunFacts& run) {
  ordered_json unsupported = ordered_json::object();
  for (const auto& [name, count] : run.simulation.unsupported) unsupported[name] = count;
  ordered_json simulated = {
      {"is_simulated", run.simulated},
      {"kernel_launches", OptionalCount(run.simulation.kernel_launches)},
      {"device_to_host_copies", OptionalCount(run.simulation.device_to_host_copies)},
      {"copies_dropped", OptionalCount(run.simulation.copies_dropped)},
      {"faults", OptionalCount(run.simulation.faults)},
      {"first_faults", run.simulation.first_faults},
      {"events", OptionalText(run.simulation.events)},
      {"timed_answers", OptionalCount(run.simulation.timed_answers)},
      {"unsupported", unsupported}};
  if (run.simulation.bus_bytes) simulated["bus_bytes"] = *run.simulation.bus_bytes;
  if (run.simulation.product_bus_bytes)
    simulated["product_bus_bytes"] = *run.simulation.product_bus_bytes;
  if (run.simulation.assumed_workspaces)
    simulated["assumed_workspaces"] = *run.simulation.assumed_workspaces;
  for (const auto& [card, nccl] : run.simulation.nccl) {
    simulated["nccl"].push_back({{"card", card},
                                 {"bytes", nccl.charged},
                                 {"least", nccl.least},
                                 {"most", nccl.most},
                                 {"communicators", nccl.communicators},
                                 {"host_bytes", nccl.host}});
  }
  if (run.simulation.host_values) simulated["host_values"] = HostValuesJson(run.simulation);
  return simulated;
}

}  // namespace memtrace::report
