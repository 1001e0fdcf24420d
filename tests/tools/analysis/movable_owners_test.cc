// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/holders/movable_owners.h"

#include <gtest/gtest.h>

#include <array>

namespace memtrace::analysis {
namespace {

using trace::Role;

enum Owner : trace::StringId { kNobody, kPolicy, kReference, kEncoder };

// Knows the owners' names.
class Names : public EventSource {
 public:
  void ForEach(const std::function<void(const trace::Event&)>& /*visit*/) const override {}
  std::string_view String(trace::StringId id) const override {
    return std::array<std::string_view, 4>{"", "policy", "reference", "encoder"}[id];
  }
  std::vector<trace::Frame> Stack(trace::StackId /*id*/) const override { return {}; }
};

class MovableOwnersTest : public testing::Test {
 protected:
  void Hold(Owner owner, Role role, uint64_t bytes) {
    next_ += 4096;
    live_.Apply({.payload = trace::Allocate{
                     .address = next_, .requested = bytes, .allocated = bytes, .owner = owner}});
    live_.Apply(
        {.payload = trace::Relabel{.address = next_, .size = bytes, .role = role, .owner = owner}});
  }
  std::vector<MovableOwner> Found() { return FindMovableOwners(live_.Capture(0), live_, Names()); }

  LiveSet live_;
  uint64_t next_ = 0;
};

TEST_F(MovableOwnersTest, UntrainedModelBesideATrainedOneIsMovable) {
  Hold(kPolicy, Role::kParameter, 500);
  Hold(kPolicy, Role::kGradient, 500);
  Hold(kReference, Role::kParameter, 400);
  Hold(kReference, Role::kBuffer, 10);
  const auto found = Found();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].name, "reference");
  EXPECT_EQ(found[0].bytes, 410U);
  EXPECT_FALSE(found[0].is_in_use);
}

TEST_F(MovableOwnersTest, ModelWithActivationsIsInUse) {
  Hold(kPolicy, Role::kParameter, 500);
  Hold(kPolicy, Role::kOptimizerState, 1000);
  Hold(kEncoder, Role::kParameter, 100);
  Hold(kReference, Role::kParameter, 400);
  Hold(kReference, Role::kActivation, 50);
  const auto found = Found();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].name, "reference");
  EXPECT_EQ(found[0].bytes, 450U);
  EXPECT_TRUE(found[0].is_in_use);
  EXPECT_EQ(found[1].name, "encoder");
}

TEST_F(MovableOwnersTest, OnlyModelIsNotMovable) {
  Hold(kReference, Role::kParameter, 400);
  Hold(kPolicy, Role::kActivation, 400);
  EXPECT_TRUE(Found().empty());
}

TEST_F(MovableOwnersTest, ParametersWithoutAnOwnerCountAsAModel) {
  Hold(kNobody, Role::kParameter, 900);
  Hold(kReference, Role::kParameter, 400);
  const auto found = Found();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].name, "reference");
}

}  // namespace
}  // namespace memtrace::analysis
