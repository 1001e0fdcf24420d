// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/replayed/role_inference.h"

#include <gtest/gtest.h>

namespace memtrace::analysis {
namespace {

using trace::Phase;
using trace::Role;

// Returns the role of a block born in `birth` and gone `runs` changes of phase later, or at the
// trace's end.
Role Inferred(Phase birth, bool freed, uint32_t runs) {
  Block block;
  block.birth.phase = birth;
  block.freed = freed;
  Position later;
  later.phase_run = runs;
  block.death = later;
  return InferRole(block, later);
}

TEST(RoleInferenceTest, MemoryKeptByTheForwardIsAnActivation) {
  EXPECT_EQ(Inferred(Phase::kForward, true, 1), Role::kActivation);
  EXPECT_EQ(Inferred(Phase::kForward, false, 0), Role::kActivation);
  EXPECT_EQ(Inferred(Phase::kForward, true, 0), Role::kTemporary);
  EXPECT_EQ(Inferred(Phase::kRecompute, true, 1), Role::kActivation);
  EXPECT_EQ(Inferred(Phase::kEvaluate, true, 1), Role::kActivation);
  EXPECT_EQ(Inferred(Phase::kGenerate, true, 0), Role::kTemporary);
}

TEST(RoleInferenceTest, MemoryThatOutlivesTheOptimizerPhaseIsOptimizerState) {
  EXPECT_EQ(Inferred(Phase::kOptimizer, false, 1), Role::kOptimizerState);
  EXPECT_EQ(Inferred(Phase::kOptimizer, true, 3), Role::kOptimizerState);
  EXPECT_EQ(Inferred(Phase::kOptimizer, false, 0), Role::kTemporary);
  EXPECT_EQ(Inferred(Phase::kOptimizer, true, 0), Role::kTemporary);
}

TEST(RoleInferenceTest, BackwardMemoryIsTemporaryUntilLabelled) {
  EXPECT_EQ(Inferred(Phase::kBackward, false, 2), Role::kTemporary);
}

TEST(RoleInferenceTest, MemoryFreedBeforeTheFirstForwardIsTemporary) {
  EXPECT_EQ(Inferred(Phase::kInit, true, 0), Role::kTemporary);
  EXPECT_EQ(Inferred(Phase::kInit, true, 1), Role::kUnknown);
}

TEST(RoleInferenceTest, NothingIsInferredOutsidePhases) {
  EXPECT_EQ(Inferred(Phase::kOther, true, 0), Role::kUnknown);
  EXPECT_EQ(Inferred(Phase::kOther, false, 2), Role::kUnknown);
  EXPECT_EQ(Inferred(Phase::kInit, false, 2), Role::kUnknown);
}

TEST(RoleInferenceTest, MemoryThatOutlivesItsModuleWithoutABackwardIsAnActivation) {
  Block block;
  block.birth.phase = Phase::kForward;
  block.freed = true;
  Position end;
  EXPECT_EQ(InferRole(block, end), Role::kTemporary);
  block.death.module_run = 2;
  EXPECT_EQ(InferRole(block, end), Role::kActivation);
  end.backward_seen = true;
  EXPECT_EQ(InferRole(block, end), Role::kTemporary);
  block.birth.phase = Phase::kEvaluate;
  end.backward_seen = false;
  EXPECT_EQ(InferRole(block, end), Role::kTemporary);
}

TEST(RoleInferenceTest, RequestOfAForeachUpdateIsTemporary) {
  const std::string torch = "/venv/lib/python3.11/site-packages/torch/optim/adam.py";
  Position at;
  at.phase = Phase::kOptimizer;
  EXPECT_EQ(InferRequestRole(at, {{torch, "_multi_tensor_adam", 791}}), Role::kTemporary);
  EXPECT_EQ(InferRequestRole(at, {{torch, "_init_group", 180}}), Role::kOptimizerState);
  EXPECT_EQ(InferRequestRole(at, {{torch, "Adam._init_group", 180}}), Role::kOptimizerState);
  EXPECT_EQ(InferRequestRole(at, {{"/home/ada/adam.py", "_multi_tensor_adam", 1}}), Role::kUnknown);
}

}  // namespace
}  // namespace memtrace::analysis
