// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_RECORDER_STACK_HASH_H_
#define MEMTRACE_PROFILER_RECORDER_STACK_HASH_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace memtrace::recorder {

// A frame as an interpreter's stack walker finds it, without names.
struct RawFrame {
  const void* code = nullptr;  // identity of the code: a PyCodeObject, a return address
  int32_t instruction = 0;     // offset in it
  friend bool operator==(const RawFrame&, const RawFrame&) = default;
};

// Returns 64 bits that depend on every frame and on the number of frames, never 0.
//
// Frames are mixed in four lanes, so that the multiplications of neighbouring frames overlap. A
// lane that no frame has reached still holds its own seed. Each is therefore joined with the seed
// of another lane: with its own it would be 0, and a product with 0 loses its other factor.
uint64_t HashOfStack(std::span<const RawFrame> frames);

}  // namespace memtrace::recorder

#endif  // MEMTRACE_PROFILER_RECORDER_STACK_HASH_H_
