// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The driver's own way to find its functions: the CUDA runtime uses it, linked into its user or
// not, and cudaGetDriverEntryPoint does for the program.
#include "interpose/preload/driver_symbols.h"
#include "interpose/preload/settings.h"

namespace memtrace::preload {
namespace {

void Replace(const char* base, void** function, int version, cuuint64_t flags) {
  if (base == nullptr || function == nullptr || *function == nullptr || IsSwitchedOff()) return;
  const bool per_thread = (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0;
  const Symbol symbol = FindSymbol(base, version, per_thread);
  if (symbol != Symbol::kCount) *function = ReplacementFor(symbol, *function);
}

}  // namespace
}  // namespace memtrace::preload

using memtrace::preload::Real;
using memtrace::preload::Symbol;

CUresult cuGetProcAddress(const char* symbol, void** function, int version, cuuint64_t flags) {
  const auto real = Real(Symbol::cuGetProcAddress, &cuGetProcAddress);
  if (real == nullptr) return CUDA_ERROR_NOT_INITIALIZED;
  const CUresult result = real(symbol, function, version, flags);
  if (result == CUDA_SUCCESS) memtrace::preload::Replace(symbol, function, version, flags);
  return result;
}

CUresult cuGetProcAddress_v2(const char* symbol, void** function, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult* status) {
  const auto real = Real(Symbol::cuGetProcAddress_v2, &cuGetProcAddress_v2);
  if (real == nullptr) return CUDA_ERROR_NOT_INITIALIZED;
  const CUresult result = real(symbol, function, version, flags, status);
  if (result == CUDA_SUCCESS) memtrace::preload::Replace(symbol, function, version, flags);
  return result;
}
