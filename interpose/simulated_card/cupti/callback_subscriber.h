// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_CUPTI_CALLBACK_SUBSCRIBER_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_CUPTI_CALLBACK_SUBSCRIBER_H_

#include <atomic>
#include <cstdint>

#include "interpose/simulated_card/cupti/cupti_header.h"
#include "interpose/simulated_card/cupti/enabled_ids.h"
#include "interpose/simulated_card/interface/card_listener.h"

namespace memtrace::card {

// The only client of the callback API, and the callbacks that it enabled. The resource domain
// reports contexts when made and streams when made and destroyed; the synchronize domain reports
// both of its events. functionParams is null, because the card keeps no copy of a call's arguments.
//
// Safe from any thread; a callback may call anything, including us.
class CallbackSubscriber {
 public:
  CallbackSubscriber() = default;
  CallbackSubscriber(const CallbackSubscriber&) = delete;
  CallbackSubscriber& operator=(const CallbackSubscriber&) = delete;

  // Returns CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED if there is a subscriber already.
  CUptiResult Subscribe(CUpti_CallbackFunc callback, void* argument);
  void Unsubscribe();
  bool IsOn() const { return callback_ != nullptr; }
  // The only valid handle.
  CUpti_SubscriberHandle Handle() { return reinterpret_cast<CUpti_SubscriberHandle>(this); }

  CUptiResult Enable(CUpti_CallbackDomain domain, CUpti_CallbackId id, bool enabled);
  CUptiResult EnableDomain(CUpti_CallbackDomain domain, bool enabled);
  CUptiResult State(CUpti_CallbackDomain domain, CUpti_CallbackId id, std::uint32_t* enabled) const;

  // Called with the card's calls and events (card_listener.h).
  void Enter(const memtrace_card_call& call);
  void Leave(const memtrace_card_call& call);
  void HandleEvent(const memtrace_card_event& event);

 private:
  static bool Exists(CUpti_CallbackDomain domain, CUpti_CallbackId id);
  EnabledIds& Ids(CUpti_CallbackDomain domain);
  const EnabledIds& Ids(CUpti_CallbackDomain domain) const;
  void CallAt(CUpti_ApiCallbackSite site, const memtrace_card_call& call);
  void CallForResource(CUpti_CallbackId id, const memtrace_card_event& event);
  void CallForWait(CUpti_CallbackId id);
  void Call(CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) const;

  std::atomic<CUpti_CallbackFunc> callback_ = nullptr;
  std::atomic<void*> argument_ = nullptr;
  EnabledIds driver_;
  EnabledIds runtime_;
  EnabledIds resource_;
  EnabledIds synchronize_;
};

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_CUPTI_CALLBACK_SUBSCRIBER_H_
