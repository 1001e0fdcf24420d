// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// A profile that is simulated and measured again is unchanged.
#include "tests/gpu/card_reading.h"

#include <gtest/gtest.h>

#include "interpose/simulated_card/spec/card_profile.h"

namespace memtrace {
namespace {

TEST(CardReadingTest, SimulatedProfileIsReadBack) {
  const card::CardProfile* profile = card::FindCardProfile("rtx-4090");
  ASSERT_NE(profile, nullptr);
  CardReading reading;
  std::string error;
  ASSERT_TRUE(ReadCard(&reading, &error)) << error;
  EXPECT_EQ(reading.device_name.find(profile->device_name) != std::string::npos, true)
      << reading.device_name;
  EXPECT_EQ(reading.bytes, profile->bytes);
  EXPECT_EQ(reading.context_bytes, profile->context_bytes);
  EXPECT_EQ(reading.compute_capability_major, profile->compute_capability_major);
  EXPECT_EQ(reading.compute_capability_minor, profile->compute_capability_minor);
  EXPECT_EQ(reading.multiprocessors, profile->multiprocessors);
  EXPECT_EQ(reading.granularity, 2u << 20);
}

}  // namespace
}  // namespace memtrace
