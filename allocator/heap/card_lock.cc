// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/heap/card_lock.h"

namespace memtrace {

void CardLock::Lock() ABSL_NO_THREAD_SAFETY_ANALYSIS {
  mutex_.Lock();
  quick_.LockAll();
}

void CardLock::Unlock() ABSL_NO_THREAD_SAFETY_ANALYSIS {
  quick_.UnlockAll(heap_.is_quiet());
  mutex_.Unlock();
}

}  // namespace memtrace
