// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_CUPTI_CUPTI_PROCESS_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_CUPTI_CUPTI_PROCESS_H_

#include "interpose/simulated_card/cupti/activity_session.h"
#include "interpose/simulated_card/cupti/callback_subscriber.h"

namespace memtrace::card {

// The clients of CUPTI in this process. It listens to the card only while a client has enabled
// something, so that a program that is not profiled pays nothing.
struct CuptiProcess {
  ActivitySession activity;
  CallbackSubscriber subscriber;

  // Never destroyed, because other libraries call us after our own destructors.
  static CuptiProcess& OfProcess();

  // Must be called after each change of what they have enabled.
  void ListenIfWanted();
};

// False without a card, when calls return what the real library returns without a driver (999).
bool HasCard();

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_CUPTI_CUPTI_PROCESS_H_
