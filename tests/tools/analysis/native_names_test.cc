// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/source/native_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "profiler/trace/events/build_id.h"
#include "tools/analysis/source/frames.h"

namespace memtrace::analysis {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string ThisProgram() { return std::filesystem::read_symlink("/proc/self/exe"); }

// One allocation, by a stack with a frame of each kind in this program.
class OneAllocation : public EventSource {
 public:
  explicit OneAllocation(std::string build_id)
      : strings_{"", "build_id." + ThisProgram(), std::move(build_id)} {}

  void ForEach(const std::function<void(const trace::Event&)>& visit) const override {
    visit({.payload = trace::Annotate{.key = 1, .value = 2}});
    visit({.payload = trace::Allocate{.requested = 1, .stack = 1}});
  }
  std::string_view String(trace::StringId id) const override { return strings_.at(id); }
  std::vector<trace::Frame> Stack(trace::StackId id) const override {
    if (id == 0) return {};
    return {{.file = ThisProgram() + "+0x10", .function = "", .line = 0},
            {.file = ThisProgram() + "+0x20", .function = "Exported()", .line = 0},
            {.file = "train.py", .function = "step", .line = 3}};
  }

 private:
  std::vector<std::string> strings_;
};

class NativeNamesTest : public ::testing::Test {
 protected:
  std::vector<std::string> FunctionsOf(const NativeNames& named) {
    std::vector<std::string> functions;
    for (const trace::Frame& frame : named.Stack(1)) functions.push_back(frame.function);
    return functions;
  }

  NativeNames::Symbolizer symbolizer_ = [this](const std::string&,
                                               const std::vector<std::string>& offsets) {
    ++asked_;
    return std::vector<std::string>(offsets.size(), "Hidden() of " + offsets.front());
  };
  int asked_ = 0;
};

TEST_F(NativeNamesTest, NamelessFrameIsNamedFromItsFile) {
  const OneAllocation source(trace::BuildIdOfFile(ThisProgram()));
  const NativeNames named(source, symbolizer_);
  EXPECT_THAT(FunctionsOf(named), ElementsAre("Hidden() of 0x10", "Exported()", "step"));
  EXPECT_THAT(FunctionsOf(named), ElementsAre("Hidden() of 0x10", "Exported()", "step"));
  EXPECT_EQ(asked_, 1);
  EXPECT_THAT(named.differing_files(), IsEmpty());
}

TEST_F(NativeNamesTest, FileWithAnotherBuildIdIsNotUsed) {
  const OneAllocation source("0123456789abcdef");
  const NativeNames named(source, symbolizer_);
  EXPECT_THAT(FunctionsOf(named), ElementsAre("", "Exported()", "step"));
  EXPECT_EQ(asked_, 0);
  EXPECT_THAT(named.differing_files(), ElementsAre(ThisProgram()));
}

TEST_F(NativeNamesTest, FileWithoutABuildIdIsNotUsed) {
  const OneAllocation source("");
  const NativeNames named(source, symbolizer_);
  EXPECT_THAT(FunctionsOf(named), ElementsAre("", "Exported()", "step"));
}

TEST_F(NativeNamesTest, MissingSymbolizerNamesNothing) {
  const OneAllocation source(trace::BuildIdOfFile(ThisProgram()));
  const NativeNames named(source, [](const std::string&, const std::vector<std::string>&) {
    return std::vector<std::string>{};
  });
  EXPECT_THAT(FunctionsOf(named), ElementsAre("", "Exported()", "step"));
}

TEST(FramesTest, AnonymousNamespaceIsNotAnArgument) {
  EXPECT_EQ(ShortFrame({.file = "/opt/liba.so+0x1",
                        .function = "a::(anonymous namespace)::Load(Model&)",
                        .line = 0}),
            "a::(anonymous namespace)::Load (liba.so)");
}

TEST(FramesTest, OperationIsTheTellingNativeFrame) {
  const trace::Frame empty{.file = "/opt/liba.so+0x1", .function = "at::detail::empty()"};
  const trace::Frame operation{.file = "/opt/liba.so+0x2", .function = "at::_ops::mm::call()"};
  const trace::Frame python{.file = "a/site-packages/b.py", .function = "b", .line = 1};
  EXPECT_EQ(MostInformativeFrame({empty, operation}).function, operation.function);
  EXPECT_EQ(MostInformativeFrame({empty, operation, python}).function, "b");
  EXPECT_EQ(MostInformativeFrame({empty}).function, empty.function);
}

}  // namespace
}  // namespace memtrace::analysis
