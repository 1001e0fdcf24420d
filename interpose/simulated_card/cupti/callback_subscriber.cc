// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/cupti/callback_subscriber.h"

#include "interpose/simulated_card/cupti/activity_records.h"
#include "interpose/simulated_card/cupti/cupti_names.h"

namespace memtrace::card {
namespace {

// Shared by the callbacks at both ends of the call that this thread is in.
thread_local std::uint64_t correlation_data = 0;

CUpti_CallbackDomain DomainOf(const CallNumber& number) {
  return number.is_runtime ? CUPTI_CB_DOMAIN_RUNTIME_API : CUPTI_CB_DOMAIN_DRIVER_API;
}

// Returns null before the thread has a context.
CUcontext CurrentContext() {
  CUcontext context = nullptr;
  return cuCtxGetCurrent(&context) == CUDA_SUCCESS ? context : nullptr;
}

bool IsDomain(CUpti_CallbackDomain domain) {
  return domain >= CUPTI_CB_DOMAIN_DRIVER_API && domain <= CUPTI_CB_DOMAIN_SYNCHRONIZE;
}

}  // namespace

bool CallbackSubscriber::Exists(CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  switch (domain) {
    case CUPTI_CB_DOMAIN_DRIVER_API:
    case CUPTI_CB_DOMAIN_RUNTIME_API:
      return NameOf(domain == CUPTI_CB_DOMAIN_RUNTIME_API, id) != nullptr;
    case CUPTI_CB_DOMAIN_RESOURCE:
      return id == CUPTI_CBID_RESOURCE_CONTEXT_CREATED ||
             id == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING ||
             id == CUPTI_CBID_RESOURCE_STREAM_CREATED ||
             id == CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING;
    case CUPTI_CB_DOMAIN_SYNCHRONIZE:
      return id == CUPTI_CBID_SYNCHRONIZE_STREAM_SYNCHRONIZED ||
             id == CUPTI_CBID_SYNCHRONIZE_CONTEXT_SYNCHRONIZED;
    default:
      return false;
  }
}

const EnabledIds& CallbackSubscriber::Ids(CUpti_CallbackDomain domain) const {
  if (domain == CUPTI_CB_DOMAIN_DRIVER_API) return driver_;
  if (domain == CUPTI_CB_DOMAIN_RUNTIME_API) return runtime_;
  return domain == CUPTI_CB_DOMAIN_RESOURCE ? resource_ : synchronize_;
}

EnabledIds& CallbackSubscriber::Ids(CUpti_CallbackDomain domain) {
  return const_cast<EnabledIds&>(static_cast<const CallbackSubscriber*>(this)->Ids(domain));
}

CUptiResult CallbackSubscriber::Subscribe(CUpti_CallbackFunc callback, void* argument) {
  if (callback == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  CUpti_CallbackFunc nobody = nullptr;
  if (!callback_.compare_exchange_strong(nobody, callback))
    return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  argument_ = argument;
  return CUPTI_SUCCESS;
}

void CallbackSubscriber::Unsubscribe() {
  for (EnabledIds* ids : {&driver_, &runtime_, &resource_, &synchronize_}) ids->SetAll(false);
  callback_ = nullptr;
}

CUptiResult CallbackSubscriber::Enable(CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                       bool enabled) {
  if (!IsDomain(domain)) return CUPTI_ERROR_INVALID_PARAMETER;
  if (!Exists(domain, id)) return CUPTI_ERROR_NOT_SUPPORTED;
  return Ids(domain).Set(id, enabled) ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult CallbackSubscriber::EnableDomain(CUpti_CallbackDomain domain, bool enabled) {
  if (!IsDomain(domain)) return CUPTI_ERROR_INVALID_PARAMETER;
  Ids(domain).SetAll(enabled);
  return CUPTI_SUCCESS;
}

CUptiResult CallbackSubscriber::State(CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                      std::uint32_t* enabled) const {
  if (!IsDomain(domain) || enabled == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *enabled = Ids(domain).Has(id) ? 1 : 0;
  return CUPTI_SUCCESS;
}

void CallbackSubscriber::Call(CUpti_CallbackDomain domain, CUpti_CallbackId id,
                              const void* data) const {
  const CUpti_CallbackFunc callback = callback_;
  if (callback != nullptr) callback(argument_, domain, id, data);
}

void CallbackSubscriber::CallAt(CUpti_ApiCallbackSite site, const memtrace_card_call& call) {
  const CallNumber number = NumberOf(call.name);
  const CUpti_CallbackDomain domain = DomainOf(number);
  if (number.number == 0 || !Ids(domain).Has(number.number)) return;
  CUpti_CallbackData data = {};
  int result = call.result;
  data.callbackSite = site;
  data.functionName = NameOf(number.is_runtime, number.number);
  data.functionReturnValue = site == CUPTI_API_EXIT ? &result : nullptr;
  data.context = CurrentContext();
  memtrace_card_context context = {};
  if (memtrace_card_find_context(data.context, &context)) data.contextUid = context.number;
  data.correlationData = &correlation_data;
  data.correlationId = call.correlation;
  Call(domain, number.number, &data);
}

void CallbackSubscriber::Enter(const memtrace_card_call& call) {
  correlation_data = 0;
  CallAt(CUPTI_API_ENTER, call);
}

void CallbackSubscriber::Leave(const memtrace_card_call& call) { CallAt(CUPTI_API_EXIT, call); }

void CallbackSubscriber::CallForResource(CUpti_CallbackId id, const memtrace_card_event& event) {
  if (!resource_.Has(id)) return;
  CUpti_ResourceData data = {};
  data.context = CurrentContext();
  data.resourceHandle.stream = static_cast<CUstream>(const_cast<void*>(event.object));
  if (id == CUPTI_CBID_RESOURCE_CONTEXT_CREATED ||
      id == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING)
    data.context = static_cast<CUcontext>(const_cast<void*>(event.object));
  Call(CUPTI_CB_DOMAIN_RESOURCE, id, &data);
}

void CallbackSubscriber::CallForWait(CUpti_CallbackId id) {
  if (!synchronize_.Has(id)) return;
  CUpti_SynchronizeData data = {};
  data.context = CurrentContext();
  Call(CUPTI_CB_DOMAIN_SYNCHRONIZE, id, &data);
}

void CallbackSubscriber::HandleEvent(const memtrace_card_event& event) {
  switch (event.kind) {
    case MEMTRACE_CARD_CONTEXT_MADE:
      return CallForResource(CUPTI_CBID_RESOURCE_CONTEXT_CREATED, event);
    case MEMTRACE_CARD_CONTEXT_ENDS:
      return CallForResource(CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING, event);
    case MEMTRACE_CARD_STREAM_MADE:
      return CallForResource(CUPTI_CBID_RESOURCE_STREAM_CREATED, event);
    case MEMTRACE_CARD_STREAM_ENDS:
      return CallForResource(CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING, event);
    case MEMTRACE_CARD_STREAM_WAITED:
      return CallForWait(CUPTI_CBID_SYNCHRONIZE_STREAM_SYNCHRONIZED);
    case MEMTRACE_CARD_DEVICE_WAITED:
      return CallForWait(CUPTI_CBID_SYNCHRONIZE_CONTEXT_SYNCHRONIZED);
    default:
      return;
  }
}

}  // namespace memtrace::card
