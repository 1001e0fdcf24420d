// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_INTERCHANGE_ENTRY_ORDER_H_
#define MEMTRACE_TOOLS_INTERCHANGE_ENTRY_ORDER_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "tools/interchange/snapshot_records.h"

namespace memtrace::interchange {

// Takes the entries of all devices in order of time; those of one device keep their order.
class EntryOrder {
 public:
  struct Place {
    size_t device = 0;
    size_t index = 0;  // in the device's trace
  };

  // `records` outlives this.
  explicit EntryOrder(const SnapshotRecords& records)
      : records_(records), next_(records.devices.size()) {}

  // Returns the place of the next entry; nothing behind the last.
  std::optional<Place> Next();

 private:
  const SnapshotRecords& records_;
  std::vector<size_t> next_;
};

}  // namespace memtrace::interchange

#endif  // MEMTRACE_TOOLS_INTERCHANGE_ENTRY_ORDER_H_
