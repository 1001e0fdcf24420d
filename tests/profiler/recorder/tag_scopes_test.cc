// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The scopes of a thread without a backward pass (see backward_scopes_test for those).
#include "profiler/recorder/tag_scopes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "tests/profiler/recorder/logged_trace.h"

namespace memtrace::recorder {
namespace {

using ::testing::ElementsAre;
using trace::Role;

class TagScopesTest : public testing::Test {
 protected:
  // Returns "owner module role" of an allocation by the calling thread.
  std::string Now(TagScopes& scopes) {
    const AllocationContext context = contexts_.Unpack(scopes.CurrentContext(/*stack=*/0));
    const trace::DefinitionWriter& names = log_.writer().definitions();
    std::string text(names.Text(context.owner));
    text += " " + std::string(names.Text(context.module));
    return text + " " + std::to_string(static_cast<int>(context.role));
  }
  std::string Now() { return Now(scopes_); }

  LoggedTrace trace_;
  EventLog& log_ = trace_.log();
  ContextTable contexts_;
  TagScopes scopes_{log_, contexts_};
};

TEST_F(TagScopesTest, TagMayEndInAnotherModule) {
  scopes_.PushTag("policy");
  scopes_.PushModule("model.layers.0");
  EXPECT_EQ(Now(), "policy model.layers.0 0");
  scopes_.PopTag();
  EXPECT_EQ(Now(), " model.layers.0 0");
  scopes_.PopModule();
  EXPECT_EQ(Now(), "  0");
}

TEST_F(TagScopesTest, NestedTagsAreJoined) {
  scopes_.PushTag("run");
  scopes_.PushTag("policy");
  scopes_.PushTag("adapter");
  EXPECT_EQ(Now(), "run/policy/adapter  0");
  scopes_.PopTag();
  EXPECT_EQ(Now(), "run/policy  0");
}

TEST_F(TagScopesTest, RoleAppliesUntilItIsPopped) {
  scopes_.PushRole(Role::kParameter);
  scopes_.PushRole(Role::kGradient);
  EXPECT_EQ(Now(), "  " + std::to_string(static_cast<int>(Role::kGradient)));
  scopes_.PopRole();
  EXPECT_EQ(Now(), "  " + std::to_string(static_cast<int>(Role::kParameter)));
  scopes_.PopRole();
  EXPECT_EQ(Now(), "  0");
}

TEST_F(TagScopesTest, PopWithoutPushDoesNothing) {
  scopes_.PopTag();
  scopes_.PopModule();
  scopes_.PopRole();
  scopes_.LeaveScope();
  scopes_.PushTag("policy");
  scopes_.PushModule("model");
  EXPECT_EQ(Now(), "policy model 0");
}

TEST_F(TagScopesTest, ModulesAndRolesBeyondTheMaximumDepthAreIgnored) {
  for (uint32_t i = 0; i < TagScopes::kMaxDepth; ++i) {
    scopes_.PushModule("inside");
    scopes_.PushRole(Role::kParameter);
  }
  scopes_.PushModule("deeper");
  scopes_.PushRole(Role::kGradient);
  const std::string deepest = " inside " + std::to_string(static_cast<int>(Role::kParameter));
  EXPECT_EQ(Now(), deepest);
  for (uint32_t i = 0; i < TagScopes::kMaxDepth; ++i) {
    EXPECT_EQ(Now(), deepest);
    scopes_.PopModule();
    scopes_.PopRole();
  }
  EXPECT_EQ(Now(), deepest) << "the outermost is left";
  scopes_.PopModule();
  scopes_.PopRole();
  EXPECT_EQ(Now(), "  0");
}

TEST_F(TagScopesTest, ScopeIsEnteredOnAnotherThreadAndLeftAgain) {
  scopes_.PushTag("policy");
  scopes_.PushModule("model");
  const ScopeId mine = scopes_.CurrentScope();
  scopes_.PushRole(Role::kGradient);
  EXPECT_EQ(scopes_.CurrentScope(), mine);
  std::thread([&] {
    EXPECT_EQ(Now(), "  0");
    scopes_.EnterScope(mine);
    EXPECT_EQ(Now(), "policy model 0") << "a role stays where it is stated";
    scopes_.PushTag("inner");
    EXPECT_EQ(Now(), "policy/inner model 0");
    scopes_.PopTag();
    scopes_.LeaveScope();
    EXPECT_EQ(Now(), "  0");
  }).join();
}

TEST_F(TagScopesTest, ScopeByNameReplacesOwnerAndModule) {
  scopes_.PushTag("run");
  scopes_.PushModule("model");
  scopes_.EnterScope("loader", "");
  EXPECT_EQ(Now(), "loader  0");
  scopes_.LeaveScope();
  EXPECT_EQ(Now(), "run model 0");
}

TEST_F(TagScopesTest, OwnerChangesAreEventsOfTheirThread) {
  scopes_.PushTag("run");
  scopes_.PushModule("model");
  scopes_.PushTag("policy");
  scopes_.PopTag();
  scopes_.PopTag();
  std::vector<std::string> owners;
  std::vector<uint32_t> threads;
  trace_.ForEach([&](const trace::Event& event) {
    const auto& change = std::get<trace::TagChange>(event.payload);
    owners.emplace_back(log_.writer().definitions().Text(change.owner));
    threads.push_back(change.thread);
  });
  EXPECT_THAT(owners, ElementsAre("run", "run/policy", "run", ""));
  EXPECT_THAT(threads, testing::Each(threads.front()));
  EXPECT_NE(threads.front(), 0U);
}

// A process has one recorder at a time; a forked child makes another one.
TEST_F(TagScopesTest, NewRecorderStartsWithoutTags) {
  scopes_.PushTag("before");
  LoggedTrace other_trace;
  ContextTable other_contexts;
  TagScopes other(other_trace.log(), other_contexts);
  EXPECT_EQ(other.CurrentScope(), 0U);
  EXPECT_EQ(scopes_.CurrentScope(), 0U);
}

TEST_F(TagScopesTest, ContextHasStackAndScope) {
  scopes_.PushTag("policy");
  const AllocationContext context = contexts_.Unpack(scopes_.CurrentContext(/*stack=*/77));
  EXPECT_EQ(context.stack, 77U);
  EXPECT_NE(context.owner, 0U);
}

TEST_F(TagScopesTest, ForwardScopesAreNotKeptWithoutBackwardPasses) {
  scopes_.PushTag("policy");
  EXPECT_EQ(scopes_.OfForward(0), 0U);
}

}  // namespace
}  // namespace memtrace::recorder
