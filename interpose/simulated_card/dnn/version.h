// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_DNN_VERSION_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_DNN_VERSION_H_

#include <cstddef>

namespace memtrace::card {

// The version of the cuDNN that this process would have loaded without us, as cudnnGetVersion
// counts (9.19.0 is 91900): torch refuses an older one than it was built with, and chooses what to
// leave to cuDNN by it. Taken from the headers in the same wheel, those of the torch that is
// loaded; of the version that we were compiled with if there are none. Looked up once.
std::size_t DnnVersion();

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_DNN_VERSION_H_
