// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/libraries/versions.h"

#include <cublas_api.h>
#include <cufft.h>

#include "interpose/simulated_card/wheels/stated_version.h"

namespace memtrace::card {
namespace {

constexpr int kBlasVersion = CUBLAS_VERSION;
constexpr int kFftVersion = CUFFT_VERSION;

}  // namespace

int BlasVersion() {
  static const auto kVersion = static_cast<int>(
      StatedVersion(
          HeaderBesideTorch("cu13/include/cublas_api.h"),
          {{"CUBLAS_VER_MAJOR", 10000}, {"CUBLAS_VER_MINOR", 100}, {"CUBLAS_VER_PATCH", 1}})
          .value_or(kBlasVersion));
  return kVersion;
}

int FftVersion() {
  static const auto kVersion = static_cast<int>(
      StatedVersion(HeaderBesideTorch("cu13/include/cufft.h"),
                    {{"CUFFT_VER_MAJOR", 1000}, {"CUFFT_VER_MINOR", 100}, {"CUFFT_VER_PATCH", 1}})
          .value_or(kFftVersion));
  return kVersion;
}

}  // namespace memtrace::card
