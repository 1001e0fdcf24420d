// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_CUPTI_CUPTI_PROCESS_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_CUPTI_CUPTI_PROCESS_H_

#include "interpose/simulated_card/cupti/activity_session.h"
#include "interpose/simulated_card/cupti/callback_subscriber.h"

namespace memtrace::card {

// The clients of CUPTI in this process. It listens to the card only while one of them wants
// something, so that a program that is not profiled pays nothing.
struct CuptiProcess {
  ActivitySession activity;
  CallbackSubscriber subscriber;

  // Never destroyed: other libraries call us after our own destructors.
  static CuptiProcess& OfProcess();

  // To be called after each change of what they want.
  void ListenIfWanted();
};

// Without a card, as without a driver: what the real library then answers (999).
bool HasCard();

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_CUPTI_CUPTI_PROCESS_H_
