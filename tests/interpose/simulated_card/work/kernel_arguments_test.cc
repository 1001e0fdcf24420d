// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/work/code/kernel_arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace memtrace::card {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Parameters = std::optional<std::vector<CodeImage::Parameter>>;

constexpr Address kFirst = AddressRanges::kBegin + 4096;
constexpr Address kSecond = AddressRanges::kBegin + 8192;

// Reads the parameters of a kernel from its declaration in PTX.
Parameters Declared(const std::string& list) {
  const std::string ptx = "//\n.visible .entry kernel(" + list + ")\n{ ret; }\n";
  return ReadCodeImage(ptx.c_str())->kernels.at(0).parameters;
}

// Calls PointersAmong with the arguments in one buffer, as cuLaunchKernel's `extra` has them.
template <typename Buffer>
std::vector<Address> InBuffer(const Parameters& parameters, Buffer& buffer) {
  std::size_t bytes = sizeof(buffer);
  // NOLINTNEXTLINE(performance-no-int-to-ptr): cuda.h numbers the keys so.
  const auto key = [](std::uintptr_t number) { return reinterpret_cast<void*>(number); };
  const std::array<void*, 5> extra = {key(1), &buffer, key(2), &bytes, key(0)};
  return PointersAmong(parameters, nullptr, extra.data());
}

TEST(KernelArgumentsTest, PointersAreFoundBesideOtherArguments) {
  Address pointer = kFirst;
  std::uint32_t number = 7;
  Address other = kSecond;
  const std::array<void*, 3> arguments = {&pointer, &number, &other};
  const Parameters parameters =
      Declared(".param .u64 .ptr .global .align 1 a, .param .u32 n, .param .u64 b");
  EXPECT_THAT(PointersAmong(parameters, arguments.data(), nullptr), ElementsAre(kFirst, kSecond));
}

TEST(KernelArgumentsTest, PointersInABufferAreFoundAtTheirOffsets) {
  struct {
    std::uint32_t number = 7;
    Address pointer = kFirst;
    std::uint32_t rows = 16;
    std::uint32_t columns = 8192;  // with `rows`, the same bytes as an address
    Address other = kSecond;
  } buffer;
  const Parameters parameters = Declared(
      ".param .u32 n, .param .u64 a, .param .u32 rows, .param .u32 columns, .param .u64 b");
  EXPECT_THAT(InBuffer(parameters, buffer), ElementsAre(kFirst, kSecond));
  EXPECT_THAT(InBuffer(std::nullopt, buffer), IsEmpty());
}

TEST(KernelArgumentsTest, StatedAlignmentMovesAParameter) {
  struct {
    std::uint32_t number = 7;
    alignas(64) std::array<std::uint64_t, 16> map = {kFirst.value()};
  } buffer;
  EXPECT_THAT(InBuffer(Declared(".param .u32 n, .param .align 64 .b8 map[128]"), buffer),
              ElementsAre(kFirst));
}

TEST(KernelArgumentsTest, StructuresCountIfTheyHoldNothingButAddresses) {
  std::array<Address, 4> pointers = {kFirst, Address(), kSecond, Address()};
  struct {
    Address pointer = kFirst;
    std::uint64_t number = 7;
  } mixed;
  const Parameters parameters =
      Declared(".param .align 8 .b8 pointers[32], .param .align 8 .b8 mixed[16]");
  const std::array<void*, 2> arguments = {&pointers, &mixed};
  EXPECT_THAT(PointersAmong(parameters, arguments.data(), nullptr), ElementsAre(kFirst, kSecond));
}

}  // namespace
}  // namespace memtrace::card
