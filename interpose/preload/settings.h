// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_PRELOAD_SETTINGS_H_
#define MEMTRACE_INTERPOSE_PRELOAD_SETTINGS_H_

namespace memtrace::preload {

// MEMTRACE=0: this library does nothing. Read once, at the first call.
bool IsSwitchedOff();
// MEMTRACE_CACHE=1: our allocator serves the program's requests to the driver.
bool IsCacheWanted();
// MEMTRACE_CARD is set: there are simulated cards, whose kernels do not run.
bool IsCardSimulated();

}  // namespace memtrace::preload

#endif  // MEMTRACE_INTERPOSE_PRELOAD_SETTINGS_H_
