// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Usage: replay [--device N] [--card MIB] [--plan] FILE...
//
// What is the smallest card on which our allocator serves a program's requests? FILE is a trace
// (memtrace run -o) or its text form (*.txt: snapshot_events.py makes one of a torch snapshot).
// Prints one line of JSON for each file: the lower bound, the smallest card, and the peak of
// reserved bytes and the calls to the driver on it; with --card, on that card; with --plan, with a
// plan made of the same events. It runs only the allocator's own policy, on a card that is only
// bookkeeping; replay_torch.py does the same with torch's allocators.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "bench/event_sequence.h"
#include "bench/replayed_card.h"

namespace memtrace {
namespace {

nlohmann::ordered_json Describe(const ReplayOutcome& outcome) {
  nlohmann::ordered_json said;
  said["completed"] = !outcome.failure.has_value();
  said["events"] = outcome.events;
  said["peak_reserved"] = outcome.peak_reserved;
  if (outcome.plan_use != PlanUse{}) {
    said["placed"] = outcome.plan_use.placed;
    said["elsewhere"] = outcome.plan_use.elsewhere;
  }
  said["create"] = outcome.calls.calls(DriverCall::kCreate);
  said["map"] = outcome.calls.calls(DriverCall::kMap);
  said["unmap"] = outcome.calls.calls(DriverCall::kUnmap);
  said["wait"] = outcome.calls.calls(DriverCall::kWait);
  if (outcome.failure.has_value()) {
    said["requested"] = outcome.failure->requested;
    said["device_free"] = outcome.failure->device_free;
    said["live"] = outcome.failure->ledger.live_allocated;
    said["cached"] = outcome.failure->ledger.cached;
    said["holes"] = outcome.failure->ledger.holes;
  }
  return said;
}

SharedPlan DescribePlan(const analysis::MemoryPlan& plan, nlohmann::ordered_json& said) {
  Bytes planned = 0;
  for (const analysis::StreamPlan& stream : plan.streams) {
    planned += stream.section.bytes;
    said["steps"].push_back(stream.repetition.times());
    said["step_allocations"].push_back(stream.repetition.period);
    said["large_lower_bound"].push_back(stream.lower_bound);
  }
  said["planned"] = planned;
  return std::make_shared<const Plan>(plan.plan());
}

int Main(int argc, char** argv) {
  CLI::App app{"The smallest card on which our allocator serves a recorded program"};
  int device = 0;
  Bytes card_mib = 0;
  bool is_planned = false;
  std::vector<std::string> files;
  app.add_option("--device", device, "the card of the trace that is replayed");
  app.add_option("--card", card_mib, "replay on a card of so many MiB");
  app.add_flag("--plan", is_planned, "follow a plan made of the same events");
  app.add_option("FILE", files)->required();
  CLI11_PARSE(app, argc, argv);
  for (const std::string& file : files) {
    const auto sequence = ReadEventSequence(file, device);
    if (!sequence.ok()) {
      std::fprintf(stderr, "replay: %s: %s\n", file.c_str(), sequence.status().ToString().c_str());
      return 3;
    }
    nlohmann::ordered_json said{{"file", file}};
    said["lower_bound"] = sequence->LivePeak();
    const SharedPlan plan = is_planned ? DescribePlan(PlanOf(*sequence), said) : nullptr;
    const Bytes card = card_mib > 0 ? card_mib << 20 : SmallestCard(*sequence, plan);
    said["card"] = card;
    said["ratio"] = static_cast<double>(card) / static_cast<double>(sequence->LivePeak());
    said.update(Describe(ReplayOn(card, *sequence, plan)));
    std::puts(said.dump().c_str());
  }
  return 0;
}

}  // namespace
}  // namespace memtrace

int main(int argc, char** argv) {
  try {
    return memtrace::Main(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "replay: %s\n", error.what());
    return 1;
  }
}
