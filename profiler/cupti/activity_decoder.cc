// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/cupti/activity_decoder.h"

#include <array>
#include <string_view>

namespace memtrace::cupti {
namespace {

// Names of the directions, indexed by CUpti_ActivityMemcpyKind.
constexpr std::array<std::string_view, 11> kDirections = {
    "", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD", "DtoA", "DtoD", "HtoH", "PtoP"};

std::string_view DirectionOf(uint8_t copy_kind) {
  return copy_kind < kDirections.size() ? kDirections[copy_kind] : "";
}

// Casts the record to the type of its kind.
template <typename Record>
const Record& As(const CUpti_Activity& record) {
  return reinterpret_cast<const Record&>(record);
}

}  // namespace

std::optional<CardActivity> ActivityDecoder::Decode(const CUpti_Activity& record) {
  switch (record.kind) {
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
      NoteOperation(As<CUpti_ActivityExternalCorrelation>(record));
      return std::nullopt;
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
      const auto& kernel = As<CUpti_ActivityKernel9>(record);
      CardActivity activity = Work(ActivityKind::kKernel, kernel);
      if (kernel.name != nullptr) activity.name = kernel.name;
      return activity;
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return Copy(As<CUpti_ActivityMemcpy5>(record));
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      return Copy(As<CUpti_ActivityMemcpyPtoP4>(record));
    case CUPTI_ACTIVITY_KIND_MEMSET: {
      const auto& fill = As<CUpti_ActivityMemset4>(record);
      CardActivity activity = Work(ActivityKind::kFill, fill);
      activity.bytes = fill.bytes;
      return activity;
    }
    case CUPTI_ACTIVITY_KIND_MEMORY2:
      return Memory(As<CUpti_ActivityMemory4>(record));
    default:
      return std::nullopt;
  }
}

template <typename Record>
CardActivity ActivityDecoder::Work(ActivityKind kind, const Record& record) {
  const uint64_t start = clocks_.ToOurClock(record.start);
  const uint64_t end = clocks_.ToOurClock(record.end);
  return {.kind = kind,
          .device = record.deviceId,
          .context = record.contextId,
          .stream = record.streamId,
          .start_ns = start,
          .duration_ns = end > start ? end - start : 0,
          .operation = OperationOf(record.correlationId)};
}

template <typename Record>
CardActivity ActivityDecoder::Copy(const Record& record) {
  CardActivity activity = Work(ActivityKind::kCopy, record);
  activity.bytes = record.bytes;
  activity.name = DirectionOf(record.copyKind);
  return activity;
}

CardActivity ActivityDecoder::Memory(const CUpti_ActivityMemory4& record) {
  const bool is_given =
      record.memoryOperationType == CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION;
  return {.kind = is_given ? ActivityKind::kMemoryGiven : ActivityKind::kMemoryTakenBack,
          .device = record.deviceId,
          .context = record.contextId,
          .stream = record.streamId,
          .start_ns = clocks_.ToOurClock(record.timestamp),
          .bytes = record.bytes,
          .address = record.address,
          .operation = OperationOf(record.correlationId)};
}

void ActivityDecoder::NoteOperation(const CUpti_ActivityExternalCorrelation& record) {
  if (record.externalKind != CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2) return;  // another tool's
  if (operations_.insert_or_assign(record.correlationId, record.externalId).second) {
    calls_.push_back(record.correlationId);
  }
  if (calls_.size() <= kMostCalls) return;
  operations_.erase(calls_.front());
  calls_.pop_front();
}

// The operation is not forgotten after the first kernel, because one call may launch many (a
// graph).
uint64_t ActivityDecoder::OperationOf(uint32_t correlation) const {
  const auto found = operations_.find(correlation);
  return found == operations_.end() ? 0 : found->second;
}

}  // namespace memtrace::cupti
