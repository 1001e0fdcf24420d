// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Calls that Python makes hundreds of times in a training step, as functions of its stable ABI
// (METH_O, METH_NOARGS; memtrace/_builtins.py makes objects of them): by ctypes each costs some
// 250 ns more. The few functions of the interpreter that they need are found in the process, so
// that one library serves every Python and programs without one.
#include <dlfcn.h>

#include "interpose/core/memtrace.h"

namespace memtrace {
namespace {

template <typename Symbol>
Symbol* OfPython(const char* name) {
  return reinterpret_cast<Symbol*>(dlsym(RTLD_DEFAULT, name));
}

void* None() {
  static void* const kNone = OfPython<void>("_Py_NoneStruct");
  static auto* const kKeep = OfPython<void(void*)>("Py_IncRef");
  kKeep(kNone);
  return kNone;
}

}  // namespace
}  // namespace memtrace

void* memtrace_python_push_module(void* /*self*/, void* number) {
  static auto* const kNumber =
      memtrace::OfPython<unsigned long(void*)>("PyLong_AsUnsignedLongMask");
  memtrace_push_module(static_cast<uint32_t>(kNumber(number)));
  return memtrace::None();
}

void* memtrace_python_pop_module(void* /*self*/, void* /*none*/) {
  memtrace_pop_module();
  return memtrace::None();
}
