// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/memory/imported_blocks.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <string>

#include "tests/interpose/simulated_card/memory/card_sizes.h"

namespace memtrace::card {
namespace {

// Another process, which carries out its steps in order as it is told to.
class OtherProcess {
 public:
  // Runs body(receive, send), each of which moves one value of plain data from or to the test.
  template <typename Body>
  explicit OtherProcess(Body body) {
    EXPECT_EQ(pipe(to_child_), 0);
    EXPECT_EQ(pipe(from_child_), 0);
    child_ = fork();
    if (child_ != 0) return;
    body(to_child_[0], from_child_[1]);
    _exit(::testing::Test::HasFailure() ? 1 : 0);
  }
  OtherProcess(const OtherProcess&) = delete;
  OtherProcess& operator=(const OtherProcess&) = delete;
  ~OtherProcess() {
    for (const int end : {to_child_[0], to_child_[1], from_child_[0], from_child_[1]}) close(end);
    int status = -1;
    EXPECT_EQ(waitpid(child_, &status, 0), child_);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }

  template <typename Value>
  Value Receive() {
    return ReceiveFrom<Value>(from_child_[0]);
  }
  template <typename Value>
  void Send(const Value& value) {
    SendTo(to_child_[1], value);
  }

  template <typename Value>
  static Value ReceiveFrom(int pipe) {
    Value value{};
    EXPECT_EQ(read(pipe, &value, sizeof(value)), static_cast<ssize_t>(sizeof(value)));
    return value;
  }
  template <typename Value>
  static void SendTo(int pipe, const Value& value) {
    EXPECT_EQ(write(pipe, &value, sizeof(value)), static_cast<ssize_t>(sizeof(value)));
  }

 private:
  int to_child_[2] = {-1, -1};
  int from_child_[2] = {-1, -1};
  pid_t child_ = -1;
};

// The processes of a test share its cards.
class ImportedBlocksTest : public ::testing::Test {
 protected:
  ~ImportedBlocksTest() override { close(ledger_); }

  MachineSettings Shared() const {
    MachineSettings settings;
    settings.shared_ledger = "/proc/" + std::to_string(test_) + "/fd/" + std::to_string(ledger_);
    return settings;
  }
  Machine MakeMachine() const {
    return Machine({{.bytes = 1_GiB}, {.bytes = 1_GiB}}, 64_MiB, Shared());
  }

  static void Write(Machine& machine, Address to, std::uint64_t value) {
    EXPECT_EQ(
        machine.copies.Copy(to, Address{reinterpret_cast<std::uintptr_t>(&value)}, sizeof(value)),
        Result::kSuccess);
  }
  static std::uint64_t Read(Machine& machine, Address from) {
    std::uint64_t value = 0;
    EXPECT_EQ(
        machine.copies.Copy(Address{reinterpret_cast<std::uintptr_t>(&value)}, from, sizeof(value)),
        Result::kSuccess);
    return value;
  }
  static SharedMemoryRecord RecordOf(Machine& machine, Address begin) {
    SharedMemoryRecord record;
    EXPECT_EQ(machine.space.DescribeAt(begin, &record), Result::kSuccess);
    return record;
  }

  const pid_t test_ = getpid();
  const int ledger_ = memfd_create("memtrace-card", 0);
};

TEST_F(ImportedBlocksTest, SharedWritesAreVisibleAndChargedToTheExporter) {
  OtherProcess exporter([&](int receive, int send) {
    Machine machine = MakeMachine();
    Address small;
    Address begin;
    EXPECT_EQ(machine.heap.Allocate(0, 512, &small), Result::kSuccess);
    EXPECT_EQ(machine.heap.Allocate(0, 512, &begin), Result::kSuccess);
    OtherProcess::SendTo(send, RecordOf(machine, begin));
    OtherProcess::ReceiveFrom<int>(receive);
    Write(machine, begin, 42);
    OtherProcess::SendTo(send, 0);
    OtherProcess::ReceiveFrom<int>(receive);
    EXPECT_EQ(Read(machine, begin), 43u);
    EXPECT_EQ(machine.CardAt(0).CurrentLedger().runtime, 2_MiB);
    OtherProcess::SendTo(send, 0);
    OtherProcess::ReceiveFrom<int>(receive);
  });
  const auto record = exporter.Receive<SharedMemoryRecord>();
  EXPECT_EQ(record.block, 512u);
  Machine machine = MakeMachine();
  Address begin;
  ASSERT_EQ(machine.imported.Open(record, 0, &begin), Result::kSuccess);
  EXPECT_EQ(Read(machine, begin), 0u);
  exporter.Send(0);
  exporter.Receive<int>();
  EXPECT_EQ(Read(machine, begin), 42u);
  Write(machine, begin, 43);
  exporter.Send(0);
  exporter.Receive<int>();
  const Ledger ledger = machine.CardAt(0).CurrentLedger();
  EXPECT_EQ(ledger.runtime + ledger.vmm, 0u);
  EXPECT_EQ(ledger.other, 2_MiB);
  exporter.Send(0);
}

TEST_F(ImportedBlocksTest, HandleOpenedTwiceIsMappedOnceAndClosedTwice) {
  OtherProcess exporter([&](int receive, int send) {
    Machine machine = MakeMachine();
    Address begin;
    EXPECT_EQ(machine.heap.Allocate(0, 4_MiB, &begin), Result::kSuccess);
    OtherProcess::SendTo(send, RecordOf(machine, begin));
    OtherProcess::ReceiveFrom<int>(receive);
  });
  const auto record = exporter.Receive<SharedMemoryRecord>();
  Machine machine = MakeMachine();
  Address first;
  Address second;
  EXPECT_EQ(machine.imported.Open(record, 0, &first), Result::kSuccess);
  EXPECT_EQ(machine.imported.Open(record, 0, &second), Result::kSuccess);
  EXPECT_EQ(first, second);
  EXPECT_EQ(machine.imported.Close(first), Result::kSuccess);
  EXPECT_TRUE(machine.space.Find(first).has_value());
  EXPECT_EQ(machine.imported.Close(first), Result::kSuccess);
  EXPECT_FALSE(machine.space.Find(first).has_value());
  EXPECT_EQ(machine.imported.Close(first), Result::kInvalidValue);
  EXPECT_EQ(machine.space.Live().reservations, 0u);
  exporter.Send(0);
}

TEST_F(ImportedBlocksTest, FailedOpenChangesNothing) {
  Machine machine = MakeMachine();
  Address own;
  ASSERT_EQ(machine.heap.Allocate(0, 2_MiB, &own), Result::kSuccess);
  SharedMemoryRecord record = RecordOf(machine, own);
  Address begin;
  EXPECT_EQ(machine.imported.Open(record, 0, &begin), Result::kInvalidContext);
  record.process = 1 << 30;  // no such process
  EXPECT_EQ(machine.imported.Open(record, 0, &begin), Result::kMapFailed);
  EXPECT_EQ(machine.imported.Open(record, 1, &begin), Result::kPeerAccessUnsupported);
  EXPECT_EQ(machine.imported.Open({}, 0, &begin), Result::kInvalidHandle);
  EXPECT_TRUE(begin.is_null());
  EXPECT_EQ(machine.imported.Close(own), Result::kInvalidValue);
  const LiveMemory live = machine.space.Live();
  EXPECT_EQ(live.handles + live.mappings + live.reservations, 0u);
}

// Fetches an exporter's descriptor as torch does (pidfd_getfd) but by its name in /proc, which
// makes a new open file; the test with real torch uses pidfd_getfd.
TEST_F(ImportedBlocksTest, ExportedMemoryStaysChargedUntilItsLastDescriptorIsClosed) {
  Machine machine = MakeMachine();
  HandleId handle = 0;
  ASSERT_EQ(machine.physical.Create(0, 64_MiB, ChargeKind::kVmm, &handle, true), Result::kSuccess);
  int descriptor = -1;
  ASSERT_EQ(machine.physical.Export(handle, &descriptor), Result::kSuccess);
  EXPECT_EQ(machine.CardAt(0).CurrentLedger().vmm, 64_MiB);
  EXPECT_EQ(machine.CardAt(0).CurrentLedger().other, 0u);
  EXPECT_EQ(Free(machine), 1_GiB - 64_MiB);
  OtherProcess other([&](int receive, int send) {
    Machine theirs = MakeMachine();
    EXPECT_EQ(theirs.CardAt(0).CurrentLedger().other, 64_MiB);
    HandleId imported = 0;
    EXPECT_EQ(theirs.physical.Import(descriptor, &imported), Result::kSuccess);
    close(descriptor);
    EXPECT_EQ(theirs.CardAt(0).CurrentLedger().vmm, 0u);
    OtherProcess::SendTo(send, 0);
    OtherProcess::ReceiveFrom<int>(receive);  // the exporter has given all its memory back
    EXPECT_EQ(theirs.CardAt(0).CurrentLedger().other, 64_MiB);
    EXPECT_EQ(theirs.physical.Release(imported), Result::kSuccess);
    EXPECT_EQ(theirs.CardAt(0).CurrentLedger().other, 0u);
    OtherProcess::SendTo(send, 0);
  });
  other.Receive<int>();
  close(descriptor);
  EXPECT_EQ(machine.physical.Release(handle), Result::kSuccess);
  EXPECT_EQ(machine.CardAt(0).CurrentLedger().vmm, 0u);
  EXPECT_EQ(machine.CardAt(0).CurrentLedger().other, 64_MiB);
  EXPECT_EQ(Free(machine), 1_GiB - 64_MiB);
  other.Send(0);
  other.Receive<int>();
  EXPECT_EQ(Free(machine), 1_GiB);
}

TEST_F(ImportedBlocksTest, ImportedContentsOutliveTheExportersHandle) {
  Machine machine = MakeMachine();
  HandleId handle = 0;
  ASSERT_EQ(machine.physical.Create(0, 2_MiB, ChargeKind::kVmm, &handle, true), Result::kSuccess);
  Address begin;
  ASSERT_EQ(machine.space.Reserve(2_MiB, 0, Address(), &begin), Result::kSuccess);
  ASSERT_EQ(machine.space.Map(begin, 2_MiB, 0, handle), Result::kSuccess);
  ASSERT_EQ(machine.space.SetAccess(begin, 2_MiB, 0, Access::kReadWrite), Result::kSuccess);
  Write(machine, begin, 7);
  int descriptor = -1;
  ASSERT_EQ(machine.physical.Export(handle, &descriptor), Result::kSuccess);
  OtherProcess other([&](int receive, int send) {
    Machine theirs = MakeMachine();
    HandleId imported = 0;
    EXPECT_EQ(theirs.physical.Import(descriptor, &imported), Result::kSuccess);
    OtherProcess::SendTo(send, 0);
    OtherProcess::ReceiveFrom<int>(receive);
    Address mapped;
    EXPECT_EQ(theirs.space.Reserve(2_MiB, 0, Address(), &mapped), Result::kSuccess);
    EXPECT_EQ(theirs.space.Map(mapped, 2_MiB, 0, imported), Result::kSuccess);
    EXPECT_EQ(theirs.space.SetAccess(mapped, 2_MiB, 0, Access::kReadWrite), Result::kSuccess);
    EXPECT_EQ(Read(theirs, mapped), 7u);
  });
  other.Receive<int>();
  EXPECT_EQ(machine.space.Unmap(begin, 2_MiB), Result::kSuccess);
  EXPECT_EQ(machine.physical.Release(handle), Result::kSuccess);
  other.Send(0);
}

TEST_F(ImportedBlocksTest, OnlyExportableMemoryIsExportedAndImported) {
  Machine machine = MakeMachine();
  HandleId plain = 0;
  HandleId exportable = 0;
  ASSERT_EQ(machine.physical.Create(0, 2_MiB, ChargeKind::kVmm, &plain), Result::kSuccess);
  ASSERT_EQ(machine.physical.Create(1, 2_MiB, ChargeKind::kVmm, &exportable, true),
            Result::kSuccess);
  int descriptor = -1;
  EXPECT_EQ(machine.physical.Export(plain, &descriptor), Result::kInvalidValue);
  HandleId imported = 0;
  EXPECT_EQ(machine.physical.Import(ledger_, &imported), Result::kInvalidValue);
  EXPECT_EQ(machine.physical.Import(0, &imported), Result::kInvalidValue);
  ASSERT_EQ(machine.physical.Export(exportable, &descriptor), Result::kSuccess);
  // In the same process it is the same memory once more.
  EXPECT_EQ(machine.physical.Import(descriptor, &imported), Result::kSuccess);
  EXPECT_EQ(imported, exportable);
  EXPECT_EQ(machine.physical.Release(exportable), Result::kSuccess);
  EXPECT_EQ(machine.CardAt(1).CurrentLedger().vmm, 2_MiB);
  EXPECT_EQ(machine.physical.Release(exportable), Result::kSuccess);
  EXPECT_EQ(machine.CardAt(1).CurrentLedger().vmm, 0u);
  close(descriptor);
  EXPECT_EQ(Free(machine, 1), 1_GiB);
}

}  // namespace
}  // namespace memtrace::card
