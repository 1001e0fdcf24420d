// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// Stands for NVIDIA's driver on the loader's path: says so if anybody asks it anything.
#include <cstdio>

extern "C" __attribute__((visibility("default"))) int cuInit(unsigned int) {
  std::fputs("the pretended driver was asked\n", stderr);
  return 100;  // no device
}
