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

void* Bool(bool value) {
  static auto* const kBool = OfPython<void*(long)>("PyBool_FromLong");
  return kBool(value ? 1 : 0);
}

}  // namespace
}  // namespace memtrace

void* memtrace_python_enter_module(void* /*self*/, void* number) {
  static auto* const kNumber =
      memtrace::OfPython<unsigned long(void*)>("PyLong_AsUnsignedLongMask");
  const auto number_or_unknown = static_cast<uint32_t>(kNumber(number));
  const bool is_known = number_or_unknown != MEMTRACE_UNKNOWN_MODULE;
  const bool is_inner = memtrace_module_depth() > 0;
  memtrace_push_module(is_known ? number_or_unknown : 0);
  return memtrace::Bool(is_known && is_inner);
}

void* memtrace_python_leave_module(void* /*self*/, void* /*none*/) {
  const bool is_outermost = memtrace_module_depth() == 1;
  memtrace_pop_module();
  return memtrace::Bool(is_outermost);
}
