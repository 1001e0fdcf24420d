// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// cuSPARSE: its texts. Objects are in symbols/libcusparse.inert.txt; no operation is
// supported.
#pragma GCC visibility push(default)
#include <cusparse.h>
#pragma GCC visibility pop

#include <optional>

#include "interpose/simulated_card/wheels/stated_version.h"

using namespace memtrace::card;  // NOLINT: this file defines C functions over that namespace

namespace memtrace::card {
namespace {

// The soname is the same in CUDA 12 and 13, but the folders of their wheels differ.
std::optional<std::size_t> VersionIn(const char* folder) {
  return StatedVersion(
      HeaderBesideTorch(std::string(folder) + "/include/cusparse.h"),
      {{"CUSPARSE_VER_MAJOR", 1000}, {"CUSPARSE_VER_MINOR", 100}, {"CUSPARSE_VER_PATCH", 1}});
}

int SparseVersion() {
  static const auto kVersion = static_cast<int>(
      VersionIn("cu13").value_or(VersionIn("cusparse").value_or(CUSPARSE_VERSION)));
  return kVersion;
}

}  // namespace
}  // namespace memtrace::card

cusparseStatus_t cusparseGetVersion(cusparseHandle_t, int* version) {
  if (version == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
  *version = SparseVersion();
  return CUSPARSE_STATUS_SUCCESS;
}

const char* cusparseGetErrorName(cusparseStatus_t status) {
  return status == CUSPARSE_STATUS_SUCCESS         ? "CUSPARSE_STATUS_SUCCESS"
         : status == CUSPARSE_STATUS_NOT_SUPPORTED ? "CUSPARSE_STATUS_NOT_SUPPORTED"
                                                   : "CUSPARSE_STATUS_INVALID_VALUE";
}

const char* cusparseGetErrorString(cusparseStatus_t status) {
  return status == CUSPARSE_STATUS_SUCCESS ? "success"
         : status == CUSPARSE_STATUS_NOT_SUPPORTED
             ? "memtrace's simulated card does not have this operation of cuSPARSE"
             : "an argument is invalid";
}
