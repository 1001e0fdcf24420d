// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// Finding functions by name, the texts of errors, and the log behind them.
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <string>

#include "base/mutex.h"
#include "interpose/simulated_card/driver/driver_api.h"
#include "interpose/simulated_card/spec/error_texts.h"
#include "interpose/simulated_card/symbols/symbol_table.h"
#include "interpose/simulated_card/test_bed/unsupported_calls.h"

using namespace memtrace::card;  // NOLINT: this file defines C functions over that namespace

namespace memtrace::card {
namespace {

void* Lookup(const std::string& name, int version) {
  const auto symbols = DriverSymbols();
  const auto found = std::lower_bound(
      symbols.begin(), symbols.end(), name,
      [](const Symbol& symbol, const std::string& key) { return symbol.name < key; });
  if (found == symbols.end() || found->name != name || found->since > version) return nullptr;
  return reinterpret_cast<void*>(found->address);
}

// A request for cuMemAlloc means cuMemAlloc_v2. Callers name the version of CUDA they were built
// for and mean the newest function of that version. Additions of versions before 12.0 are not
// distinguished: torch requests 12.0 and newer.
void* FindNewestVersion(const std::string& name, int version) {
  for (const char* suffix : {"_v4", "_v3", "_v2", ""}) {
    if (void* address = Lookup(name + suffix, version)) return address;
  }
  return nullptr;
}

CUresult TextOf(CUresult error, const char* ErrorText::*member, const char** text) {
  if (text == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const ErrorText* found = FindErrorText(static_cast<int>(error));
  *text = found == nullptr ? nullptr : found->*member;
  return found == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

std::string FileOf(const void* code) {
  Dl_info info = {};
  const bool found = dladdr(code, &info) != 0 && info.dli_fname != nullptr;
  return found ? info.dli_fname : "the program";
}

// Reports each file once, on stderr and among the unsupported calls.
void ReportOwnRuntime(const void* caller) {
  static Mutex mutex;
  static auto* named = new std::set<std::string>;  // never destroyed: called until the end
  const std::string file = FileOf(caller);
  const MutexLock lock(mutex);
  if (!named->insert(file).second) return;
  UnsupportedCalls::OfProcess().Count(("static CUDA runtime in " + file).c_str());
  std::fprintf(stderr,
               "memtrace: %s has its own CUDA runtime linked in, which the simulated card cannot "
               "serve: its CUDA calls fail; link it with the shared libcudart instead\n",
               file.c_str());
}

}  // namespace
}  // namespace memtrace::card

CUresult cuGetProcAddress(const char* symbol, void** address, int version, cuuint64_t,
                          CUdriverProcAddressQueryResult* status) {
  if (symbol == nullptr || address == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *address = FindNewestVersion(symbol, version);
  const bool found = *address != nullptr;
  if (status != nullptr) {
    *status = found ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  }
  return found ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

// The private tables of NVIDIA's own libraries do not exist here, and callers read the pointer
// before the result. We do not answer their check of the driver (docs/design/simulated-card.md).
// Only a CUDA runtime that is linked into its user asks for them, so the caller's name shows which
// program it is.
CUresult cuGetExportTable(const void** table, const CUuuid* id) {
  ReportOwnRuntime(__builtin_return_address(0));
  if (table != nullptr) *table = nullptr;
  return id == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_NOT_FOUND;
}

CUresult cuGetErrorName(CUresult error, const char** name) {
  return TextOf(error, &ErrorText::driver_name, name);
}

CUresult cuGetErrorString(CUresult error, const char** text) {
  return TextOf(error, &ErrorText::text, text);
}

// torch 2.15 listens for the driver's log of failed calls. This driver writes none: its error codes
// and the counts of the report are complete.
CUresult cuLogsRegisterCallback(CUlogsCallback listener, void*, CUlogsCallbackHandle* handle) {
  if (listener == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (handle != nullptr) *handle = reinterpret_cast<CUlogsCallbackHandle>(listener);
  return CUDA_SUCCESS;
}

CUresult cuLogsUnregisterCallback(CUlogsCallbackHandle handle) {
  return handle == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}
