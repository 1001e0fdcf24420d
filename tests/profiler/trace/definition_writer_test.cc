// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/trace/writing/definition_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/profiler/trace/file_blocks.h"

namespace memtrace::trace {
namespace {

using ::testing::ElementsAre;
using ::testing::FieldsAre;

constexpr int kString = static_cast<int>(RecordKind::kString);
constexpr int kFrame = static_cast<int>(RecordKind::kFrame);
constexpr int kStack = static_cast<int>(RecordKind::kStack);

class DefinitionWriterTest : public testing::Test {
 protected:
  explicit DefinitionWriterTest(uint64_t keep_bytes = 0)
      : blocks_(*TraceFile::Create(path_, {}, {.keep_bytes = keep_bytes})) {}

  std::vector<int> Kinds() const { return BlocksOf(path_).at(0).Kinds(); }
  FrameId FrameAt(uint32_t line) {
    return definitions_.DefineFrame({.file = "train.py", .function = "step", .line = line});
  }

  TemporaryFolder folder_;
  const std::string path_ = folder_.File("run.trace");
  RecordBlocks blocks_;
  DefinitionWriter definitions_{blocks_};
};

TEST_F(DefinitionWriterTest, EachStringIsDefinedOnce) {
  const StringId policy = definitions_.String("policy");
  const StringId reference = definitions_.String("reference");
  EXPECT_NE(policy, reference);
  EXPECT_EQ(definitions_.String("policy"), policy);
  EXPECT_THAT(Kinds(), ElementsAre(kString, kString));
  EXPECT_EQ(MustOpen(path_).String(policy), "policy");
  EXPECT_EQ(definitions_.Text(reference), "reference");
}

TEST_F(DefinitionWriterTest, EmptyTextIsZeroAndIsNotWritten) {
  EXPECT_EQ(definitions_.String(""), 0U);
  EXPECT_EQ(definitions_.Text(0), "");
  EXPECT_EQ(definitions_.Text(77), "(lost)");
  EXPECT_EQ(blocks_.begun(), 0U);
}

TEST_F(DefinitionWriterTest, StringIsTruncatedAt16KiB) {
  const std::string most(16 << 10, 'x');
  const StringId id = definitions_.String(most + "and more");
  EXPECT_EQ(definitions_.String(most), id);
  EXPECT_EQ(MustOpen(path_).String(id), most);
}

// A reader of any prefix of the file can resolve the ids of its last record.
TEST_F(DefinitionWriterTest, DefinitionFollowsWhatItRefersTo) {
  const StackId outer = definitions_.DefineStack(0, FrameAt(10));
  definitions_.DefineStack(outer, FrameAt(20));
  EXPECT_THAT(Kinds(), ElementsAre(kString, kString, kFrame, kStack, kFrame, kStack));
}

TEST_F(DefinitionWriterTest, StacksShareTheirCallers) {
  const StackId outer = definitions_.DefineStack(0, FrameAt(10));
  const StackId left = definitions_.DefineStack(outer, FrameAt(20));
  const StackId right = definitions_.DefineStack(outer, FrameAt(30));
  EXPECT_EQ(definitions_.DefineStack(outer, FrameAt(20)), left);
  const auto kinds = Kinds();
  EXPECT_EQ(std::count(kinds.begin(), kinds.end(), kStack), 3) << "each is defined once";
  const TraceReader reader = MustOpen(path_);
  EXPECT_THAT(reader.Stack(left),
              ElementsAre(FieldsAre("train.py", "step", 20U), FieldsAre("train.py", "step", 10U)));
  EXPECT_THAT(reader.Stack(right),
              ElementsAre(FieldsAre("train.py", "step", 30U), FieldsAre("train.py", "step", 10U)));
}

TEST(DefinitionWriterWithoutAFileTest, NamesAndStacksAreStillDistinguished) {
  RecordBlocks blocks(absl::UnavailableError("no file"));
  DefinitionWriter definitions(blocks);
  const StringId policy = definitions.String("policy");
  EXPECT_NE(policy, definitions.String("reference"));
  EXPECT_EQ(definitions.String("policy"), policy);
  EXPECT_EQ(definitions.Text(policy), "policy");
  const FrameId frame = definitions.DefineFrame({.file = "a", .function = "b", .line = 1});
  EXPECT_NE(definitions.DefineStack(0, frame), 0U);
}

// Definitions of a file that drops its oldest blocks.
class KeptDefinitionsTest : public DefinitionWriterTest {
 protected:
  KeptDefinitionsTest() : DefinitionWriterTest(4 << 20) {}

  // Adds strings of 16 KiB until one is no longer written, and returns its id.
  StringId FillUp() {
    for (int i = 0; i < 1000; ++i) {
      const StringId id = definitions_.String(std::to_string(i) + std::string(16 << 10, 'x'));
      if (!MustOpen(path_).HasString(id)) return id;
    }
    ADD_FAILURE() << "there is room without end";
    return 0;
  }
};

TEST_F(KeptDefinitionsTest, NewNamesBeyondTheirShareAreZero) {
  const StringId before = definitions_.String("before");
  const FrameId frame = FrameAt(10);
  const StackId outer = definitions_.DefineStack(0, frame);
  const StringId last = FillUp();
  EXPECT_NE(last, 0U);
  EXPECT_EQ(MustOpen(path_).String(last), "(lost)");
  EXPECT_EQ(definitions_.String("after"), 0U);
  EXPECT_EQ(definitions_.String("before"), before);
  EXPECT_EQ(FrameAt(20), 0U);
  EXPECT_EQ(FrameAt(10), frame);
  EXPECT_EQ(definitions_.DefineStack(outer, 0), outer) << "a stack ends early";
}

}  // namespace
}  // namespace memtrace::trace
