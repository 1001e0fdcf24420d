// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_COLLECTIVES_THREAD_CARD_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_COLLECTIVES_THREAD_CARD_H_

#include <cuda.h>

namespace memtrace::card {

// The card that the calling thread uses, read from the driver, because the same libnccl serves
// processes with the runtime of CUDA 12 and those with the runtime of CUDA 13.

// Writes the card of the thread's context, or the first card if the thread has none.
CUresult FindThreadCard(int* card);

// Makes the primary context of the thread's card current if no context is.
CUresult EnsureThreadContext();

// Makes a card current for the thread while this object lives; then the previous context is current
// again.
class OnCard {
 public:
  explicit OnCard(int card);
  ~OnCard();
  OnCard(const OnCard&) = delete;
  OnCard& operator=(const OnCard&) = delete;

  CUresult result() const { return result_; }

 private:
  CUcontext before_ = nullptr;
  CUresult result_;
};

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_COLLECTIVES_THREAD_CARD_H_
