// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/cupti/cupti_process.h"

#include "interpose/simulated_card/interface/card_control.h"

namespace memtrace::card {
namespace {

// True while a client is called. It may call CUDA, and those calls are not reported.
thread_local bool in_client = false;

class ClientScope {
 public:
  ClientScope() { in_client = true; }
  ~ClientScope() { in_client = false; }
  ClientScope(const ClientScope&) = delete;
  ClientScope& operator=(const ClientScope&) = delete;
};

void OnEnter(const memtrace_card_call* call) {
  if (in_client) return;
  const ClientScope scope;
  CuptiProcess& process = CuptiProcess::OfProcess();
  process.subscriber.Enter(*call);
  process.activity.Enter();
}

void OnLeave(const memtrace_card_call* call) {
  if (in_client) return;
  const ClientScope scope;
  CuptiProcess& process = CuptiProcess::OfProcess();
  process.activity.Leave(*call);
  process.subscriber.Leave(*call);
}

void OnEvent(const memtrace_card_event* event) {
  if (in_client) return;
  const ClientScope scope;
  CuptiProcess& process = CuptiProcess::OfProcess();
  process.activity.HandleEvent(*event);
  process.subscriber.HandleEvent(*event);
}

constexpr memtrace_card_listener kListener = {
    .enters = OnEnter, .leaves = OnLeave, .happens = OnEvent};

}  // namespace

CuptiProcess& CuptiProcess::OfProcess() {
  static auto* process = new CuptiProcess;
  return *process;
}

void CuptiProcess::ListenIfWanted() {
  memtrace_card_listen(activity.IsOn() || subscriber.IsOn() ? &kListener : nullptr);
}

bool HasCard() { return memtrace_card_count() > 0; }

}  // namespace memtrace::card
