// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/memory/shared_ledger.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "interpose/simulated_card/memory/card.h"

namespace memtrace::card {
namespace {

// To the kernel, two objects are two owners, like two processes.
class SharedLedgerTest : public ::testing::Test {
 protected:
  ~SharedLedgerTest() override { close(file_); }
  std::string Path() const {
    return "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(file_);
  }

  const int file_ = memfd_create("memtrace-card", MFD_CLOEXEC);
};

TEST_F(SharedLedgerTest, ProcessesSeeTheMemoryOfOthers) {
  SharedLedger one(Path());
  SharedLedger two(Path());
  EXPECT_EQ(one.Hold(3, 600, 1000), 0u);
  EXPECT_EQ(two.HeldByOthers(3), 600u);
  EXPECT_EQ(one.HeldByOthers(3), 0u);
  EXPECT_EQ(two.HeldByOthers(2), 0u) << "another card";
  EXPECT_EQ(two.Hold(3, 401, 1000), std::nullopt);
  EXPECT_EQ(two.Hold(3, 400, 1000), 600u);
  EXPECT_EQ(one.Hold(3, 601, 1000), std::nullopt);
  EXPECT_EQ(one.HeldByOthers(3), 400u);
}

TEST_F(SharedLedgerTest, ShrinkingAlwaysSucceeds) {
  SharedLedger one(Path());
  ASSERT_EQ(one.Hold(0, 600, 1000), 0u);
  EXPECT_EQ(one.Hold(0, 500, 100), 0u) << "the card has shrunk meanwhile";
  SharedLedger two(Path());
  EXPECT_EQ(two.HeldByOthers(0), 500u);
}

TEST_F(SharedLedgerTest, EndedProcessReleasesItsMemory) {
  SharedLedger one(Path());
  {
    SharedLedger two(Path());
    ASSERT_EQ(two.Hold(0, 600, 1000), 0u);
    ASSERT_EQ(one.HeldByOthers(0), 600u);
  }
  EXPECT_EQ(one.Hold(0, 1000, 1000), 0u);
}

TEST_F(SharedLedgerTest, KilledProcessReleasesItsMemory) {
  SharedLedger one(Path());
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    SharedLedger own(Path());
    const char held = own.Hold(0, 600, 1000) == 0u ? 'y' : 'n';
    (void)!write(ready[1], &held, 1);
    pause();
    _exit(0);
  }
  char held = 0;
  ASSERT_EQ(read(ready[0], &held, 1), 1);
  EXPECT_EQ(held, 'y');
  EXPECT_EQ(one.HeldByOthers(0), 600u);
  kill(child, SIGKILL);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_EQ(one.HeldByOthers(0), 0u);
}

// Starts a child that joins by itself, holds 600 bytes of card 0, of which it lends 100, and 7 of
// card 1, and waits to be killed.
pid_t StartHolder(const std::string& path) {
  int ready[2];
  EXPECT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    SharedLedger own(path);
    SharedMemoryRecord lent;
    lent.bytes = 100;
    const bool holds = own.Hold(0, 600, 2000) && own.Hold(1, 7, 1000) && own.Lend(lent) >= 0;
    (void)!write(ready[1], holds ? "y" : "n", 1);
    pause();
    _exit(0);
  }
  char holds = 0;
  EXPECT_EQ(read(ready[0], &holds, 1), 1);
  EXPECT_EQ(holds, 'y');
  close(ready[0]);
  close(ready[1]);
  return child;
}

TEST_F(SharedLedgerTest, OtherProcessesAreListedWhileTheyLive) {
  SharedLedger one(Path());
  ASSERT_EQ(one.Hold(0, 50, 1000), 0u);
  EXPECT_TRUE(one.OtherProcesses(0).empty()) << "this process is none of them";
  const pid_t first = StartHolder(Path());
  const pid_t second = StartHolder(Path());
  const auto holds = [](pid_t process, std::uint64_t bytes) {
    return ProcessMemory{static_cast<std::uint32_t>(process), bytes};
  };
  EXPECT_EQ(one.OtherProcesses(0), std::vector({holds(first, 600), holds(second, 600)}));
  EXPECT_EQ(one.OtherProcesses(1), std::vector({holds(first, 7), holds(second, 7)}));
  EXPECT_TRUE(one.OtherProcesses(2).empty());
  for (const pid_t child : {first, second}) {
    kill(child, SIGKILL);
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
  }
  EXPECT_TRUE(one.OtherProcesses(0).empty());
}

TEST_F(SharedLedgerTest, LentMemoryIsChargedToTheLender) {
  SharedLedger lender(Path());
  SharedLedger watching(Path());
  ASSERT_EQ(lender.Hold(0, 100, 1000), 0u);
  SharedMemoryRecord record;
  record.bytes = 40;
  const int lent = lender.Lend(record);
  ASSERT_GE(lent, 0);
  const ProcessMemory whole = {static_cast<std::uint32_t>(getpid()), 100};
  EXPECT_EQ(watching.OtherProcesses(0), std::vector({whole}));
  EXPECT_TRUE(lender.OtherProcesses(0).empty()) << "it still holds it";
  const int other = dup(lent);
  EXPECT_FALSE(lender.Reclaim(record, lent));
  ASSERT_TRUE(lender.Hold(0, 60, 1000).has_value());
  const ProcessMemory rest = {whole.process, 40};
  EXPECT_EQ(lender.OtherProcesses(0), std::vector({rest}));
  EXPECT_EQ(watching.OtherProcesses(0), std::vector({whole}));
  close(other);
  EXPECT_TRUE(lender.OtherProcesses(0).empty());
}

TEST_F(SharedLedgerTest, ForkedChildDoesNotKeepItsParentsSlotAlive) {
  SharedLedger watching(Path());
  int to_child[2];
  int from_child[2];
  ASSERT_EQ(pipe(to_child), 0);
  ASSERT_EQ(pipe(from_child), 0);
  // The parent dies while the child it forked lives on, as a worker of a DataLoader may.
  const pid_t parent = fork();
  if (parent == 0) {
    // Forks must know the process's first ledger, which is `watching` in this process.
    watching.~SharedLedger();
    SharedLedger own(Path());
    if (own.Hold(0, 600, 1000) != 0u) _exit(1);
    if (fork() != 0) _exit(0);
    close(to_child[1]);
    (void)!write(from_child[1], "f", 1);
    char end = 0;
    (void)!read(to_child[0], &end, 1);  // until the test is over
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(parent, &status, 0), parent);
  EXPECT_EQ(status, 0);
  char forked = 0;
  ASSERT_EQ(read(from_child[0], &forked, 1), 1);
  EXPECT_EQ(watching.HeldByOthers(0), 0u);
  close(to_child[1]);
}

TEST_F(SharedLedgerTest, FileThatIsNotALedgerIsNotTouched) {
  FILE* file = std::tmpfile();
  std::fputs("precious", file);
  std::fflush(file);
  SharedLedger ledger("/proc/self/fd/" + std::to_string(fileno(file)));
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(ledger.Hold(0, 600, 1000), 0u) << "the process has the card for itself";
  EXPECT_EQ(ledger.HeldByOthers(0), 0u);
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("cannot be joined"), std::string::npos);
  EXPECT_EQ(lseek(fileno(file), 0, SEEK_END), 8);
  std::fclose(file);
}

TEST_F(SharedLedgerTest, CardsOfTwoProcessesShareTheirMemory) {
  SharedLedger one(Path());
  SharedLedger two(Path());
  const CardSpec spec{.bytes = 1000, .context_bytes = 100, .other_bytes = 50};
  Card first(spec, CardSharing(&one, 0));
  Card second(spec, CardSharing(&two, 0));
  ASSERT_TRUE(first.ActivateContext());
  ASSERT_TRUE(first.Charge(ChargeKind::kVmm, 500));
  ASSERT_TRUE(second.ActivateContext());
  EXPECT_FALSE(second.Charge(ChargeKind::kRuntime, 251));
  EXPECT_TRUE(second.Charge(ChargeKind::kRuntime, 250));
  const Ledger ledger = second.CurrentLedger();
  EXPECT_EQ(ledger.other, 650u);
  EXPECT_EQ(ledger.free, 0u);
  EXPECT_EQ(ledger.total,
            ledger.context + ledger.other + ledger.runtime + ledger.vmm + ledger.free);
  first.Discharge(ChargeKind::kVmm, 200);
  EXPECT_EQ(second.CurrentLedger().free, 200u);
}

}  // namespace
}  // namespace memtrace::card
