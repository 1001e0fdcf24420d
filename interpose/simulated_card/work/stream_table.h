// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_STREAM_TABLE_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_STREAM_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "interpose/simulated_card/spec/result.h"
#include "interpose/simulated_card/work/progress.h"
#include "interpose/simulated_card/work/stream.h"

namespace memtrace::card {

// The streams of all cards: the default stream of each, those that were created, and those that
// were destroyed before their work was done. A handle is the address of its stream; kInvalidHandle
// for one that is not alive, which is never dereferenced.
//
// Handles 0, 1 and 2 are the legacy default stream, the same by name, and the per-thread one
// (cuda.h). All three are one stream here, the default stream of the device that is named with the
// handle: in order, which is stricter than per-thread streams need.
//
// Thread rule: the first group of functions is safe from any thread; the second is called with
// Progress::mutex() held, which guards the table and the streams.
class StreamTable {
 public:
  // `progress` must outlive this.
  StreamTable(int devices, Progress& progress);
  StreamTable(const StreamTable&) = delete;
  StreamTable& operator=(const StreamTable&) = delete;

  Stream* Create(int device, unsigned flags, int priority);
  // Copies the stream of a handle.
  Result Describe(const void* handle, int device, Stream* copy) const;
  // Gives all work that is now in the stream.
  Result LastWork(const void* handle, int device, Work* work) const;
  // Returns an unfinished launch made after `since`; nothing if the host has since then waited for
  // a stream of the device that is now idle.
  std::optional<Work> UnawaitedLaunch(int device, Tick since) const;
  // Returns how many were created and not destroyed.
  std::size_t Live() const;

  static bool IsDefault(const void* handle);
  // Returns null for a handle that is not alive.
  Stream* Find(const void* handle, int device) const;
  // Makes the stream wait for its implicit dependencies: streams wait for the default stream's work
  // and it for theirs, unless they were created as non-blocking (the programming guide's "implicit
  // synchronization").
  void Join(Stream* stream, Progress::Lock& lock);
  // Returns the last work of every stream of the device, including destroyed ones.
  std::vector<Work> LastWorkOf(int device) const;
  // Destroys a stream that was created. Its work is still done, later.
  void Destroy(Stream* stream);
  void ForgetFinished();

 private:
  Progress& progress_;
  // One for each device. Progress::mutex() guards this and the members below.
  std::vector<StreamPointer> default_streams_;
  std::unordered_map<Stream*, StreamPointer> streams_;
  std::vector<Stream*> blocking_;         // of those, the ones that wait for default streams
  std::vector<StreamPointer> destroyed_;  // and not finished
  std::uint64_t next_id_ = 1;
};

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_STREAM_TABLE_H_
