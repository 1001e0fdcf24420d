// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_BENCH_CARD_BOOKS_H_
#define MEMTRACE_INTERPOSE_BENCH_CARD_BOOKS_H_

#include <cstdint>
#include <map>
#include <string>

namespace memtrace::bench {

// The books of the card's memory during a play. Thread rule: one thread at a time.
class CardBooks {
 public:
  virtual ~CardBooks() = default;

  // Leaves `bytes` of the card to the play, before anything uses it. Returns false if it cannot.
  virtual bool Bound(uint64_t bytes) = 0;

  // Returns the bytes that are taken of the card.
  virtual uint64_t InUse() const = 0;
  // Returns the most that was in use so far.
  virtual uint64_t Peak() const = 0;
  // Called after each request that was served.
  virtual void Note() = 0;

  // Counts the calls that are made from here on.
  virtual void StartCalls() = 0;
  // Adds the calls since the last start to `calls`, by the function's name, and starts again.
  // Counts only calls that take memory, give it back, or wait.
  virtual void TakeCalls(std::map<std::string, uint64_t>& calls) = 0;
};

}  // namespace memtrace::bench

#endif  // MEMTRACE_INTERPOSE_BENCH_CARD_BOOKS_H_
