// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/stacks/native_frames.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace memtrace {
namespace {

using ::testing::ContainsRegex;
using ::testing::Gt;
using ::testing::IsEmpty;

using Frames = std::array<recorder::RawFrame, NativeFrames::kMostFrames>;

__attribute__((noinline)) size_t WalkFromHere(Frames& frames, const void** caller) {
  *caller = __builtin_return_address(0);
  const size_t count = NativeFrames::Walk(*caller, frames);
  asm volatile("" ::: "memory");  // no tail call
  return count;
}

TEST(NativeFramesTest, StackBeginsAtTheCaller) {
  Frames frames;
  const void* caller = nullptr;
  const size_t count = WalkFromHere(frames, &caller);
  ASSERT_THAT(count, Gt(2u));
  EXPECT_EQ(frames[0].code, caller);
}

TEST(NativeFramesTest, UnknownCallerKeepsTheWholeStack) {
  Frames frames;
  const void* caller = nullptr;
  const size_t from_caller = WalkFromHere(frames, &caller);
  EXPECT_THAT(NativeFrames::Walk(nullptr, frames), Gt(from_caller));
}

TEST(NativeFramesTest, DeepStackLosesItsOutermostFrames) {
  const auto deep = [](auto& self, int depth) -> size_t {  // NOLINT(misc-no-recursion)
    if (depth > 0) {
      const size_t count = self(self, depth - 1);
      asm volatile("" ::: "memory");
      return count;
    }
    Frames frames;
    const void* caller = nullptr;
    return WalkFromHere(frames, &caller);
  };
  EXPECT_EQ(deep(deep, 500), NativeFrames::kMostFrames);
}

TEST(NativeFramesTest, FrameHasFileAndOffsetAndItsModuleABuildId) {
  NativeFrames native;
  Frames frames;
  const void* caller = nullptr;
  ASSERT_THAT(WalkFromHere(frames, &caller), Gt(0u));
  const trace::Frame frame = native.Symbolize(frames[0]);
  EXPECT_THAT(frame.file, ContainsRegex("/core_test\\+0x[0-9a-f]+$"));
  EXPECT_EQ(frame.line, 0u);
  ASSERT_TRUE(native.has_new_modules());
  const auto modules = native.TakeNewModules();
  ASSERT_EQ(modules.size(), 1u);
  EXPECT_THAT(modules.begin()->second, ContainsRegex("^([0-9a-f]{2}){8,}$"));
  EXPECT_FALSE(native.has_new_modules());
  native.Symbolize(frames[0]);
  EXPECT_THAT(native.TakeNewModules(), IsEmpty());
}

TEST(NativeFramesTest, AddressOutsideAllModulesIsShownAsIs) {
  NativeFrames native;
  const trace::Frame frame = native.Symbolize(
      // NOLINTNEXTLINE(performance-no-int-to-ptr): nobody's address
      {reinterpret_cast<const void*>(uintptr_t{0x1235}), NativeFrames::kInstruction});
  EXPECT_EQ(frame.file, "?+0x1234");
}

}  // namespace
}  // namespace memtrace
