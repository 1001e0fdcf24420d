// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_STACKS_PYTHON_EXCEPTION_H_
#define MEMTRACE_INTERPOSE_CORE_STACKS_PYTHON_EXCEPTION_H_

namespace memtrace {

// The exception that the interpreter is about to raise on this thread, taken from it; perhaps none.
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

  // Gives it back to the interpreter. Call this or RaiseSoon, once.
  void Raise() const;

  // Has this thread raise it between two of the next instructions of Python's that it runs, as the
  // interpreter does with what a signal handler raises. On a thread that is not the main one, only
  // its class arrives, which is all that such an exception from outside has.
  void RaiseSoon() const;

 private:
  void* kind_ = nullptr;
  void* value_ = nullptr;
  void* trace_ = nullptr;
};

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_STACKS_PYTHON_EXCEPTION_H_
