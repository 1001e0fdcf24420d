// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_DNN_VERSION_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_DNN_VERSION_H_

#include <cstddef>

namespace memtrace::card {

// Returns the version of the cuDNN that this process would have loaded without us, as
// cudnnGetVersion counts (9.19.0 is 91900): torch refuses an older one than it was built with, and
// decides by it what to leave to cuDNN. Read from the headers in the wheel of the loaded torch,
// else the version that we were compiled with. Looked up once.
std::size_t DnnVersion();

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_DNN_VERSION_H_
