// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/cupti/activity_records.h"

#include <unistd.h>

namespace memtrace::card {
namespace {

// Sets the fields that all records of work on a card have.
template <typename Record>
Record WorkOn(const memtrace_card_event& event, CUpti_ActivityKind kind) {
  Record record = {};
  record.kind = kind;
  record.deviceId = static_cast<std::uint32_t>(event.device);
  record.contextId = event.context;
  record.streamId = static_cast<std::uint32_t>(event.stream);
  record.correlationId = event.correlation;
  return record;
}

KernelRecord KernelRecordOf(const memtrace_card_event& event) {
  auto record = WorkOn<KernelRecord>(event, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  record.name = event.name;
  record.gridX = static_cast<std::int32_t>(event.launch.grid[0]);
  record.gridY = static_cast<std::int32_t>(event.launch.grid[1]);
  record.gridZ = static_cast<std::int32_t>(event.launch.grid[2]);
  record.blockX = static_cast<std::int32_t>(event.launch.block[0]);
  record.blockY = static_cast<std::int32_t>(event.launch.block[1]);
  record.blockZ = static_cast<std::int32_t>(event.launch.block[2]);
  record.dynamicSharedMemory = static_cast<std::int32_t>(event.launch.shared_bytes);
  return record;
}

bool IsHost(int memory_kind) {
  return memory_kind == MEMTRACE_CARD_PAGEABLE || memory_kind == MEMTRACE_CARD_PINNED;
}

CUpti_ActivityMemcpyKind CopyKindOf(const memtrace_card_event& event) {
  if (IsHost(event.from))
    return IsHost(event.to) ? CUPTI_ACTIVITY_MEMCPY_KIND_HTOH : CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
  return IsHost(event.to) ? CUPTI_ACTIVITY_MEMCPY_KIND_DTOH : CUPTI_ACTIVITY_MEMCPY_KIND_DTOD;
}

template <typename Record>
Record CopyOf(const memtrace_card_event& event, CUpti_ActivityKind kind,
              CUpti_ActivityMemcpyKind copy_kind) {
  auto record = WorkOn<Record>(event, kind);
  record.copyKind = static_cast<std::uint8_t>(copy_kind);
  record.srcKind = static_cast<std::uint8_t>(event.from);
  record.dstKind = static_cast<std::uint8_t>(event.to);
  record.flags = event.is_async ? CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC : 0;
  record.bytes = event.bytes;
  return record;
}

// The other side of a copy between cards is in its card's primary context, whose number is 1 for
// the first card.
std::uint32_t ContextOn(const memtrace_card_event& event, int device) {
  return device == event.device ? event.context : static_cast<std::uint32_t>(device) + 1;
}

PeerCopyRecord PeerCopyOf(const memtrace_card_event& event) {
  auto record =
      CopyOf<PeerCopyRecord>(event, CUPTI_ACTIVITY_KIND_MEMCPY2, CUPTI_ACTIVITY_MEMCPY_KIND_PTOP);
  record.srcDeviceId = static_cast<std::uint32_t>(event.from_device);
  record.srcContextId = ContextOn(event, event.from_device);
  record.dstDeviceId = static_cast<std::uint32_t>(event.to_device);
  record.dstContextId = ContextOn(event, event.to_device);
  return record;
}

WorkRecord CopyRecordOf(const memtrace_card_event& event) {
  const bool on_cards = event.from == MEMTRACE_CARD_DEVICE && event.to == MEMTRACE_CARD_DEVICE;
  if (on_cards && event.from_device != event.to_device) return PeerCopyOf(event);
  auto record = CopyOf<CopyRecord>(event, CUPTI_ACTIVITY_KIND_MEMCPY, CopyKindOf(event));
  record.copyCount = 1;
  return record;
}

FillRecord FillRecordOf(const memtrace_card_event& event) {
  auto record = WorkOn<FillRecord>(event, CUPTI_ACTIVITY_KIND_MEMSET);
  record.value = event.value;
  record.bytes = event.bytes;
  record.memoryKind = static_cast<std::uint16_t>(event.to);
  record.flags = event.is_async ? CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC : 0;
  return record;
}

}  // namespace

std::uint32_t EventIdOf(const void* event) {
  constexpr int kAlignmentBits = 4;
  return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(event) >> kAlignmentBits);
}

WorkRecord WorkRecordOf(const memtrace_card_event& event) {
  if (event.kind == MEMTRACE_CARD_KERNEL) return KernelRecordOf(event);
  if (event.kind == MEMTRACE_CARD_COPY) return CopyRecordOf(event);
  return FillRecordOf(event);
}

CUpti_ActivityKind KindOf(const WorkRecord& record) {
  return std::visit([](const auto& one) { return one.kind; }, record);
}

void SetTimes(WorkRecord& record, std::uint64_t start, std::uint64_t end) {
  std::visit(
      [&](auto& one) {
        one.start = start;
        one.end = end;
      },
      record);
}

SynchronizationRecord SynchronizationRecordOf(const memtrace_card_event& event) {
  SynchronizationRecord record = {};
  record.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
  const bool of_stream =
      event.kind == MEMTRACE_CARD_STREAM_WAITED || event.kind == MEMTRACE_CARD_STREAM_WAITS;
  record.type = event.kind == MEMTRACE_CARD_STREAM_WAITED
                    ? CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE
                : event.kind == MEMTRACE_CARD_STREAM_WAITS
                    ? CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT
                : event.kind == MEMTRACE_CARD_EVENT_WAITED
                    ? CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE
                    : CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE;
  record.correlationId = event.correlation;
  record.contextId = event.context;
  record.streamId =
      of_stream ? static_cast<std::uint32_t>(event.stream) : CUPTI_SYNCHRONIZATION_INVALID_VALUE;
  record.cudaEventId =
      event.object == nullptr ? CUPTI_SYNCHRONIZATION_INVALID_VALUE : EventIdOf(event.object);
  record.cudaEventSyncId = CUPTI_SYNCHRONIZATION_INVALID_VALUE;
  return record;
}

EventRecord EventRecordOf(const memtrace_card_event& event) {
  auto record = WorkOn<EventRecord>(event, CUPTI_ACTIVITY_KIND_CUDA_EVENT);
  record.eventId = EventIdOf(event.object);
  return record;
}

MemoryRecord MemoryRecordOf(const memtrace_card_event& event) {
  auto record = WorkOn<MemoryRecord>(event, CUPTI_ACTIVITY_KIND_MEMORY2);
  record.memoryOperationType = event.kind == MEMTRACE_CARD_ALLOCATED
                                   ? CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION
                                   : CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE;
  record.memoryKind = static_cast<CUpti_ActivityMemoryKind>(event.to);
  record.address = event.address;
  record.bytes = event.bytes;
  record.processId = static_cast<std::uint32_t>(getpid());
  record.isAsync = event.is_async ? 1 : 0;
  if (!event.is_async) record.streamId = CUPTI_INVALID_STREAM_ID;
  if (event.object != nullptr) {
    record.memoryPoolConfig.memoryPoolType = CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL;
    record.memoryPoolConfig.address = reinterpret_cast<std::uint64_t>(event.object);
  }
  return record;
}

CUpti_ActivityStream StreamRecordOf(const memtrace_card_event& event) {
  CUpti_ActivityStream record = {};
  record.kind = CUPTI_ACTIVITY_KIND_STREAM;
  record.contextId = event.context;
  record.streamId = static_cast<std::uint32_t>(event.stream);
  record.priority = static_cast<std::uint32_t>(event.priority);
  record.flag = event.flags == CU_STREAM_NON_BLOCKING
                    ? CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING
                    : CUPTI_ACTIVITY_STREAM_CREATE_FLAG_DEFAULT;
  record.correlationId = event.correlation;
  return record;
}

std::size_t SizeOf(CUpti_ActivityKind kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return sizeof(CopyRecord);
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      return sizeof(PeerCopyRecord);
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return sizeof(FillRecord);
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return sizeof(KernelRecord);
    case CUPTI_ACTIVITY_KIND_DRIVER:
    case CUPTI_ACTIVITY_KIND_RUNTIME:
      return sizeof(CUpti_ActivityAPI);
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      return sizeof(SynchronizationRecord);
    case CUPTI_ACTIVITY_KIND_CUDA_EVENT:
      return sizeof(EventRecord);
    case CUPTI_ACTIVITY_KIND_MEMORY2:
      return sizeof(MemoryRecord);
    case CUPTI_ACTIVITY_KIND_STREAM:
      return sizeof(CUpti_ActivityStream);
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
      return sizeof(CUpti_ActivityExternalCorrelation);
    default:
      return 0;
  }
}

}  // namespace memtrace::card
