// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Calls that Python makes hundreds of times in a training step, as functions of its stable ABI
// (METH_O, METH_NOARGS; memtrace/_core/builtin_functions.py makes objects of them): by ctypes each
// costs some 250 ns more. Others are here because a function of Python's may not be: where it
// begins, the interpreter runs the program's signal handlers, and what these raise is lost in the
// callback of a weak reference and in a function that ctypes made of Python's.
#include "interpose/core/memtrace.h"
#include "interpose/core/stacks/python_exception.h"
#include "interpose/core/stacks/python_symbol.h"

namespace memtrace {
namespace {

void* Bool(bool value) {
  static auto* const kBool = PythonSymbol<void*(long)>("PyBool_FromLong");
  return kBool(value ? 1 : 0);
}

void* None() {
  static auto* const kBuild = PythonSymbol<void*(const char*, ...)>("Py_BuildValue");
  return kBuild("");
}

void* ItemOfTuple(void* tuple, long index) {
  static auto* const kItem = PythonSymbol<void*(void*, long)>("PyTuple_GetItem");
  return kItem(tuple, index);
}

// Removes `key` from the dict if it is there.
void Remove(void* dict, void* key) {
  static auto* const kContains = PythonSymbol<int(void*, void*)>("PyDict_Contains");
  static auto* const kDelete = PythonSymbol<int(void*, void*)>("PyDict_DelItem");
  if (kContains(dict, key) == 1) kDelete(dict, key);
}

// Calls a Python object without arguments. An exception that it raises is raised in the program
// soon after, because the caller is C and could not let it through.
void CallObject(void* object) {
  static auto* const kEnsure = PythonSymbol<int()>("PyGILState_Ensure");
  static auto* const kRelease = PythonSymbol<void(int)>("PyGILState_Release");
  static auto* const kCall = PythonSymbol<void*(void*, void*)>("PyObject_CallObject");
  static auto* const kDrop = PythonSymbol<void(void*)>("Py_DecRef");
  const int state = kEnsure();
  const PythonException on_its_way = PythonException::Take();
  if (void* result = kCall(object, nullptr); result != nullptr) {
    kDrop(result);
  } else {
    PythonException::Take().RaiseSoon();
  }
  on_its_way.Raise();
  kRelease(state);
}

}  // namespace
}  // namespace memtrace

void* memtrace_python_enter_module(void* /*self*/, void* number) {
  static auto* const kNumber =
      memtrace::PythonSymbol<unsigned long(void*)>("PyLong_AsUnsignedLongMask");
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

void* memtrace_python_forget(void* /*self*/, void* arguments) {
  static auto* const kEntry =
      memtrace::PythonSymbol<void*(void*, void*)>("PyDict_GetItemWithError");
  void* const entries = memtrace::ItemOfTuple(arguments, 0);
  void* const key = memtrace::ItemOfTuple(arguments, 1);
  void* const entry = kEntry(entries, key);
  if (entry != nullptr && memtrace::ItemOfTuple(entry, 0) == memtrace::ItemOfTuple(arguments, 3)) {
    memtrace::Remove(memtrace::ItemOfTuple(arguments, 2), key);
    memtrace::Remove(entries, key);
  }
  return memtrace::None();
}

void* memtrace_python_call_before_out_of_memory(void* /*self*/, void* object) {
  static auto* const kKeep = memtrace::PythonSymbol<void(void*)>("Py_IncRef");
  kKeep(object);  // forever: the last request may come after the interpreter has ended
  memtrace_set_before_out_of_memory(&memtrace::CallObject, object);
  return memtrace::None();
}

void* memtrace_python_call_before_spill(void* /*self*/, void* object) {
  static auto* const kKeep = memtrace::PythonSymbol<void(void*)>("Py_IncRef");
  kKeep(object);  // likewise
  memtrace_set_before_spill(&memtrace::CallObject, object);
  return memtrace::None();
}

void* memtrace_python_call_to_collect(void* /*self*/, void* object) {
  static auto* const kKeep = memtrace::PythonSymbol<void(void*)>("Py_IncRef");
  kKeep(object);  // likewise
  memtrace_set_collector(&memtrace::CallObject, object);
  return memtrace::None();
}
