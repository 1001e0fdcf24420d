// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_TRACE_WRITING_FRONT_PAGES_H_
#define MEMTRACE_PROFILER_TRACE_WRITING_FRONT_PAGES_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/base/attributes.h"
#include "profiler/trace/coding/format.h"
#include "profiler/trace/writing/trace_descriptor.h"

namespace memtrace::trace {

// What other processes read, and write, in a trace while it grows: its first page, which says what
// was lost, what is newest and which marks are wanted, and the two blocks of summaries. Both are on
// disk from the beginning, so none of this needs disk space.
//
// They are mapped where the file system can share pages; elsewhere system calls write them.
//
// Errors: none; what cannot be written is missing. Thread rule: one thread at a time; other
// processes at any time.
class FrontPages {
 public:
  static constexpr size_t kSummaryText = kSummaryBytes - sizeof(BlockHeader);

  // `file` must outlive this.
  explicit FrontPages(const TraceDescriptor& file ABSL_ATTRIBUTE_LIFETIME_BOUND)
      : file_(file), page_(&header_) {}
  ~FrontPages() { Unmap(); }
  FrontPages(const FrontPages&) = delete;
  FrontPages& operator=(const FrontPages&) = delete;

  // What the first page says in the beginning. REQUIRES: it is not mapped yet.
  FileHeader& header() { return header_; }
  // Maps the pages, which the file has by now. False if the first one cannot be mapped.
  bool Map();
  // Lets go of the pages without changing them. Nothing is written afterwards.
  void Unmap();

  // Puts a summary of this process in the place of the one before the last: a reader finds one that
  // is whole. REQUIRES: text.size() <= kSummaryText. Does nothing without room for summaries.
  void WriteSummary(std::string_view text, uint64_t sequence);
  bool has_summary() const { return file_.is_open() && header_.summary_offset != 0; }

  // Returns how many moments other processes want marked, counted from the beginning of the file. 0
  // where the page is not mapped.
  uint64_t marks_wanted() const {
    return std::atomic_ref(page_->marks_wanted).load(std::memory_order_relaxed);
  }
  void NoteMarksMade(uint64_t count);

  // Notes what could not be written.
  void NoteLoss(uint64_t lost_events, std::string_view reason);
  // Notes the first sequence number of the block of events that is begun next.
  void NoteNewest(uint64_t first_sequence);
  // Marks the file, of `bytes` bytes, as whole; with 0 it stays as it is, open.
  void NoteClosed(uint64_t bytes);

 private:
  void Flush();

  const TraceDescriptor& file_;
  FileHeader header_;             // what the page holds, where it cannot be mapped
  FileHeader* page_;              // the mapped page, or &header_
  uint8_t* summaries_ = nullptr;  // mapped: both of them
  uint64_t next_summary_ = 0;
};

}  // namespace memtrace::trace

#endif  // MEMTRACE_PROFILER_TRACE_WRITING_FRONT_PAGES_H_
