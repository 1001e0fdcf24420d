// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/accounts/accounting.h"

namespace memtrace {

Statistics Accounting::statistics() const {
  const Usage& usage = blocks_.usage();
  Statistics all;
  all.allocation = usage.InUseByPool(kBlocks);
  all.active = usage.ActiveByPool(kBlocks);
  all.allocated_bytes = usage.InUseByPool(kBytes);
  all.active_bytes = usage.ActiveByPool(kBytes);
  all.requested_bytes = usage.ActiveByPool(kRequested);
  mapping_.PutInto(all);
  attempts_.PutInto(all);
  return all;
}

void Accounting::ResetPeak() {
  blocks_.usage().ResetPeak();
  mapping_.ResetPeak();
}

void Accounting::ResetAccumulated() {
  blocks_.usage().ResetAccumulated();
  mapping_.ResetAccumulated();
  attempts_.ResetAccumulated();
}

}  // namespace memtrace
