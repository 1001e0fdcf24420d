// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_LIBRARIES_VERSIONS_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_LIBRARIES_VERSIONS_H_

namespace memtrace::card {

// The versions that the libraries report, in their own numbering: those of the wheels beside the
// torch of this process. Without torch they are those of the CUDA that the library stands in for.
// Each is looked up once. The two folders cuda_12 and cuda_13 have one definition each.
int BlasVersion();  // 12.8.4 is 120804
int FftVersion();   // 11.3.3 is 11303

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_LIBRARIES_VERSIONS_H_
