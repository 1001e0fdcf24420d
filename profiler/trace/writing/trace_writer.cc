// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/trace/writing/trace_writer.h"

#include <utility>
#include <variant>

#include "base/status_macros.h"

namespace memtrace::trace {

absl::StatusOr<std::unique_ptr<TraceWriter>> TraceWriter::Open(
    const std::string& path, const std::map<std::string, std::string>& info,
    const TraceFileOptions& options) {
  MEMTRACE_ASSIGN_OR_RETURN(auto file, TraceFile::Create(path, info, options));
  return std::unique_ptr<TraceWriter>(new TraceWriter(std::move(file)));
}

std::unique_ptr<TraceWriter> TraceWriter::Stopped(absl::Status why) {
  return std::unique_ptr<TraceWriter>(new TraceWriter(std::move(why)));
}

TraceWriter::TraceWriter(std::unique_ptr<TraceFile> file)
    : path_(file->path()), blocks_(std::move(file)), definitions_(blocks_), checkpoint_(blocks_) {}

TraceWriter::TraceWriter(absl::Status why)
    : blocks_(std::move(why)), definitions_(blocks_), checkpoint_(blocks_) {}

TraceWriter::~TraceWriter() { Close(); }

absl::Status TraceWriter::Write(const Event& event) {
  return std::visit(
      [&](const auto& payload) { return Write(event.sequence, event.time_ns, payload); },
      event.payload);
}

absl::Status TraceWriter::WriteFreed(uint64_t sequence, uint64_t time_ns, int32_t device,
                                     uint64_t address) {
  uint8_t* room = blocks_.EventRoom(kMaxPlainRecord);
  if (room == nullptr) return blocks_.NoteLost(2);
  RecordEncoder record(RecordKind::kFreed, room, blocks_.delta());
  record.Moment(sequence, time_ns);
  record.Place(device, address);
  ++blocks_.delta().sequence;
  blocks_.CommitEvents(record.Finish(), 2, /*at_once=*/false);
  return absl::OkStatus();
}

void TraceWriter::Close() { blocks_.Close(); }

void TraceWriter::AbandonInForkedChild() { blocks_.Abandon(); }

}  // namespace memtrace::trace
