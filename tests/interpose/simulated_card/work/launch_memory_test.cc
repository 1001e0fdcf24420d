// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/work/launch_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "tests/interpose/simulated_card/memory/card_sizes.h"

namespace memtrace::card {
namespace {

using ::testing::_;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Four granules are reserved at begin_.
class LaunchMemoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(machine_.space.Reserve(8_MiB, 0, Address(), &begin_), Result::kSuccess);
  }
  void TearDown() override { LaunchMemory::NameOwnersBy(nullptr); }

  Address At(std::uint64_t granule) const { return begin_ + granule * 2_MiB; }
  void Map(std::uint64_t granule, ChargeKind kind = ChargeKind::kVmm) {
    HandleId handle = 0;
    ASSERT_EQ(machine_.physical.Create(0, 2_MiB, kind, &handle), Result::kSuccess);
    ASSERT_EQ(machine_.space.Map(At(granule), 2_MiB, 0, handle), Result::kSuccess);
    ASSERT_EQ(machine_.physical.Release(handle), Result::kSuccess);
  }
  void Unmap(std::uint64_t granule) {
    ASSERT_EQ(machine_.space.Unmap(At(granule), 2_MiB), Result::kSuccess);
  }
  void Launch(std::vector<Address> pointers, bool is_in_graph = false) {
    memory_.Launched("add", {.pointers = std::move(pointers), .operands = {}}, is_in_graph);
  }
  void Multiply(const memtrace_card_operand& operand) {
    memory_.Launched("gemm", {.pointers = {}, .operands = {operand}}, /*is_in_graph=*/false);
  }
  // Columns of 1 KiB, `stride` apart.
  memtrace_card_operand Columns(std::uint64_t granule, std::uint64_t count, std::uint64_t stride,
                                std::uint64_t matrices = 1, std::uint64_t matrix_stride = 0) const {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): cuBLAS takes addresses as pointers.
    return {.begin = reinterpret_cast<const void*>(At(granule).value()),
            .column_bytes = 1_KiB,
            .columns = count,
            .column_stride = stride,
            .matrices = matrices,
            .matrix_stride = matrix_stride};
  }
  std::vector<std::string> FaultTexts() const {
    std::vector<std::string> texts;
    machine_.faults.Visit([&](const std::string& text) { texts.push_back(text); });
    return texts;
  }

  Machine machine_{{CardSpec{.bytes = 1_GiB, .context_bytes = 0}}, 1_MiB};
  LaunchMemory& memory_ = machine_.launch_memory;
  Address begin_;
};

TEST_F(LaunchMemoryTest, NobodyAsksUntilMemoryIsTakenAway) {
  EXPECT_FALSE(memory_.IsWatched());
  Map(0);
  EXPECT_FALSE(memory_.IsWatched());
  Unmap(0);
  EXPECT_TRUE(memory_.IsWatched());
  Map(0);
  EXPECT_FALSE(memory_.IsWatched());
}

TEST_F(LaunchMemoryTest, NobodyAsksAfterTheAddressesWereGivenBack) {
  Map(0);
  Unmap(0);
  ASSERT_EQ(machine_.space.FreeReservation(begin_, 8_MiB), Result::kSuccess);
  EXPECT_FALSE(memory_.IsWatched());
}

TEST_F(LaunchMemoryTest, PointerToMemoryThatWasTakenAwayIsAFaultThatNamesBoth) {
  Map(0);
  Unmap(0);
  Launch({At(0) + 512, At(0) + 1024});
  EXPECT_THAT(
      FaultTexts(),
      ElementsAre(AllOf(
          HasSubstr("the kernel add was launched with the address " + (At(0) + 512).ToString()),
          HasSubstr("taken away by cuMemUnmap"), HasSubstr("if the kernel reads or writes"),
          Not(HasSubstr("asleep")))));
  Launch({At(0)}, /*is_in_graph=*/true);
  EXPECT_THAT(FaultTexts(), ElementsAre(_, HasSubstr("the kernel add in a graph was launched")));
}

TEST_F(LaunchMemoryTest, PointersElsewhereAreNoFault) {
  Map(0);
  Map(1);
  Unmap(1);
  Launch({At(0), At(0) + 512});
  Launch({At(3)});  // reserved, and never mapped
  Launch({begin_ + 1_GiB});
  EXPECT_THAT(FaultTexts(), IsEmpty());
}

TEST_F(LaunchMemoryTest, EndOfMappedMemoryIsNoFault) {
  Map(0);
  Map(1);
  Unmap(1);
  Launch({At(0), At(1)});
  EXPECT_THAT(FaultTexts(), IsEmpty());
  Launch({At(1) + 1});
  EXPECT_EQ(machine_.faults.Total(), 1u);
  Unmap(0);
  Launch({At(1)});
  EXPECT_EQ(machine_.faults.Total(), 2u);
}

TEST_F(LaunchMemoryTest, FaultNamesTheOwnerThatSleeps) {
  Map(0);
  Unmap(0);
  LaunchMemory::NameOwnersBy([](std::uint64_t, char* name, std::uint64_t) {
    std::strcpy(name, "policy");  // NOLINT(clang-analyzer-security.insecureAPI.strcpy): it fits
    return 1;
  });
  Launch({At(0)});
  EXPECT_THAT(FaultTexts(), ElementsAre(HasSubstr("It is memory of 'policy', which is asleep: call "
                                                  "memtrace.wake('policy') first")));
}

TEST_F(LaunchMemoryTest, OperandWithAPartThatWasTakenAwayIsAFault) {
  Map(0);
  Map(1);
  Unmap(1);
  Multiply(Columns(0, 2048, 1_KiB));
  EXPECT_THAT(FaultTexts(), IsEmpty()) << "the operand ends where the memory ends";
  Multiply(Columns(0, 2049, 1_KiB));
  Multiply(Columns(0, 0, 1_KiB));
  EXPECT_THAT(FaultTexts(), ElementsAre(AllOf(HasSubstr("gemm uses memory at " + At(1).ToString()),
                                              HasSubstr("on a GPU the context ends"))));
}

TEST_F(LaunchMemoryTest, OperandsInTheHostsMemoryAreCounted) {
  Map(0, ChargeKind::kHost);
  Map(1);
  Multiply(Columns(0, 2, 1_KiB));
  EXPECT_EQ(memory_.OperandBytesOnHost(), 2_KiB);
  Multiply(Columns(1, 2, 1_KiB));
  EXPECT_EQ(memory_.OperandBytesOnHost(), 2_KiB) << "on the card";
  Multiply(Columns(0, 4096, 1_KiB));
  EXPECT_EQ(memory_.OperandBytesOnHost(), 2_KiB + 2_MiB) << "half of it on the card";
}

TEST_F(LaunchMemoryTest, GapsOfAnOperandAreNotCounted) {
  Map(0, ChargeKind::kHost);
  Map(1);
  Multiply(Columns(0, 10, 4_KiB));
  EXPECT_EQ(memory_.OperandBytesOnHost(), 10_KiB);
  Multiply(Columns(0, 4096, 1_KiB, /*matrices=*/5, /*matrix_stride=*/0));
  EXPECT_EQ(memory_.OperandBytesOnHost(), 10_KiB + 2_MiB) << "five times the same matrix";
  Multiply(Columns(0, 2, 1_KiB, /*matrices=*/8, /*matrix_stride=*/64_KiB));
  EXPECT_EQ(memory_.OperandBytesOnHost(), 26_KiB + 2_MiB);
}

}  // namespace
}  // namespace memtrace::card
