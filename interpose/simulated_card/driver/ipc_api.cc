// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// Memory and events between processes; the rules are in ImportedBlocks, PhysicalMemory and Events.
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <span>
#include <vector>

#include "interpose/simulated_card/driver/driver_api.h"

using namespace memtrace::card;  // NOLINT: this file defines C functions over that namespace

namespace memtrace::card {
namespace {

// The bytes of a CUipcEventHandle.
struct SharedEventRecord {
  std::uint64_t magic = 0;
  std::int64_t process = 0;
  std::uint64_t event = 0;
};

constexpr std::uint64_t kSharedEventMagic = 0x6d656d742d657674;  // "memt-evt"

template <typename Record, typename Handle>
void WriteTo(Handle* handle, const Record& record) {
  static_assert(sizeof(Record) <= sizeof(Handle));
  *handle = {};
  std::memcpy(handle, &record, sizeof(record));
}

template <typename Record, typename Handle>
Record ReadFrom(const Handle& handle) {
  Record record;
  std::memcpy(static_cast<void*>(&record), &handle, sizeof(record));
  return record;
}

// Describes memory of cudaMalloc, by the begin of its block.
Result Describe(Machine& machine, Address begin, SharedMemoryRecord* record) {
  const auto block = machine.heap.Find(begin);
  if (!block.has_value() || block->begin != begin) return Result::kInvalidValue;
  return machine.space.DescribeAt(begin, record);
}

// Once memory is shared, other processes write to it, and only they know which of those bytes are
// known: bytes unknown here count as assumed from then on.
void Shares(Machine& machine, std::span<const Extent> contents) {
  if (machine.known != nullptr) machine.known->Assume(contents);
}

void SharesHandle(Machine& machine, HandleId handle) {
  const Extent contents = machine.physical.ContentsOf(handle);
  Shares(machine, {&contents, 1});
}

void SharesMapped(Machine& machine, Address address) {
  const auto mapped = machine.space.Find(address);
  std::vector<Extent> contents;
  if (mapped.has_value() && machine.space.Translate(mapped->begin, mapped->bytes, Access::kRead,
                                                    &contents) == Result::kSuccess)
    Shares(machine, contents);
}

// An event of another process counts as done, because its card's time is not ours.
Result OpenEvent(Machine& machine, const SharedEventRecord& record, CUevent* event) {
  if (record.magic != kSharedEventMagic) return Result::kInvalidHandle;
  if (record.process == getpid()) return Result::kInvalidContext;
  if (kill(static_cast<pid_t>(record.process), 0) != 0 && errno == ESRCH) return Result::kMapFailed;
  *event = reinterpret_cast<CUevent>(machine.events.Create(kEventDisableTiming));
  return Result::kSuccess;
}

}  // namespace
}  // namespace memtrace::card

CUresult cuIpcGetMemHandle(CUipcMemHandle* handle, CUdeviceptr pointer) {
  return WithContext([&](Machine& machine, int) {
    if (handle == nullptr) return Result::kInvalidValue;
    SharedMemoryRecord record;
    const Result result = Describe(machine, Address{pointer}, &record);
    if (result != Result::kSuccess) return result;
    SharesMapped(machine, Address{pointer});
    WriteTo(handle, record);
    return result;
  });
}

CUresult cuIpcOpenMemHandle(CUdeviceptr* pointer, CUipcMemHandle handle, unsigned int flags) {
  return WithContext([&](Machine& machine, int device) {
    if (pointer == nullptr || flags != CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS)
      return Result::kInvalidValue;
    Address begin;
    const auto record = ReadFrom<SharedMemoryRecord>(handle);
    const Result result = machine.imported.Open(record, device, &begin);
    if (result != Result::kSuccess) return result;
    SharesMapped(machine, begin);
    *pointer = begin.value();
    return result;
  });
}

CUresult cuIpcCloseMemHandle(CUdeviceptr pointer) {
  return WithContext(
      [&](Machine& machine, int) { return machine.imported.Close(Address{pointer}); });
}

CUresult cuIpcGetEventHandle(CUipcEventHandle* handle, CUevent event) {
  return WithContext([&](Machine& machine, int) {
    if (handle == nullptr) return Result::kInvalidValue;
    const Result result = machine.events.CheckInterprocess(event);
    if (result != Result::kSuccess) return result;
    WriteTo(handle, SharedEventRecord{.magic = kSharedEventMagic,
                                      .process = getpid(),
                                      .event = reinterpret_cast<std::uint64_t>(event)});
    return Result::kSuccess;
  });
}

CUresult cuIpcOpenEventHandle(CUevent* event, CUipcEventHandle handle) {
  return WithContext([&](Machine& machine, int) {
    if (event == nullptr) return Result::kInvalidValue;
    return OpenEvent(machine, ReadFrom<SharedEventRecord>(handle), event);
  });
}

CUresult cuMemExportToShareableHandle(void* shareable, CUmemGenericAllocationHandle handle,
                                      CUmemAllocationHandleType type, unsigned long long flags) {
  return WithMachine([&](Machine& machine) {
    if (shareable == nullptr || flags != 0) return Result::kInvalidValue;
    if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return Result::kNotSupported;
    int descriptor = -1;
    const Result result = machine.physical.Export(handle, &descriptor);
    if (result != Result::kSuccess) return result;
    SharesHandle(machine, handle);
    *static_cast<int*>(shareable) = descriptor;
    return result;
  });
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* handle, void* shareable,
                                        CUmemAllocationHandleType type) {
  return WithMachine([&](Machine& machine) {
    if (handle == nullptr) return Result::kInvalidValue;
    if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return Result::kNotSupported;
    HandleId imported = 0;
    // The pointer's value is the descriptor itself.
    const auto descriptor = static_cast<int>(reinterpret_cast<std::intptr_t>(shareable));
    const Result result = machine.physical.Import(descriptor, &imported);
    if (result != Result::kSuccess) return result;
    SharesHandle(machine, imported);
    *handle = imported;
    return result;
  });
}
