// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_ABI_OUTSIDE_GROWTH_H_
#define MEMTRACE_INTERPOSE_CORE_ABI_OUTSIDE_GROWTH_H_

namespace memtrace {

// Samples the cards if the memory that the program holds on one beside its allocator grew by a
// sixteenth and 64 MiB since the last such sample, so that a report shows the card near the peak.
// Any thread.
//
// Must not be called while an observed allocator takes memory: the driver's hooks report its
// segments first, and a sample at that moment would count them as nobody's.
void SampleIfOutsideGrew(int device);

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_ABI_OUTSIDE_GROWTH_H_
