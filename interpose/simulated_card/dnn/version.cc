// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/dnn/version.h"

#include <cudnn_version.h>

#include "interpose/simulated_card/wheels/stated_version.h"

namespace memtrace::card {

std::size_t DnnVersion() {
  static const std::size_t kVersion =
      StatedVersion(HeaderBesideTorch("cudnn/include/cudnn_version.h"),
                    {{"CUDNN_MAJOR", 10000}, {"CUDNN_MINOR", 100}, {"CUDNN_PATCHLEVEL", 1}})
          .value_or(CUDNN_VERSION);
  return kVersion;
}

}  // namespace memtrace::card
