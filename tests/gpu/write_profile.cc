// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// Writes a measured profile of this machine's card 0, in the form of
// interpose/simulated_card/spec/profiles, to stdout. Run it while nothing else uses the card.
#include <cstdio>
#include <iostream>
#include <string>

#include "nlohmann/json.hpp"
#include "tests/gpu/card_reading.h"

namespace {

using nlohmann::ordered_json;

template <typename Value>
ordered_json Measured(const Value& value, const std::string& from) {
  return {{"value", value}, {"source", "measured"}, {"from", from}};
}

ordered_json Profile(const std::string& name, const memtrace::CardReading& card) {
  const std::string by = ", write_profile on a driver of CUDA " +
                         std::to_string(card.driver_version / 1000) + "." +
                         std::to_string(card.driver_version % 1000 / 10);
  return {{"name", name},
          {"device_name", card.device_name},
          {"bytes", Measured(card.bytes, "cuMemGetInfo's total" + by)},
          {"context_bytes", Measured(card.context_bytes, "total - free with one context" + by)},
          {"compute_capability", Measured(std::to_string(card.compute_capability_major) + "." +
                                              std::to_string(card.compute_capability_minor),
                                          "cuDeviceGetAttribute" + by)},
          {"multiprocessors", Measured(card.multiprocessors, "cuDeviceGetAttribute" + by)},
          {"granularity", Measured(card.granularity, "cuMemGetAllocationGranularity" + by)}};
}

}  // namespace

// NOLINTNEXTLINE(bugprone-exception-escape): what it might throw, memory at an end, may end it
int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: write_profile NAME >NAME.json\n");
    return 2;
  }
  memtrace::CardReading card;
  std::string error;
  if (!memtrace::ReadCard(&card, &error)) {
    std::fprintf(stderr, "write_profile: %s; is there a CUDA driver and a card?\n", error.c_str());
    return 5;
  }
  std::cout << Profile(argv[1], card).dump(2) << "\n";
  return 0;
}
