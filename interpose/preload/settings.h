// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_PRELOAD_SETTINGS_H_
#define MEMTRACE_INTERPOSE_PRELOAD_SETTINGS_H_

namespace memtrace::preload {

// MEMTRACE=0: this library does nothing. Read once, when first asked.
bool IsSwitchedOff();
// MEMTRACE_CACHE=1: our allocator serves what the program asks the driver for.
bool IsCacheWanted();
// MEMTRACE_CARD is set: there are simulated cards, whose kernels do not run.
bool IsCardSimulated();

}  // namespace memtrace::preload

#endif  // MEMTRACE_INTERPOSE_PRELOAD_SETTINGS_H_
