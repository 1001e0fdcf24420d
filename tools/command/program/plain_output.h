// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_COMMAND_PROGRAM_PLAIN_OUTPUT_H_
#define MEMTRACE_TOOLS_COMMAND_PROGRAM_PLAIN_OUTPUT_H_

#include <ostream>
#include <streambuf>
#include <string>
#include <string_view>

namespace memtrace::command {

// Returns the text with our own bars, rules and marks drawn in ASCII. Other characters stay: they
// are the user's.
std::string InAscii(std::string_view text);

// Draws what is written to a stream in ASCII, as long as it lives. Each text must be written by one
// call.
class PlainOutput : private std::streambuf {
 public:
  explicit PlainOutput(std::ostream& stream);
  ~PlainOutput() override;
  PlainOutput(const PlainOutput&) = delete;
  PlainOutput& operator=(const PlainOutput&) = delete;

 private:
  std::streamsize xsputn(const char* text, std::streamsize size) override;
  int_type overflow(int_type character) override;
  int sync() override;

  std::ostream& stream_;
  std::streambuf& target_;
};

}  // namespace memtrace::command

#endif  // MEMTRACE_TOOLS_COMMAND_PROGRAM_PLAIN_OUTPUT_H_
