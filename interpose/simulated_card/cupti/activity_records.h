// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_CUPTI_ACTIVITY_RECORDS_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_CUPTI_ACTIVITY_RECORDS_H_

#include <cstddef>
#include <cstdint>
#include <variant>

#include "cupti_records.h"
#include "interpose/simulated_card/interface/card_listener.h"

namespace memtrace::card {

// CUPTI's records, made from the card's events. Fields that the card does not know are 0 or CUPTI's
// value for "unknown".
using WorkRecord = std::variant<KernelRecord, CopyRecord, PeerCopyRecord, FillRecord>;

// Returns low bits of the event's address: a small number that stays the same while the event
// lives.
std::uint32_t EventIdOf(const void* event);

// Returns a record without times. REQUIRES: the event is a kernel, a copy or a fill.
WorkRecord WorkRecordOf(const memtrace_card_event& event);
CUpti_ActivityKind KindOf(const WorkRecord& record);
void SetTimes(WorkRecord& record, std::uint64_t start, std::uint64_t end);

// REQUIRES: the event is a wait.
SynchronizationRecord SynchronizationRecordOf(const memtrace_card_event& event);
EventRecord EventRecordOf(const memtrace_card_event& event);
// REQUIRES: the event is an allocation or a release of memory.
MemoryRecord MemoryRecordOf(const memtrace_card_event& event);
CUpti_ActivityStream StreamRecordOf(const memtrace_card_event& event);

// Returns the bytes of a record of that kind; 0 for one that the card does not give.
std::size_t SizeOf(CUpti_ActivityKind kind);

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_CUPTI_ACTIVITY_RECORDS_H_
