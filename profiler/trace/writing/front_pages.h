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

// The part of a trace that other processes read, and write, while it grows: its first page, which
// holds the losses, the newest sequence number and the requested marks, and the two blocks of
// summaries. Both are on disk from the beginning, so none of this needs disk space later.
//
// They are mapped if the file system can share pages; otherwise system calls write them.
//
// Errors: none; data that cannot be written is missing. Thread rule: one thread at a time; other
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

  // Returns the initial contents of the first page. REQUIRES: it is not mapped yet.
  FileHeader& header() { return header_; }
  // Maps the pages, which the file must have by now. Returns false if the first one cannot be
  // mapped.
  bool Map();
  // Unmaps the pages without changing them. Nothing is written afterwards.
  void Unmap();

  // Overwrites the older one of the two summaries with one of this process, so that a reader always
  // finds a complete one. REQUIRES: text.size() <= kSummaryText. Does nothing without room for
  // summaries.
  void WriteSummary(std::string_view text, uint64_t sequence);
  bool has_summary() const { return file_.is_open() && header_.summary_offset != 0; }

  // Returns how many marks other processes have requested, counted from the beginning of the file;
  // 0 if the page is not mapped.
  uint64_t marks_wanted() const {
    return std::atomic_ref(page_->marks_wanted).load(std::memory_order_relaxed);
  }
  void NoteMarksMade(uint64_t count);

  // Records how many events were lost, and why.
  void NoteLoss(uint64_t lost_events, std::string_view reason);
  // Records the first sequence number of the next block of events.
  void NoteNewest(uint64_t first_sequence);
  // Marks the file, of `bytes` bytes, as complete; with 0 it stays open.
  void NoteClosed(uint64_t bytes);

 private:
  void Flush();

  const TraceDescriptor& file_;
  FileHeader header_;             // the page's contents if it cannot be mapped
  FileHeader* page_;              // the mapped page, or &header_
  uint8_t* summaries_ = nullptr;  // both summaries, mapped
  uint64_t next_summary_ = 0;
};

}  // namespace memtrace::trace

#endif  // MEMTRACE_PROFILER_TRACE_WRITING_FRONT_PAGES_H_
