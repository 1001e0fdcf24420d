// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// cuFFT: a plan is a number. No transform is supported: making a plan for one fails.
#pragma GCC visibility push(default)
#include <cufft.h>
#pragma GCC visibility pop

#include <atomic>

cufftResult cufftCreate(cufftHandle* plan) {
  static std::atomic<cufftHandle> next = 1;
  if (plan == nullptr) return CUFFT_INVALID_VALUE;
  *plan = next++;
  return CUFFT_SUCCESS;
}

cufftResult cufftDestroy(cufftHandle) { return CUFFT_SUCCESS; }

cufftResult cufftSetAutoAllocation(cufftHandle, int) { return CUFFT_SUCCESS; }

cufftResult cufftGetVersion(int* version) {
  if (version == nullptr) return CUFFT_INVALID_VALUE;
  *version = CUFFT_VERSION;
  return CUFFT_SUCCESS;
}
