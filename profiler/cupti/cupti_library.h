// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_CUPTI_CUPTI_LIBRARY_H_
#define MEMTRACE_PROFILER_CUPTI_CUPTI_LIBRARY_H_

#include <cupti.h>

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace memtrace::cupti {

// The functions of NVIDIA's CUPTI that we use, found at run time. Never unloaded, because it has
// threads.
class CuptiLibrary {
 public:
  // Returns the CUPTI that this process has loaded, otherwise the one that the loader finds.
  // kNotFound names the files that were tried; kUnimplemented names the missing function (a CUPTI
  // older than 11).
  static absl::StatusOr<CuptiLibrary> Find();
  static absl::StatusOr<CuptiLibrary> Load(const std::string& path);

  // Returns OK, or CUPTI's reason: "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES while enabling kernels".
  absl::Status Check(CUptiResult result, const std::string& doing) const;

  decltype(&cuptiActivityRegisterCallbacks) register_callbacks = nullptr;
  decltype(&cuptiActivityEnable) enable = nullptr;
  decltype(&cuptiActivityDisable) disable = nullptr;
  decltype(&cuptiActivityEnableRuntimeApi) enable_runtime_call = nullptr;
  decltype(&cuptiActivityEnableDriverApi) enable_driver_call = nullptr;
  decltype(&cuptiActivityFlushAll) flush_all = nullptr;
  decltype(&cuptiActivityGetNextRecord) next_record = nullptr;
  decltype(&cuptiActivityGetNumDroppedRecords) dropped_records = nullptr;
  decltype(&cuptiActivityPushExternalCorrelationId) push_external = nullptr;
  decltype(&cuptiActivityPopExternalCorrelationId) pop_external = nullptr;
  decltype(&cuptiGetTimestamp) timestamp = nullptr;
  decltype(&cuptiGetResultString) result_string = nullptr;

 private:
  static absl::StatusOr<CuptiLibrary> Of(void* handle);
};

}  // namespace memtrace::cupti

#endif  // MEMTRACE_PROFILER_CUPTI_CUPTI_LIBRARY_H_
