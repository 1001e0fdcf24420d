// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/holders/second_models.h"

#include <gtest/gtest.h>

#include "tests/tools/analysis/named_program.h"

namespace memtrace::analysis {
namespace {

using trace::Role;

enum Owner : trace::StringId { kNobody, kPolicy, kReference };
enum Path : trace::StringId { kNoPath, kFirst, kSecond };

class SecondModelsTest : public testing::Test {
 protected:
  void Hold(Owner owner, Role role, uint64_t bytes, Path path = kNoPath) {
    next_ += 4096;
    live_.Apply({.payload = trace::Allocate{
                     .address = next_, .requested = bytes, .allocated = bytes, .owner = owner}});
    live_.Apply({.payload = trace::Relabel{
                     .address = next_, .size = bytes, .role = role, .owner = owner, .path = path}});
  }
  SecondModels Found() { return FindSecondModels(live_.Capture(0), live_, NamedProgram()); }

  LiveSet live_;
  uint64_t next_ = 0;
};

TEST_F(SecondModelsTest, UntrainedModelOfAnotherOwnerIsASecondModel) {
  Hold(kPolicy, Role::kParameter, 300);
  Hold(kPolicy, Role::kGradient, 300);
  Hold(kPolicy, Role::kBuffer, 7);
  Hold(kReference, Role::kParameter, 400);
  Hold(kReference, Role::kBuffer, 10);
  EXPECT_EQ(Found().parameters, 400U);
  EXPECT_EQ(Found().buffers, 10U);
}

TEST_F(SecondModelsTest, TwoTrainedModelsAreNotSecondModels) {
  Hold(kPolicy, Role::kParameter, 300);
  Hold(kPolicy, Role::kGradient, 300);
  Hold(kReference, Role::kParameter, 400);
  Hold(kReference, Role::kOptimizerState, 400);
  EXPECT_EQ(Found().parameters, 0U);
}

TEST_F(SecondModelsTest, LargestModelIsTheFirstWithoutTraining) {
  Hold(kPolicy, Role::kParameter, 300);
  Hold(kReference, Role::kParameter, 400);
  EXPECT_EQ(Found().parameters, 300U);
}

TEST_F(SecondModelsTest, ParameterWithAnExistingPathAndSizeIsAClone) {
  Hold(kNobody, Role::kParameter, 100, kFirst);
  Hold(kNobody, Role::kParameter, 50, kSecond);
  Hold(kNobody, Role::kParameter, 100, kFirst);
  Hold(kNobody, Role::kParameter, 100, kFirst);
  Hold(kNobody, Role::kParameter, 60, kSecond);  // of another size: another parameter
  EXPECT_EQ(Found().parameters, 200U);
}

TEST_F(SecondModelsTest, ModelIsTheFirstEvenIfItsTagEndedBeforeTraining) {
  Hold(kPolicy, Role::kParameter, 300);
  Hold(kNobody, Role::kGradient, 300);
  EXPECT_EQ(Found().parameters, 0U);
}

}  // namespace
}  // namespace memtrace::analysis
