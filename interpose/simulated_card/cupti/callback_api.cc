// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// CUPTI's callback API, its version, its results and its numbers of contexts and streams. Rules:
// cupti_callbacks.h and cupti_result.h.
#include <iterator>

#include "interpose/simulated_card/cupti/cupti_names.h"
#include "interpose/simulated_card/cupti/cupti_process.h"

using namespace memtrace::card;  // NOLINT: this file defines C functions over that namespace

namespace memtrace::card {
namespace {

CallbackSubscriber& Subscriber() { return CuptiProcess::OfProcess().subscriber; }

// Runs body(subscriber) if the handle is the subscriber's.
template <typename Body>
CUptiResult WithSubscriber(CUpti_SubscriberHandle handle, Body body) {
  if (!HasCard()) return CUPTI_ERROR_UNKNOWN;
  CallbackSubscriber& subscriber = Subscriber();
  if (!subscriber.IsOn() || handle != subscriber.Handle()) return CUPTI_ERROR_INVALID_PARAMETER;
  return body(subscriber);
}

CUpti_CallbackDomain supported_domains[] = {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_CB_DOMAIN_RUNTIME_API,
                                            CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CB_DOMAIN_SYNCHRONIZE};

}  // namespace
}  // namespace memtrace::card

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* handle, CUpti_CallbackFunc callback,
                           void* argument) {
  if (!HasCard()) return CUPTI_ERROR_UNKNOWN;
  if (handle == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  CuptiProcess& process = CuptiProcess::OfProcess();
  const CUptiResult result = process.subscriber.Subscribe(callback, argument);
  if (result == CUPTI_SUCCESS) *handle = process.subscriber.Handle();
  process.ListenIfWanted();
  return result;
}

CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle handle) {
  return WithSubscriber(handle, [](CallbackSubscriber& subscriber) {
    subscriber.Unsubscribe();
    CuptiProcess::OfProcess().ListenIfWanted();
    return CUPTI_SUCCESS;
  });
}

CUptiResult cuptiEnableCallback(std::uint32_t enable, CUpti_SubscriberHandle handle,
                                CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  return WithSubscriber(handle, [&](CallbackSubscriber& subscriber) {
    return subscriber.Enable(domain, id, enable != 0);
  });
}

CUptiResult cuptiEnableDomain(std::uint32_t enable, CUpti_SubscriberHandle handle,
                              CUpti_CallbackDomain domain) {
  return WithSubscriber(handle, [&](CallbackSubscriber& subscriber) {
    return subscriber.EnableDomain(domain, enable != 0);
  });
}

CUptiResult cuptiEnableAllDomains(std::uint32_t enable, CUpti_SubscriberHandle handle) {
  return WithSubscriber(handle, [&](CallbackSubscriber& subscriber) {
    for (const CUpti_CallbackDomain domain : supported_domains)
      subscriber.EnableDomain(domain, enable != 0);
    return CUPTI_SUCCESS;
  });
}

CUptiResult cuptiGetCallbackState(std::uint32_t* enable, CUpti_SubscriberHandle handle,
                                  CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  return WithSubscriber(
      handle, [&](CallbackSubscriber& subscriber) { return subscriber.State(domain, id, enable); });
}

CUptiResult cuptiSupportedDomains(std::size_t* count, CUpti_DomainTable* domains) {
  if (count == nullptr || domains == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *count = std::size(supported_domains);
  *domains = supported_domains;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, std::uint32_t id, const char** name) {
  if (name == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  if (domain != CUPTI_CB_DOMAIN_RUNTIME_API && domain != CUPTI_CB_DOMAIN_DRIVER_API)
    return CUPTI_ERROR_INVALID_PARAMETER;
  *name = NameOf(domain == CUPTI_CB_DOMAIN_RUNTIME_API, id);
  return *name == nullptr ? CUPTI_ERROR_INVALID_PARAMETER : CUPTI_SUCCESS;
}

CUptiResult cuptiGetVersion(std::uint32_t* version) {
  if (version == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *version = CUPTI_API_VERSION;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetResultString(CUptiResult result, const char** text) {
  if (text == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  const char* name = NameOfResult(result);
  if (name == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *text = name;
  return CUPTI_SUCCESS;
}

// The name serves as the message, because it says as much.
CUptiResult cuptiGetErrorMessage(CUptiResult result, const char** text) {
  return cuptiGetResultString(result, text);
}

CUptiResult cuptiGetDeviceId(CUcontext context, std::uint32_t* device) {
  if (device == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  memtrace_card_context found;
  if (!memtrace_card_find_context(context, &found)) return CUPTI_ERROR_INVALID_CONTEXT;
  *device = static_cast<std::uint32_t>(found.device);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetContextId(CUcontext context, std::uint32_t* id) {
  if (id == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  memtrace_card_context found;
  if (!memtrace_card_find_context(context, &found)) return CUPTI_ERROR_INVALID_CONTEXT;
  *id = found.number;
  return CUPTI_SUCCESS;
}

// Returns the driver's number; the default stream of every context is 0.
CUptiResult cuptiGetStreamIdEx(CUcontext context, CUstream stream, std::uint8_t,
                               std::uint32_t* id) {
  if (id == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  if (context != nullptr && cuCtxPushCurrent(context) != CUDA_SUCCESS)
    return CUPTI_ERROR_INVALID_CONTEXT;
  unsigned long long number = 0;
  const CUresult result = cuStreamGetId(stream, &number);
  if (context != nullptr) cuCtxPopCurrent(&context);
  if (result != CUDA_SUCCESS) return CUPTI_ERROR_INVALID_STREAM;
  *id = static_cast<std::uint32_t>(number);
  return CUPTI_SUCCESS;
}
