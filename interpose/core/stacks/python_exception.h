// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_STACKS_PYTHON_EXCEPTION_H_
#define MEMTRACE_INTERPOSE_CORE_STACKS_PYTHON_EXCEPTION_H_

namespace memtrace {

// The exception, if any, that the interpreter is about to raise on this thread, taken from it.
//
//   PythonException exception = PythonException::Take();
//   exception.Raise();      // here, or
//   exception.RaiseSoon();  // where the caller cannot: the program gets it a moment later
//
// REQUIRES of every function: the interpreter's lock is held.
class PythonException {
 public:
  static PythonException Take();

  bool is_there() const { return kind_ != nullptr; }

  // Gives the exception back to the interpreter. Call either this or RaiseSoon, once.
  void Raise() const;

  // Has this thread raise the exception between two of its next Python instructions, as the
  // interpreter does for signal handlers. On threads other than the main one, only the exception's
  // class arrives, because Python passes no more to another thread.
  void RaiseSoon() const;

 private:
  void* kind_ = nullptr;
  void* value_ = nullptr;
  void* trace_ = nullptr;
};

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_STACKS_PYTHON_EXCEPTION_H_
