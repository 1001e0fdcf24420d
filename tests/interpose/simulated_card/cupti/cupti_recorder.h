// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TESTS_INTERPOSE_SIMULATED_CARD_CUPTI_CUPTI_RECORDER_H_
#define MEMTRACE_TESTS_INTERPOSE_SIMULATED_CARD_CUPTI_CUPTI_RECORDER_H_

#include <cupti.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace memtrace::card {

// A client of the activity API, written like NVIDIA's samples: it keeps the returned buffers.
class CuptiRecorder {
 public:
  // Takes the size of the buffers that it gives, the records that each may hold (0: any number),
  // and the number of buffers.
  static void Begin(std::size_t buffer_bytes = 1 << 20, std::size_t most_records = 0,
                    std::size_t buffers = 100);

  // Flushes, then returns all records since Begin in the order of the buffers.
  static std::vector<const CUpti_Activity*> Records();

  // Returns the records of one kind, with their type.
  template <typename Record>
  static std::vector<const Record*> Of(CUpti_ActivityKind kind) {
    std::vector<const Record*> found;
    for (const CUpti_Activity* record : Records()) {
      if (record->kind == kind) found.push_back(reinterpret_cast<const Record*>(record));
    }
    return found;
  }

  // Returns the number of returned buffers.
  static std::size_t Completed();
};

}  // namespace memtrace::card

#endif  // MEMTRACE_TESTS_INTERPOSE_SIMULATED_CARD_CUPTI_CUPTI_RECORDER_H_
