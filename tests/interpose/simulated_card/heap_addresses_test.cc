// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// What an H200's driver answered (tests/gpu/recordings/h200/address_walk.json) and we must answer.
#include "interpose/simulated_card/spec/heap_addresses.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"

namespace memtrace::card {
namespace {

using Address = HeapAddresses::Address;

constexpr Address kBegin{0x3800'0000'0000};
constexpr Address kEnd = kBegin + (1ull << 40);
constexpr double kMiB = 1ull << 20;

struct Allocation {
  Address begin;
  std::uint64_t bytes = 0;
};

// Returns the addresses of a walk's allocations. A step is a size in MiB, or minus the index of the
// allocation to free; -0.5 frees the first.
std::vector<Address> Walk(const std::vector<double>& steps) {
  HeapAddresses heap(kBegin, kEnd);
  std::vector<Allocation> made;
  std::vector<Address> addresses;
  for (const double step : steps) {
    if (step < 0) {
      const Allocation& freed = made[static_cast<std::size_t>(-step)];
      heap.GiveBack(freed.begin, freed.bytes);
      continue;
    }
    const auto bytes = static_cast<std::uint64_t>(step * kMiB);
    made.push_back({heap.Take(bytes), bytes});
    addresses.push_back(made.back().begin);
  }
  return addresses;
}

std::vector<double> FromTheFirst(const std::vector<Address>& addresses) {
  std::vector<double> distances;
  distances.reserve(addresses.size());
  for (const Address address : addresses) {
    distances.push_back(
        (static_cast<double>(address.value()) - static_cast<double>(addresses[0].value())) / kMiB);
  }
  return distances;
}

std::vector<Address> Recorded(const nlohmann::json& values) {
  std::vector<Address> addresses;
  for (const std::uint64_t value : values) addresses.emplace_back(value);
  return addresses;
}

TEST(HeapAddressesTest, MatchThoseOfARealDriver) {
  std::ifstream file(MEMTRACE_RECORDINGS "/address_walk.json");
  const auto walks = nlohmann::json::parse(file);
  ASSERT_EQ(walks.size(), 17u);
  for (const auto& [name, walk] : walks.items()) {
    EXPECT_EQ(FromTheFirst(Walk(walk["steps"])), FromTheFirst(Recorded(walk["addresses"]))) << name;
  }
}

TEST(HeapAddressesTest, AreNullWithoutRoom) {
  HeapAddresses heap(kBegin, kBegin + (1ull << 30));
  EXPECT_TRUE(heap.Take(1ull << 30).is_null());
  EXPECT_FALSE(heap.Take(256ull << 20).is_null());
  EXPECT_TRUE(heap.Take(512ull << 20).is_null());
}

}  // namespace
}  // namespace memtrace::card
