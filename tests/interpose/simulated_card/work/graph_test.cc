// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "interpose/simulated_card/work/graph_execs.h"
#include "interpose/simulated_card/work/graphs.h"
#include "interpose/simulated_card/work/stream.h"

namespace memtrace::card {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

class GraphTest : public ::testing::Test {
 protected:
  // Adds a node whose work appends its name to done_.
  GraphNode* Add(char name, const Graph::Nodes& dependencies) {
    GraphNode* node = nullptr;
    const auto work = [this, name](const Work&) {
      done_ += name;
      return Result::kSuccess;
    };
    EXPECT_EQ(graphs_.Add(graph_, NodeType::kHost, dependencies, work, &node), Result::kSuccess);
    return node;
  }

  std::string Launched(GraphExec* exec) {
    done_.clear();
    GraphLaunch all;
    EXPECT_EQ(execs_.LaunchOf(exec, &all), Result::kSuccess);
    for (const HostWork& work : *all.work) EXPECT_EQ(work({}), Result::kSuccess);
    return done_;
  }

  Graphs graphs_;
  GraphExecs execs_{graphs_};
  Graph* graph_ = graphs_.Create();
  std::string done_;
};

TEST_F(GraphTest, LaunchRunsEachNodeAfterItsDependencies) {
  GraphNode* last = Add('c', {});
  GraphNode* first = Add('a', {});
  GraphNode* middle = Add('b', {first});
  ASSERT_EQ(graphs_.AddEdge(middle, last), Result::kSuccess);
  GraphExec* exec = nullptr;
  ASSERT_EQ(execs_.Instantiate(graph_, &exec), Result::kSuccess);
  EXPECT_EQ(Launched(exec), "abc");
}

TEST_F(GraphTest, CycleIsNotInstantiated) {
  GraphNode* first = Add('a', {});
  GraphNode* second = Add('b', {first});
  ASSERT_EQ(graphs_.AddEdge(second, first), Result::kSuccess);
  GraphExec* exec = nullptr;
  EXPECT_EQ(execs_.Instantiate(graph_, &exec), Result::kInvalidValue);
}

TEST_F(GraphTest, EdgesAreSeenFromBothEnds) {
  GraphNode* first = Add('a', {});
  GraphNode* second = Add('b', {first});
  EXPECT_THAT(graph_->DependentsOf(first), ElementsAre(second));
  EXPECT_THAT(graph_->AllEdges(), ElementsAre(Pair(first, second)));
  ASSERT_EQ(graphs_.RemoveEdge(first, second), Result::kSuccess);
  EXPECT_EQ(graphs_.RemoveEdge(first, second), Result::kInvalidValue);
}

TEST_F(GraphTest, ExecutableGraphOutlivesItsGraph) {
  Add('a', {});
  GraphExec* exec = nullptr;
  ASSERT_EQ(execs_.Instantiate(graph_, &exec), Result::kSuccess);
  ASSERT_EQ(graphs_.Destroy(graph_), Result::kSuccess);
  EXPECT_EQ(Launched(exec), "a");
  EXPECT_EQ(execs_.Destroy(exec), Result::kSuccess);
  EXPECT_EQ(execs_.Destroy(exec), Result::kInvalidValue);
}

TEST_F(GraphTest, UpdateTakesTheWorkOfAGraphOfTheSameShape) {
  Add('a', {});
  GraphExec* exec = nullptr;
  ASSERT_EQ(execs_.Instantiate(graph_, &exec), Result::kSuccess);
  graph_ = graphs_.Create();
  Add('z', {});
  ASSERT_EQ(execs_.Update(exec, graph_), Result::kSuccess);
  EXPECT_EQ(Launched(exec), "z");
  Add('y', {});
  EXPECT_EQ(execs_.Update(exec, graph_), Result::kExecUpdateFailure);
  EXPECT_EQ(Launched(exec), "z");
}

TEST_F(GraphTest, CloneHasItsOwnNodes) {
  GraphNode* first = Add('a', {});
  Add('b', {first});
  Graph* clone = nullptr;
  ASSERT_EQ(graphs_.Clone(graph_, &clone), Result::kSuccess);
  ASSERT_EQ(graphs_.DestroyNode(first), Result::kSuccess);
  EXPECT_EQ(clone->AllEdges().size(), 1u);
  EXPECT_TRUE(graph_->AllEdges().empty());
}

TEST_F(GraphTest, DestroyedObjectsAreRejected) {
  GraphNode* node = Add('a', {});
  ASSERT_EQ(graphs_.Destroy(graph_), Result::kSuccess);
  const auto exists = [](const GraphNode&) { return Result::kSuccess; };
  EXPECT_EQ(graphs_.VisitNode(node, exists), Result::kInvalidValue);
  EXPECT_EQ(graphs_.Destroy(graph_), Result::kInvalidValue);
  Graph* other = graphs_.Create();
  GraphNode* made = nullptr;
  EXPECT_EQ(graphs_.Add(other, NodeType::kEmpty, Graph::Nodes{node}, nullptr, &made),
            Result::kInvalidValue);
}

TEST_F(GraphTest, DotTextHasNodesAndEdges) {
  Add('b', {Add('a', {})});
  const std::string text = graph_->Dot();
  EXPECT_THAT(text, HasSubstr("node_0 [label=\"host\"]"));
  EXPECT_THAT(text, HasSubstr("node_0 -> node_1;"));
}

}  // namespace
}  // namespace memtrace::card
