// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/stacks/python_exception.h"

#include <unistd.h>

#include <memory>

#include "interpose/core/stacks/python_symbol.h"

namespace memtrace {
namespace {

int RaiseNow(void* exception) {
  const std::unique_ptr<PythonException> owned(static_cast<PythonException*>(exception));
  owned->Raise();
  return -1;
}

// Only the main thread runs pending calls. Returns false on another thread, or if there is no room
// for one.
bool RaiseInPendingCall(const PythonException& exception) {
  static auto* const kAddCall = PythonSymbol<int(int (*)(void*), void*)>("Py_AddPendingCall");
  if (gettid() != getpid()) return false;
  auto* const copy = new PythonException(exception);
  if (kAddCall(&RaiseNow, copy) == 0) return true;
  delete copy;
  return false;
}

}  // namespace

PythonException PythonException::Take() {
  static auto* const kTake = PythonSymbol<void(void**, void**, void**)>("PyErr_Fetch");
  PythonException taken;
  kTake(&taken.kind_, &taken.value_, &taken.trace_);
  return taken;
}

void PythonException::Raise() const {
  static auto* const kRaise = PythonSymbol<void(void*, void*, void*)>("PyErr_Restore");
  kRaise(kind_, value_, trace_);
}

void PythonException::RaiseSoon() const {
  if (RaiseInPendingCall(*this)) return;
  static auto* const kThread = PythonSymbol<unsigned long()>("PyThread_get_thread_ident");
  static auto* const kSetAsync =
      PythonSymbol<int(unsigned long, void*)>("PyThreadState_SetAsyncExc");
  static auto* const kClear = PythonSymbol<void()>("PyErr_Clear");
  kSetAsync(kThread(), kind_);
  Raise();
  kClear();
}

}  // namespace memtrace
