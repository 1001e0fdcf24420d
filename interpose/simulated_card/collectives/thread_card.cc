// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/collectives/thread_card.h"

#include <map>

#include "base/mutex.h"

namespace memtrace::card {
namespace {

// Like the runtime, NCCL keeps one reference to each primary context that it ever used.
CUresult FindPrimaryContext(int card, CUcontext* context) {
  static Mutex mutex;
  static auto* contexts = new std::map<int, CUcontext>;  // never destroyed: used until the end
  const MutexLock lock(mutex);
  const auto known = contexts->find(card);
  if (known != contexts->end()) {
    *context = known->second;
    return CUDA_SUCCESS;
  }
  CUresult result = cuInit(0);
  if (result == CUDA_SUCCESS) result = cuDevicePrimaryCtxRetain(context, card);
  if (result == CUDA_SUCCESS) contexts->emplace(card, *context);
  return result;
}

CUresult UseCard(int card) {
  CUcontext context = nullptr;
  const CUresult result = FindPrimaryContext(card, &context);
  return result == CUDA_SUCCESS ? cuCtxSetCurrent(context) : result;
}

CUcontext CurrentContext() {
  CUcontext context = nullptr;
  return cuCtxGetCurrent(&context) == CUDA_SUCCESS ? context : nullptr;
}

}  // namespace

CUresult FindThreadCard(int* card) {
  if (CurrentContext() != nullptr) return cuCtxGetDevice(card);
  CUdevice first = 0;
  CUresult result = cuInit(0);
  if (result == CUDA_SUCCESS) result = cuDeviceGet(&first, 0);
  if (result == CUDA_SUCCESS) *card = first;
  return result;
}

CUresult EnsureThreadContext() { return CurrentContext() != nullptr ? CUDA_SUCCESS : UseCard(0); }

OnCard::OnCard(int card) : before_(CurrentContext()), result_(UseCard(card)) {}

OnCard::~OnCard() { cuCtxSetCurrent(before_); }

}  // namespace memtrace::card
