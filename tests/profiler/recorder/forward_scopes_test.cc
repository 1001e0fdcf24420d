// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/recorder/forward_scopes.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace memtrace::recorder {
namespace {

TEST(ForwardScopesTest, OperationHasTheScopeInWhichItRan) {
  ForwardScopes scopes;
  scopes.Change({.thread = 3, .sequence = 10}, 1);
  scopes.Change({.thread = 3, .sequence = 13}, 2);
  scopes.Change({.thread = 3, .sequence = 17}, 1);
  EXPECT_EQ(scopes.At({3, 9}), 0U);
  EXPECT_EQ(scopes.At({3, 10}), 1U);
  EXPECT_EQ(scopes.At({3, 12}), 1U);
  EXPECT_EQ(scopes.At({3, 13}), 2U);
  EXPECT_EQ(scopes.At({3, 1000}), 1U);
  EXPECT_EQ(scopes.At({4, 12}), 0U);
}

TEST(ForwardScopesTest, ScopeWithoutOperationsIsForgotten) {
  ForwardScopes scopes;
  scopes.Change({1, 5}, 1);
  scopes.Change({1, 5}, 2);
  scopes.Change({1, 5}, 3);
  EXPECT_EQ(scopes.At({1, 5}), 3U);
}

TEST(ForwardScopesTest, LatestChangesOfAThreadAreKept) {
  ForwardScopes scopes;
  for (uint32_t i = 1; i <= ForwardScopes::kMaxChanges + 2; ++i) scopes.Change({1, i}, i);
  EXPECT_EQ(scopes.At({1, 2}), 0U);
  EXPECT_EQ(scopes.At({1, 3}), 3U);
  const uint32_t last = ForwardScopes::kMaxChanges + 2;
  EXPECT_EQ(scopes.At({1, last}), last);
  EXPECT_EQ(scopes.At({1, last - 1}), last - 1);
}

TEST(ForwardScopesTest, AnswersDoNotDependOnEarlierQueries) {
  constexpr uint64_t kOperations = 3 * ForwardScopes::kMaxChanges;
  std::mt19937_64 random(7);
  ForwardScopes scopes;
  std::map<uint64_t, ScopeId> kept;  // the latest changes
  uint64_t asked = 0;
  for (uint64_t i = 1; i <= kOperations; i += 1 + random() % 3) {
    const auto scope = static_cast<ScopeId>(i);  // always a different one
    scopes.Change({1, i}, scope);
    kept[i] = scope;
    if (kept.size() > ForwardScopes::kMaxChanges) kept.erase(kept.begin());
    // Mostly goes backwards as a backward pass does, sometimes to any place, sometimes forwards.
    asked = random() % 64 == 0 ? random() % (i + 2) : asked - asked % 2 + random() % 3;
    const auto after = kept.upper_bound(asked);
    ASSERT_EQ(scopes.At({1, asked}), after == kept.begin() ? 0U : std::prev(after)->second)
        << "operation " << asked << " after " << i;
    asked -= asked % 5 == 0 ? 0 : 1;
  }
}

TEST(ForwardScopesTest, LatestThreadsAreKept) {
  ForwardScopes scopes;
  for (uint32_t thread = 1; thread <= ForwardScopes::kMaxThreads + 1; ++thread) {
    scopes.Change({thread, 0}, thread);
  }
  EXPECT_EQ(scopes.At({1, 0}), 0U);
  EXPECT_EQ(scopes.At({2, 0}), 2U);
  EXPECT_EQ(scopes.At({ForwardScopes::kMaxThreads + 1, 0}), ForwardScopes::kMaxThreads + 1);
}

}  // namespace
}  // namespace memtrace::recorder
