// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/stacks/python_frames.h"

#include <dlfcn.h>

#include <string>

#include "interpose/core/stacks/python_frame_walk.h"

namespace memtrace {
namespace {

template <typename Function>
bool Find(Function*& function, const char* name) {
  function = reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
  return function != nullptr;
}

}  // namespace

// The functions of CPython's API that are used, by their own names; all exported since 3.9 or 3.11.
struct PythonFrames::Functions {
  struct Object;  // PyObject
  struct Thread;  // PyThreadState

  Thread* (*thread_state)();    // PyGILState_GetThisThreadState
  int (*is_initialized)();      // Py_IsInitialized
  int (*ensure)();              // PyGILState_Ensure
  void (*release)(int);         // PyGILState_Release
  Object* (*frame)(Thread*);    // PyThreadState_GetFrame, new reference
  Object* (*back)(Object*);     // PyFrame_GetBack, new reference
  Object* (*code)(Object*);     // PyFrame_GetCode, new reference
  int (*instruction)(Object*);  // PyFrame_GetLasti; before 3.11 PyFrame_GetLineNumber
  int (*line)(Object*, int);    // PyCode_Addr2Line
  Object* (*attribute)(Object*, const char*);        // PyObject_GetAttrString, new reference
  const char* (*utf8)(Object*);                      // PyUnicode_AsUTF8
  void (*clear_error)();                             // PyErr_Clear
  void (*take_error)(Object**, Object**, Object**);  // PyErr_Fetch
  void (*restore_error)(Object*, Object*, Object*);  // PyErr_Restore
  void (*add_reference)(Object*);                    // Py_IncRef
  void (*drop_reference)(Object*);                   // Py_DecRef
  const char* (*version)();                          // Py_GetVersion
  bool instruction_is_line = false;

  bool FindAll() {
    const bool all = Find(thread_state, "PyGILState_GetThisThreadState") &&
                     Find(is_initialized, "Py_IsInitialized") &&
                     Find(ensure, "PyGILState_Ensure") && Find(release, "PyGILState_Release") &&
                     Find(frame, "PyThreadState_GetFrame") && Find(back, "PyFrame_GetBack") &&
                     Find(code, "PyFrame_GetCode") && Find(line, "PyCode_Addr2Line") &&
                     Find(attribute, "PyObject_GetAttrString") && Find(utf8, "PyUnicode_AsUTF8") &&
                     Find(clear_error, "PyErr_Clear") && Find(take_error, "PyErr_Fetch") &&
                     Find(restore_error, "PyErr_Restore") && Find(add_reference, "Py_IncRef") &&
                     Find(drop_reference, "Py_DecRef") && Find(version, "Py_GetVersion");
    if (!all) return false;
    if (Find(instruction, "PyFrame_GetLasti")) return true;
    instruction_is_line = true;
    return Find(instruction, "PyFrame_GetLineNumber");
  }

  // Saves and restores an exception in flight, because memory may be requested during one.
  class PendingError {
   public:
    explicit PendingError(const Functions& python) : python_(python) {
      python_.take_error(&kind_, &value_, &trace_);
    }
    ~PendingError() { python_.restore_error(kind_, value_, trace_); }
    PendingError(const PendingError&) = delete;
    PendingError& operator=(const PendingError&) = delete;

   private:
    const Functions& python_;
    Object* kind_ = nullptr;
    Object* value_ = nullptr;
    Object* trace_ = nullptr;
  };

  std::string Text(Object* code_object, const char* name) const {
    Object* value = attribute(code_object, name);
    const char* text = value != nullptr ? utf8(value) : nullptr;
    std::string copy = text != nullptr ? text : "";
    if (value != nullptr) drop_reference(value);
    if (text == nullptr) clear_error();
    return copy;
  }
};

PythonFrames::PythonFrames() {
  auto functions = std::make_unique<Functions>();
  if (!functions->FindAll()) return;
  python_ = std::move(functions);
  layout_ = FindPythonFrameLayout(python_->version());
  if (layout_ != nullptr) checks_left_ = kChecks;
}

PythonFrames::~PythonFrames() = default;

PythonFrames::Hold::Hold(const PythonFrames& frames) : frames_(frames) {
  const auto& python = frames.python_;
  // PyGILState_Ensure would register a thread that Python does not know, a cost and a side effect
  // without any use.
  if (python == nullptr || python->is_initialized() == 0 || python->thread_state() == nullptr)
    return;
  state_ = python->ensure();
  held_ = true;
}

PythonFrames::Hold::~Hold() {
  if (held_) frames_.python_->release(state_);
}

// When the interpreter ends, is_initialized() becomes 0 before any thread's state is freed.
size_t PythonFrames::Collect(std::span<recorder::RawFrame> frames) {
  if (walks_without_lock()) {
    const void* state = python_->is_initialized() != 0 ? python_->thread_state() : nullptr;
    return state == nullptr ? 0 : WalkFrames(*layout_, state, frames);
  }
  const Hold hold(*this);
  if (!hold.held()) return 0;
  const size_t count = CollectLocked(frames);
  if (checks_left_.load(std::memory_order_relaxed) > 0) Check(frames.first(count));
  return count;
}

// Called with the interpreter's lock held, so on one thread at a time.
void PythonFrames::Check(std::span<const recorder::RawFrame> expected) {
  const bool agrees = WalkMatches(*layout_, python_->thread_state(), expected, kMostFrames);
  checks_left_ = agrees ? checks_left_ - 1 : kNeverAgain;
}

size_t PythonFrames::CollectLocked(std::span<recorder::RawFrame> frames) const {
  const Functions& python = *python_;
  size_t count = 0;
  Functions::Object* frame = python.frame(python.thread_state());
  while (frame != nullptr && count < frames.size()) {
    Functions::Object* code = python.code(frame);
    frames[count++] = recorder::RawFrame{code, python.instruction(frame)};
    python.drop_reference(code);  // the frame keeps the code object alive
    Functions::Object* back = python.back(frame);
    python.drop_reference(frame);
    frame = back;
  }
  if (frame != nullptr) python.drop_reference(frame);
  return count;
}

trace::Frame PythonFrames::Symbolize(const recorder::RawFrame& frame) {
  const Hold hold(*this);
  if (!hold.held()) return {};  // the interpreter ends
  const Functions& python = *python_;
  const Functions::PendingError pending(python);
  auto* code = static_cast<Functions::Object*>(const_cast<void*>(frame.code));
  python.add_reference(code);
  trace::Frame symbolized;
  symbolized.file = python.Text(code, "co_filename");
  symbolized.function = python.Text(code, "co_qualname");  // 3.11
  if (symbolized.function.empty()) symbolized.function = python.Text(code, "co_name");
  const int line =
      python.instruction_is_line ? frame.instruction : python.line(code, frame.instruction);
  symbolized.line = line > 0 ? static_cast<uint32_t>(line) : 0;
  return symbolized;
}

}  // namespace memtrace
