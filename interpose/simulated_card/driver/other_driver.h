// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_DRIVER_OTHER_DRIVER_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_DRIVER_OTHER_DRIVER_H_

#include <string>

namespace memtrace::card {

// Returns the file of a loaded CUDA driver that is not simulated; empty if there is none. Libraries
// that found it would use another card than those that found ours.
std::string OtherDriverInProcess();

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_DRIVER_OTHER_DRIVER_H_
