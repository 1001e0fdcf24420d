// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/bench/card_driver.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "interpose/simulated_card/interface/card_control.h"

namespace memtrace::bench {
namespace {

// The calls that an allocator makes to get memory, to give it back, and to wait for work. Others,
// such as questions, cost it nothing.
constexpr std::array<std::string_view, 25> kCounted = {"cuMemAddressReserve",
                                                       "cuMemAddressFree",
                                                       "cuMemCreate",
                                                       "cuMemRelease",
                                                       "cuMemMap",
                                                       "cuMemUnmap",
                                                       "cuMemSetAccess",
                                                       "cuMemAlloc",
                                                       "cuMemAllocManaged",
                                                       "cuMemFree",
                                                       "cuMemAllocAsync",
                                                       "cuMemAllocFromPoolAsync",
                                                       "cuMemFreeAsync",
                                                       "cudaMalloc",
                                                       "cudaMallocManaged",
                                                       "cudaFree",
                                                       "cudaMallocAsync",
                                                       "cudaMallocFromPoolAsync",
                                                       "cudaFreeAsync",
                                                       "cudaDeviceSynchronize",
                                                       "cudaStreamSynchronize",
                                                       "cudaEventSynchronize",
                                                       "cuCtxSynchronize",
                                                       "cuStreamSynchronize",
                                                       "cuEventSynchronize"};
constexpr int kMemoryType = 2;   // CU_POINTER_ATTRIBUTE_MEMORY_TYPE
constexpr unsigned kDevice = 2;  // CU_MEMORYTYPE_DEVICE

// Returns the driver's function. `Function` is its type; the driver's handles are pointers.
template <typename Function>
Function* Find(void* library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

template <typename Function, typename... Arguments>
int Call(void* library, const char* name, Arguments... arguments) {
  auto* function = Find<Function>(library, name);
  return function == nullptr ? -1 : function(arguments...);
}

struct memtrace_card_ledger LedgerOf(void* library) {
  struct memtrace_card_ledger ledger {};
  ledger.size = sizeof(ledger);
  Call<int(int, struct memtrace_card_ledger*)>(library, "memtrace_card_ledger", 0, &ledger);
  return ledger;
}

void Count(void* argument, const char* call, uint64_t /*number*/) {
  auto& calls = *static_cast<std::map<std::string, uint64_t>*>(argument);
  const std::string_view text(call);
  const std::string_view name = text.substr(0, text.find_first_of(" ("));
  if (std::find(kCounted.begin(), kCounted.end(), name) != kCounted.end())
    ++calls[std::string(name)];
}

}  // namespace

bool CardDriver::Open() {
  library_ = dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_NOW);
  int device = 0;
  return library_ != nullptr && Call<int(unsigned)>(library_, "cuInit", 0U) == 0 &&
         Call<int(int*, int)>(library_, "cuDeviceGet", &device, 0) == 0 &&
         Call<int(void**, int)>(library_, "cuDevicePrimaryCtxRetain", &context_, device) == 0;
}

void CardDriver::Enter() const { Call<int(void*)>(library_, "cuCtxSetCurrent", context_); }

void* CardDriver::MakeStream() const {
  constexpr unsigned kNonBlocking = 1;
  void* stream = nullptr;
  Call<int(void**, unsigned)>(library_, "cuStreamCreate", &stream, kNonBlocking);
  return stream;
}

void* CardDriver::Allocate(size_t bytes) const {
  uint64_t address = 0;
  Call<int(uint64_t*, size_t)>(library_, "cuMemAlloc_v2", &address, bytes);
  return reinterpret_cast<void*>(address);
}

void CardDriver::Free(void* address) const {
  Call<int(uint64_t)>(library_, "cuMemFree_v2", reinterpret_cast<uint64_t>(address));
}

bool CardDriver::IsOnCard(uintptr_t address) const {
  unsigned type = 0;
  return Call<int(void*, int, uint64_t)>(library_, "cuPointerGetAttribute",
                                         static_cast<void*>(&type), kMemoryType,
                                         uint64_t{address}) == 0 &&
         type == kDevice;
}

bool CardDriver::Resize(uint64_t bytes) const {
  return Call<int(int, uint64_t)>(library_, "memtrace_card_resize", 0, bytes) == 0;
}

uint64_t CardDriver::InUse() const {
  const struct memtrace_card_ledger ledger = LedgerOf(library_);
  return ledger.total - ledger.free;
}

uint64_t CardDriver::Peak() const { return LedgerOf(library_).peak; }

void CardDriver::StartCalls() const { Call<int(int)>(library_, "memtrace_card_log_calls", 1); }

void CardDriver::TakeCalls(std::map<std::string, uint64_t>* calls) const {
  auto* visit = Find<void(memtrace_card_visitor, void*)>(library_, "memtrace_card_visit_calls");
  if (visit == nullptr) return;
  visit(Count, calls);
  StartCalls();
}

}  // namespace memtrace::bench
