// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command/inputs/trace_input.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "base/status_macros.h"
#include "tools/command/inputs/foreign_file.h"
#include "tools/command/inputs/sibling_traces.h"
#include "tools/command/program/exit_code.h"
#include "tools/command/program/whole_file.h"
#include "tools/interchange/torch_snapshot.h"

namespace memtrace::command {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kRecordOne = "; memtrace run -o NAME -- COMMAND records a new one";

std::string RefusalWithoutTraces(const std::string& folder) {
  std::error_code ignored;
  const std::string trace = (fs::path(folder) / "run.trace").string();
  const std::string command = "memtrace run -o " + trace + " -- COMMAND";
  if (fs::is_empty(folder, ignored))
    return folder + " is a folder, and there is no trace in it: it is empty; " + command +
           " records one";
  return folder +
         " is a folder, and there is no trace in it, only other files; name the folder in which "
         "the job ran, or record a trace: " +
         command;
}

// Names at most eight traces, so that the sentence stays readable.
std::string FolderRefusal(const std::string& folder) {
  constexpr size_t kNamed = 8;
  const std::vector<std::string> traces = TracesIn(folder);
  if (traces.empty()) return RefusalWithoutTraces(folder);
  std::string names;
  for (size_t i = 0; i < traces.size() && i < kNamed; ++i)
    names += (i == 0 ? "" : ", ") + traces[i];
  if (traces.size() > kNamed) names += " or " + std::to_string(traces.size() - kNamed) + " more";
  return folder +
         " is a folder; memtrace report reads all of it, other commands read one trace in it: " +
         names;
}

absl::Status RefusalOf(const std::string& path) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) {
    return absl::NotFoundError("there is no file " + path + "; memtrace run -o " + path +
                               " -- COMMAND makes one");
  }
  if (fs::is_directory(path, ignored)) {
    return absl::UnimplementedError(FolderRefusal(path));
  }
  const std::string bytes = FirstBytes(path);
  if (const auto kind = RecogniseFileKind(bytes); kind && !bytes.empty()) {
    const std::string advice = AdviceOn(bytes);
    return absl::InvalidArgumentError(path + " is not a memtrace trace; it looks like " + *kind +
                                      (advice.empty() ? std::string(kRecordOne) : advice));
  }
  return absl::OkStatus();
}

std::string Advice(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kPermissionDenied:
      return "; ask its owner, or run as that user";
    case absl::StatusCode::kFailedPrecondition:
      return "; read it with the memtrace that wrote it, or a newer one";
    default:
      return std::string(kRecordOne);
  }
}

class TraceFile : public analysis::EventSource {
 public:
  explicit TraceFile(trace::TraceReader reader) : reader_(std::move(reader)) {}

  void ForEach(const std::function<void(const trace::Event&)>& visit) const override {
    reader_.ForEach(visit);
  }
  std::string_view String(trace::StringId id) const override { return reader_.String(id); }
  std::vector<trace::Frame> Stack(trace::StackId id) const override { return reader_.Stack(id); }

 private:
  trace::TraceReader reader_;
};

// A snapshot and the bytes that it is read from.
class SnapshotFile : public analysis::EventSource {
 public:
  explicit SnapshotFile(std::string bytes) : bytes_(std::move(bytes)) {}

  absl::Status Read() {
    MEMTRACE_ASSIGN_OR_RETURN(auto snapshot, interchange::TorchSnapshot::Read(bytes_));
    snapshot_.emplace(std::move(snapshot));
    return absl::OkStatus();
  }
  // All methods below require that Read() succeeded.
  void ForEach(const std::function<void(const trace::Event&)>& visit) const override {
    snapshot_->ForEach(visit);
  }
  std::string_view String(trace::StringId id) const override { return snapshot_->String(id); }
  std::vector<trace::Frame> Stack(trace::StackId id) const override { return snapshot_->Stack(id); }
  analysis::Evidence best_evidence() const override { return snapshot_->best_evidence(); }
  const std::map<std::string, std::string>& info() const { return snapshot_->info(); }
  trace::Completeness completeness() const {
    trace::Completeness completeness{.closed = true};
    completeness.end_missing = snapshot_->cut().is_cut;
    if (!completeness.end_missing) return completeness;
    completeness.first_bad_offset = snapshot_->cut().kept_bytes;
    completeness.truncated_bytes = bytes_.size() - completeness.first_bad_offset;
    completeness.unread_bytes = completeness.truncated_bytes;
    return completeness;
  }

 private:
  std::string bytes_;
  std::optional<interchange::TorchSnapshot> snapshot_;
};

}  // namespace

// True if the file is a pickle: protocols 2 to 5 begin with \x80 and their number.
bool IsPickle(const std::string& path) {
  const std::string bytes = FirstBytes(path);
  return bytes.size() >= 2 && bytes[0] == '\x80' && bytes[1] >= 2 && bytes[1] <= 5;
}

absl::StatusOr<trace::TraceReader> OpenTrace(const std::string& path) {
  absl::StatusOr<trace::TraceReader> reader = trace::TraceReader::Open(path);
  if (reader.ok()) return reader;
  MEMTRACE_RETURN_IF_ERROR(RefusalOf(path));
  const absl::Status& status = reader.status();
  std::string sentence(status.message());
  if (sentence.find(path) == std::string::npos) sentence = path + ": " + sentence;
  return absl::Status(status.code(), sentence + Advice(status));
}

absl::StatusOr<TraceInput> TraceInput::OpenSnapshot(const std::string& path) {
  MEMTRACE_ASSIGN_OR_RETURN(std::string bytes, ReadWhole(path));
  auto file = std::make_unique<SnapshotFile>(std::move(bytes));
  if (const absl::Status read = file->Read(); !read.ok()) {
    return absl::Status(read.code(), path + " is a pickle, but not a memory snapshot of torch: " +
                                         std::string(read.message()));
  }
  auto info = file->info();
  const trace::Completeness completeness = file->completeness();
  return TraceInput(path, std::move(file), std::move(info), completeness);
}

absl::StatusOr<TraceInput> TraceInput::Open(const std::string& path) {
  if (IsPickle(path)) return OpenSnapshot(path);
  MEMTRACE_ASSIGN_OR_RETURN(trace::TraceReader reader, OpenTrace(path));
  auto info = reader.info();
  const trace::Completeness completeness = reader.completeness();
  return TraceInput(path, std::make_unique<TraceFile>(std::move(reader)), std::move(info),
                    completeness);
}

analysis::RunFacts TraceInput::Facts(const analysis::Annotations& annotations) const {
  analysis::RunFacts facts = analysis::ReadRunFacts(path_, info_, annotations, completeness_);
  std::error_code ignored;
  facts.folder = fs::current_path(ignored).string();
  facts.siblings = SiblingTraces(path_);
  const uintmax_t bytes = fs::file_size(path_, ignored);
  if (!ignored) facts.file_bytes = bytes;
  return facts;
}

bool TraceInput::is_one_of_ranks() const {
  const auto found = info_.find("environment.WORLD_SIZE");
  return found != info_.end() && found->second != "1" && !found->second.empty();
}

bool TraceInput::is_simulated() const {
  const auto found = info_.find("simulated");
  return found != info_.end() && found->second == "1";
}

// A repaired trace is whole, but lacks what could not be read of its original.
bool TraceInput::is_partial() const { return !completeness_.whole() || info_.contains("repaired"); }

int TraceInput::exit_code() const { return completeness_.whole() ? kDone : kPartial; }

}  // namespace memtrace::command
