// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/cupti/cupti_library.h"

#include <dlfcn.h>

namespace memtrace::cupti {
namespace {

constexpr const char* kNames[] = {"libcupti.so.13", "libcupti.so.12"};

// Returns "", or the name of the function if it is missing.
template <typename Function>
std::string Resolve(void* handle, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(handle, name));
  return function == nullptr ? name : "";
}

}  // namespace

absl::StatusOr<CuptiLibrary> CuptiLibrary::Find() {
  for (const int mode : {RTLD_LAZY | RTLD_NOLOAD, RTLD_LAZY}) {
    for (const char* name : kNames) {
      if (void* handle = dlopen(name, mode)) return Of(handle);
    }
  }
  return absl::NotFoundError("neither libcupti.so.13 nor libcupti.so.12 was found");
}

absl::StatusOr<CuptiLibrary> CuptiLibrary::Load(const std::string& path) {
  void* handle = dlopen(path.c_str(), RTLD_LAZY);
  if (handle == nullptr) return absl::NotFoundError(dlerror());
  return Of(handle);
}

absl::StatusOr<CuptiLibrary> CuptiLibrary::Of(void* handle) {
  CuptiLibrary library;
  std::string missing;
  const auto find = [&](const char* name, auto& function) {
    if (missing.empty()) missing = Resolve(handle, name, function);
  };
  find("cuptiActivityRegisterCallbacks", library.register_callbacks);
  find("cuptiActivityEnable", library.enable);
  find("cuptiActivityDisable", library.disable);
  find("cuptiActivityEnableRuntimeApi", library.enable_runtime_call);
  find("cuptiActivityEnableDriverApi", library.enable_driver_call);
  find("cuptiActivityFlushAll", library.flush_all);
  find("cuptiActivityGetNextRecord", library.next_record);
  find("cuptiActivityGetNumDroppedRecords", library.dropped_records);
  find("cuptiActivityPushExternalCorrelationId", library.push_external);
  find("cuptiActivityPopExternalCorrelationId", library.pop_external);
  find("cuptiGetTimestamp", library.timestamp);
  find("cuptiGetResultString", library.result_string);
  if (!missing.empty()) return absl::UnimplementedError("this CUPTI has no " + missing);
  return library;
}

absl::Status CuptiLibrary::Check(CUptiResult result, const std::string& doing) const {
  if (result == CUPTI_SUCCESS) return absl::OkStatus();
  const char* name = nullptr;
  if (result_string(result, &name) != CUPTI_SUCCESS || name == nullptr) name = "an unknown error";
  return absl::UnavailableError(std::string(name) + " (" + std::to_string(result) + ") while " +
                                doing);
}

}  // namespace memtrace::cupti
