// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TESTS_GPU_CARD_READING_H_
#define MEMTRACE_TESTS_GPU_CARD_READING_H_

#include <cstdint>
#include <string>

namespace memtrace {

// What card 0 of this machine says of itself. Sizes in bytes.
struct CardReading {
  std::string device_name;
  uint64_t bytes = 0;          // cuMemGetInfo's total
  uint64_t context_bytes = 0;  // total - free once a context is there, on a card nobody else uses
  int compute_capability_major = 0;
  int compute_capability_minor = 0;
  int multiprocessors = 0;
  uint64_t granularity = 0;  // the least cuMemCreate takes
  int driver_version = 0;    // 13000 is CUDA 13.0
};

// Creates the primary context and leaves it to the end of the process. False and the failed call in
// *error otherwise.
bool ReadCard(CardReading* reading, std::string* error);

}  // namespace memtrace

#endif  // MEMTRACE_TESTS_GPU_CARD_READING_H_
