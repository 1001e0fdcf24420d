// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_INTERCHANGE_PICKLE_CONTAINERS_H_
#define MEMTRACE_TOOLS_INTERCHANGE_PICKLE_CONTAINERS_H_

#include <cstddef>
#include <cstdint>

#include "tools/interchange/paged_vector.h"
#include "tools/interchange/pickle_value.h"

namespace memtrace::interchange {

// The sequences and dicts of a pickle with their contents; in a dict, each key is followed by its
// value. They grow in turns while the pickle is read: values that one of them was given at once lie
// side by side, and its runs are chained in their order.
//
// Every function that takes a container REQUIRES one that New() made here. Thread rule: one thread
// writes, then any number read.
class PickleContainers {
 public:
  // `kind` is kSequence or kDict.
  PickleValue New(PickleValue::Kind kind);
  void Append(PickleValue container, const PickleValue* items, size_t count);

  // Returns how many containers there are: their payloads are below it.
  size_t count() const { return chains_.size(); }
  // Returns how many values were appended to one.
  size_t Items(PickleValue container) const { return chains_[container.payload()].items; }
  // Returns about how many bytes all of it takes.
  uint64_t bytes() const { return bytes_; }

  // Calls `visit(PickleValue)` with each value that was appended to a container.
  template <typename Visit>
  void ForEach(PickleValue container, Visit visit) const {
    VisitPlaces(
        container, [&](uint64_t at) { visit(items_[at]); }, 1);
  }
  // Calls `visit(PickleValue key, PickleValue value)` with each pair of a dict.
  template <typename Visit>
  void ForEachPair(PickleValue dict, Visit visit) const {
    VisitPlaces(
        dict, [&](uint64_t at) { visit(items_[at], items_[at + 1]); }, 2);
  }

 private:
  // Items that were appended at once, which lie side by side.
  struct Run {
    uint32_t begin = 0;
    uint32_t count = 0;
    uint32_t next = 0;  // place in runs_, plus 1; 0: the last
  };
  struct Chain {
    uint32_t first = 0;  // places in runs_, plus 1; 0: empty
    uint32_t last = 0;
    uint32_t items = 0;
  };

  template <typename Visit>
  void VisitPlaces(PickleValue container, Visit visit, uint32_t stride) const {
    uint32_t place = chains_[container.payload()].first;
    while (place != 0) {
      const Run& run = runs_[place - 1];
      for (uint32_t i = 0; i + stride <= run.count; i += stride) visit(run.begin + i);
      place = run.next;
    }
  }

  // Data that grows is never copied, so that the memory taken is what is counted.
  PagedVector<PickleValue> items_;
  PagedVector<Run> runs_;
  PagedVector<Chain> chains_;
  uint64_t bytes_ = 0;
};

}  // namespace memtrace::interchange

#endif  // MEMTRACE_TOOLS_INTERCHANGE_PICKLE_CONTAINERS_H_
