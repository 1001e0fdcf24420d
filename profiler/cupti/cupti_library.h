// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_CUPTI_CUPTI_LIBRARY_H_
#define MEMTRACE_PROFILER_CUPTI_CUPTI_LIBRARY_H_

#include <cupti.h>

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace memtrace::cupti {

// NVIDIA's CUPTI as far as it is used here, found at run time. Never unloaded: it has threads.
class CuptiLibrary {
 public:
  // The one that this process has loaded, else the one that the loader finds. kNotFound says which
  // names were tried; kUnimplemented, which function is missing (a CUPTI of before 11).
  static absl::StatusOr<CuptiLibrary> Find();
  static absl::StatusOr<CuptiLibrary> Load(const std::string& path);

  // OK, or what CUPTI says about it: "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES while enabling kernels".
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
