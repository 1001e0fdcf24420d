// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// CUPTI's activity API: rules are those of cupti_activity.h unless docs/design/simulated-card.md
// says otherwise.
#include "interpose/simulated_card/cupti/cupti_process.h"
#include "interpose/simulated_card/cupti/external_correlation.h"
#include "interpose/simulated_card/interface/library_calls.h"

using namespace memtrace::card;  // NOLINT: this file defines C functions over that namespace

namespace memtrace::card {
namespace {

ActivitySession& Session() { return CuptiProcess::OfProcess().activity; }

// Runs change(session), then listens to the card as the session now needs.
template <typename Change>
CUptiResult Changed(Change change) {
  if (!HasCard()) return CUPTI_ERROR_UNKNOWN;
  CuptiProcess& process = CuptiProcess::OfProcess();
  const CUptiResult result = change(process.activity);
  process.ListenIfWanted();
  return result;
}

// Sizes of buffers on the card are refused, because there are none. The other attributes are flags.
std::size_t SizeOfAttribute(CUpti_ActivityAttribute attribute) {
  switch (attribute) {
    case CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER:
    case CUPTI_ACTIVITY_ATTR_MEM_ALLOCATION_TYPE_HOST_PINNED:
    case CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER:
      return sizeof(std::uint8_t);
    default:
      return sizeof(std::size_t);
  }
}

}  // namespace
}  // namespace memtrace::card

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                           CUpti_BuffersCallbackCompleteFunc complete) {
  if (request == nullptr || complete == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  Session().buffers().Register(request, complete);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  const CUptiResult result =
      Changed([&](ActivitySession& session) { return session.Enable(kind, true); });
  if (result == CUPTI_ERROR_NOT_COMPATIBLE)
    memtrace_card_count_unsupported("cuptiActivityEnable of a kind that the card does not have");
  return result;
}

CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  return Changed([&](ActivitySession& session) { return session.Enable(kind, false); });
}

CUptiResult cuptiActivityEnableRuntimeApi(CUpti_CallbackId id, std::uint8_t enable) {
  return Changed(
      [&](ActivitySession& session) { return session.EnableCall(true, id, enable != 0); });
}

CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId id, std::uint8_t enable) {
  return Changed(
      [&](ActivitySession& session) { return session.EnableCall(false, id, enable != 0); });
}

CUptiResult cuptiActivityEnableCudaEventDeviceTimestamps(std::uint8_t enable) {
  return Changed([&](ActivitySession& session) {
    session.EnableEventTimestamps(enable != 0);
    return CUPTI_SUCCESS;
  });
}

// The two kinds of flush are one, because all work is complete when it is flushed.
CUptiResult cuptiActivityFlushAll(std::uint32_t) {
  if (!HasCard()) return CUPTI_ERROR_UNKNOWN;
  if (!Session().buffers().AreRegistered()) return CUPTI_ERROR_INVALID_OPERATION;
  Session().Flush();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid,
                                       CUpti_Activity** record) {
  if (buffer == nullptr || record == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  auto* next = buffer;
  if (*record != nullptr) {
    const std::size_t bytes = SizeOf((*record)->kind);
    if (bytes == 0) return CUPTI_ERROR_INVALID_KIND;
    next = reinterpret_cast<std::uint8_t*>(*record) + bytes;
  }
  if (next >= buffer + valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  auto* found = reinterpret_cast<CUpti_Activity*>(next);
  if (SizeOf(found->kind) == 0) return CUPTI_ERROR_INVALID_KIND;
  *record = found;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, std::uint32_t, std::size_t* dropped) {
  if (dropped == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *dropped = Session().buffers().TakeDropped();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind kind,
                                                   std::uint64_t id) {
  return ExternalCorrelation::OfThread().Push(kind, id);
}

CUptiResult cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind kind,
                                                  std::uint64_t* last) {
  return ExternalCorrelation::OfThread().Pop(kind, last);
}

CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc source) {
  if (source == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  Session().clock().Use(source);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivitySetAttribute(CUpti_ActivityAttribute attribute, std::size_t* size,
                                      void* value) {
  if (size == nullptr || value == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  if (attribute < CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE || attribute > kLastActivityAttribute)
    return CUPTI_ERROR_INVALID_PARAMETER;
  if (*size < SizeOfAttribute(attribute)) return CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT;
  const bool per_thread = attribute == CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER;
  return per_thread && *static_cast<std::uint8_t*>(value) != 0 ? CUPTI_ERROR_NOT_SUPPORTED
                                                               : CUPTI_SUCCESS;
}

CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType type) {
  if (type < CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT || type >= CUPTI_ACTIVITY_THREAD_ID_TYPE_SIZE)
    return CUPTI_ERROR_NOT_SUPPORTED;
  Session().SetThreadIds(type);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetThreadIdType(CUpti_ActivityThreadIdType* type) {
  if (type == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *type = Session().ThreadIds();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetTimestamp(std::uint64_t* timestamp) {
  if (timestamp == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *timestamp = Session().clock().Now().timestamp;
  return CUPTI_SUCCESS;
}

// Records that were not flushed are lost, as cupti_activity.h says.
CUptiResult cuptiFinalize() {
  if (!HasCard()) return CUPTI_ERROR_UNKNOWN;
  CuptiProcess& process = CuptiProcess::OfProcess();
  process.activity.DisableAll();
  process.subscriber.Unsubscribe();
  process.ListenIfWanted();
  return CUPTI_SUCCESS;
}
