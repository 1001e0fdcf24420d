// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TESTS_GPU_CARD_READING_H_
#define MEMTRACE_TESTS_GPU_CARD_READING_H_

#include <cstdint>
#include <string>

namespace memtrace {

// The properties of this machine's card 0. Sizes in bytes.
struct CardReading {
  std::string device_name;
  uint64_t bytes = 0;          // cuMemGetInfo's total
  uint64_t context_bytes = 0;  // total - free with one context, on a card that nobody else uses
  int compute_capability_major = 0;
  int compute_capability_minor = 0;
  int multiprocessors = 0;
  uint64_t granularity = 0;  // the smallest size that cuMemCreate accepts
  int driver_version = 0;    // 13000 is CUDA 13.0
};

// Creates the primary context and keeps it until the process ends. Returns false, with the failed
// call in *error, if a call fails.
bool ReadCard(CardReading* reading, std::string* error);

}  // namespace memtrace

#endif  // MEMTRACE_TESTS_GPU_CARD_READING_H_
