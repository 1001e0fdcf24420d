// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_HEAP_PARTS_LEDGER_H_
#define MEMTRACE_ALLOCATOR_HEAP_PARTS_LEDGER_H_

#include "allocator/accounts/accounting.h"
#include "allocator/accounts/allocation_observer.h"
#include "allocator/pools/segment_groups.h"

namespace memtrace {

// Returns how the card's mapped memory is used. REQUIRES: recently freed blocks are merged, because
// no figure contains them before.
AllocatorLedger LedgerOf(const SegmentGroups& groups, const Accounting& accounting);

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_HEAP_PARTS_LEDGER_H_
