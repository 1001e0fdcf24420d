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

// A client of the activity API, as one is written by NVIDIA's samples: it keeps what comes back.
class CuptiRecorder {
 public:
  // How large the buffers are that it gives, how many records each may hold (0: any number), and
  // how many buffers it has.
  static void Begin(std::size_t buffer_bytes = 1 << 20, std::size_t most_records = 0,
                    std::size_t buffers = 100);

  // Flushes; all records since Begin in the order of the buffers.
  static std::vector<const CUpti_Activity*> Records();

  // Those of one kind as what they are.
  template <typename Record>
  static std::vector<const Record*> Of(CUpti_ActivityKind kind) {
    std::vector<const Record*> found;
    for (const CUpti_Activity* record : Records()) {
      if (record->kind == kind) found.push_back(reinterpret_cast<const Record*>(record));
    }
    return found;
  }

  // Buffers that came back.
  static std::size_t Completed();
};

}  // namespace memtrace::card

#endif  // MEMTRACE_TESTS_INTERPOSE_SIMULATED_CARD_CUPTI_CUPTI_RECORDER_H_
