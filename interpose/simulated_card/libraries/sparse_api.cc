// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// cuSPARSE: its texts. Objects are in symbols/libcusparse.so.12.inert.txt; no operation is
// supported.
#pragma GCC visibility push(default)
#include <cusparse.h>
#pragma GCC visibility pop

cusparseStatus_t cusparseGetVersion(cusparseHandle_t, int* version) {
  if (version == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
  *version = CUSPARSE_VERSION;
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
