// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_OUTSIDE_GROWTH_H_
#define MEMTRACE_INTERPOSE_CORE_OUTSIDE_GROWTH_H_

namespace memtrace {

// Samples the cards if what the program holds of one beside its allocator grew by a sixteenth and
// 64 MiB since this last did: a report shows the card as it was near the peak. Any thread.
//
// Not while memory is on its way to an allocator that is observed: its segments come through the
// driver's hooks first, and a sample then would count them as nobody's.
void SampleIfOutsideGrew(int device);

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_OUTSIDE_GROWTH_H_
