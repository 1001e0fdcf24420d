// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_HEAP_PARTS_CACHE_RULES_H_
#define MEMTRACE_ALLOCATOR_HEAP_PARTS_CACHE_RULES_H_

#include <cstdint>
#include <deque>

#include "absl/base/attributes.h"
#include "allocator/accounts/accounting.h"
#include "allocator/heap/parts/leaving_memory.h"
#include "base/units.h"

namespace memtrace {

// How much free memory a heap may keep mapped; by default all of it.
struct CacheBounds {
  Bytes limit = ~Bytes{0};  // the most bytes that stay cached
  uint32_t age = 0;         // steps after which memory that none of them needed goes; 0: never
};

// Gives cached memory back to the card by rules, at the end of each step and, for the limit, after
// each growth; never at a free. Only memory goes whose work is done, so nothing is waited for, and
// more goes at the next occasion.
//
// A step needs its peak of active bytes. If the heap has grown in it, it needs all memory that was
// mapped at its end, because free memory did not fit; so memory that the rule has given back in
// vain stays for as many steps.
//
// Thread rule: guarded by the card's lock and those of all streams.
class CacheRules {
 public:
  // Both must outlive this.
  CacheRules(const CacheBounds& bounds, LeavingMemory& leaving ABSL_ATTRIBUTE_LIFETIME_BOUND,
             Accounting& accounting ABSL_ATTRIBUTE_LIFETIME_BOUND)
      : bounds_(bounds), leaving_(leaving), accounting_(accounting) {}

  bool has_limit() const { return bounds_.limit != ~Bytes{0}; }
  // REQUIRES: recently freed blocks have been merged, as for EndStep.
  void KeepLimit();
  void EndStep();

 private:
  Bytes NeedOfStep();
  void GiveBack(Bytes bytes);

  const CacheBounds bounds_;
  LeavingMemory& leaving_;
  Accounting& accounting_;
  std::deque<Bytes> needs_;  // of the last steps, at most `bounds_.age`
  int64_t growths_ = 0;      // until the end of the last step
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_HEAP_PARTS_CACHE_RULES_H_
