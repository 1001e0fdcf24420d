// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_INTERCHANGE_WRITERS_ROWS_BYTE_SINK_H_
#define MEMTRACE_TOOLS_INTERCHANGE_WRITERS_ROWS_BYTE_SINK_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace memtrace::interchange {

// Takes the bytes of an export, from the first to the last. After an error the rest is dropped;
// Close says what the first error was.
class ByteSink {
 public:
  virtual ~ByteSink() = default;

  virtual void Write(std::string_view bytes) = 0;
  virtual absl::Status Close() = 0;  // once, after the last Write
};

// Writes to a file descriptor, through 1 MiB of memory. Does not own it. Errors of Close:
// kResourceExhausted (full disk, quota), kUnavailable (anything else), with the system's words.
class DescriptorSink : public ByteSink {
 public:
  explicit DescriptorSink(int descriptor) : descriptor_(descriptor) {}

  void Write(std::string_view bytes) override;
  absl::Status Close() override;

 private:
  void Flush();

  int descriptor_;
  std::string waiting_;
  int error_ = 0;
};

// Keeps the bytes in memory, for tests and for what is compressed as a whole.
class TextSink : public ByteSink {
 public:
  void Write(std::string_view bytes) override { text_ += bytes; }
  absl::Status Close() override { return absl::OkStatus(); }

  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace memtrace::interchange

#endif  // MEMTRACE_TOOLS_INTERCHANGE_WRITERS_ROWS_BYTE_SINK_H_
