// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_BENCH_PLAYER_H_
#define MEMTRACE_INTERPOSE_BENCH_PLAYER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "interpose/bench/card_books.h"
#include "interpose/bench/card_driver.h"
#include "interpose/bench/request_sequence.h"
#include "interpose/bench/tried_functions.h"

namespace memtrace::bench {

// The result of one play.
struct Played {
  uint64_t failures = 0;                  // requests that were not served
  std::optional<uint64_t> first_failure;  // its place in the sequence
  std::string fault;                      // of BlockCheck; the play ended there
  uint64_t fault_at = 0;                  // its place in the sequence
  uint64_t peak = 0;                      // bytes of the card
  std::vector<uint64_t> in_use;           // bytes of the card, at equal distances in the sequence
  std::map<std::string, uint64_t> calls;
};

// Gives a sequence of requests to an allocator on the card of this process.
class Player {
 public:
  // All outlive this.
  Player(const RequestSequence& sequence, const TriedFunctions& functions, const CardDriver& card,
         CardBooks& books);

  // Plays the sequence once and frees what is left. A request that is not served ends the play if
  // `stops` is true, else it is left out with its free. With `checks`, each block is judged.
  Played Play(bool stops, bool checks);

  // Returns the nanoseconds of a pair of allocation and free, over all threads: each plays a copy
  // of the sequence with streams of its own, first once to fill the allocator's cache and then for
  // about `seconds`. It is processor time with one thread, real time with several. Nothing if a
  // request was not served.
  std::optional<double> NanosecondsPerPair(int threads, double seconds);

 private:
  std::vector<void*> Streams(bool has_default) const;

  const RequestSequence& sequence_;
  const TriedFunctions& functions_;
  const CardDriver& card_;
  CardBooks& books_;
};

}  // namespace memtrace::bench

#endif  // MEMTRACE_INTERPOSE_BENCH_PLAYER_H_
