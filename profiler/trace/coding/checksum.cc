// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/trace/coding/checksum.h"

// Header-only, so that we neither load libxxhash into the program nor use the program's.
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace memtrace::trace {

uint64_t BlockChecksum(BlockHeader header, const void* records) {
  header.checksum = 0;
  const uint64_t seed = XXH3_64bits(&header, sizeof(header));
  const uint64_t checksum = XXH3_64bits_withSeed(records, header.committed, seed);
  return checksum == 0 ? 1 : checksum;
}

}  // namespace memtrace::trace
