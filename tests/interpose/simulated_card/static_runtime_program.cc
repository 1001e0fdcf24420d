// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// A program with its own CUDA runtime linked in. Exits with the error of its first call.
#include <cuda_runtime_api.h>

int main() {
  int count = 0;
  return static_cast<int>(cudaGetDeviceCount(&count));
}
