// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command/inputs/bench_inputs.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "base/status_macros.h"
#include "messages/message.h"
#include "tools/bench/minimalloc_csv.h"
#include "tools/bench/recorded_requests.h"
#include "tools/bench/workloads.h"
#include "tools/command/help/suggestion.h"
#include "tools/command/inputs/foreign_file.h"
#include "tools/command/inputs/trace_input.h"
#include "tools/command/program/exit_code.h"
#include "tools/command/program/program.h"
#include "tools/command/program/whole_file.h"
#include "tools/interchange/importers/imported_run.h"
#include "tools/report/words/printable.h"

namespace memtrace::command {
namespace {

using SequencesByCard = std::map<int32_t, bench::RequestSequence>;

absl::Status Unreadable(const std::string& path, const absl::Status& why) {
  return absl::NotFoundError(Message("$0 cannot be read: $1", report::Printable(path),
                                     report::Printable(std::string(why.message()))));
}

absl::StatusOr<SequencesByCard> FromMiniMalloc(const std::string& path, const std::string& bytes) {
  absl::StatusOr<bench::RequestSequence> sequence = bench::ReadMiniMallocCsv(bytes);
  if (!sequence.ok()) return Unreadable(path, sequence.status());
  SequencesByCard cards;
  if (sequence->blocks > 0) cards.emplace(0, *std::move(sequence));
  return cards;
}

absl::StatusOr<SequencesByCard> FromOtherTool(const std::string& path, const std::string& bytes,
                                              const interchange::ImportFormat& format,
                                              int& exit_code) {
  const auto run = format.open(bytes);
  if (!run.ok()) return Unreadable(path, run.status());
  if (!(*run)->fault().empty()) {
    Note(Message("PARTIAL: only the part of $0 before this fault is used: $1",
                 report::Printable(path), report::Printable((*run)->fault())));
    exit_code = kPartial;
  }
  return bench::RequestsByCard(**run);
}

absl::StatusOr<SequencesByCard> ReadCards(const std::string& path, int& exit_code) {
  const std::string beginning = FirstBytes(path);
  const interchange::ImportFormat* format = interchange::RecogniseFormat(beginning);
  const bool is_csv = bench::IsMiniMallocCsv(beginning);
  if (format != nullptr || is_csv) {
    const absl::StatusOr<std::string> bytes = ReadWhole(path);
    if (!bytes.ok()) return absl::NotFoundError(bytes.status().message());
    return is_csv ? FromMiniMalloc(path, *bytes) : FromOtherTool(path, *bytes, *format, exit_code);
  }
  const absl::StatusOr<TraceInput> input = TraceInput::Open(path);
  if (!input.ok()) return absl::NotFoundError(input.status().message());
  exit_code = std::max(exit_code, input->exit_code());
  return bench::RequestsByCard(*input);
}

}  // namespace

absl::StatusOr<std::vector<BenchInput>> ReadBenchFile(const std::string& path, int& exit_code) {
  MEMTRACE_ASSIGN_OR_RETURN(SequencesByCard cards, ReadCards(path, exit_code));
  if (cards.empty()) {
    return absl::InvalidArgumentError(
        Message("$0 has no request for memory of a card, so there is nothing to compare",
                report::Printable(path)));
  }
  const std::string name = path.substr(path.rfind('/') + 1);
  std::vector<BenchInput> inputs;
  for (auto& [device, sequence] : cards)
    inputs.push_back({name, device, cards.size() > 1, std::move(sequence)});
  return inputs;
}

absl::StatusOr<BenchInput> BuiltInWorkload(const std::string& name) {
  if (const bench::Workload* workload = bench::FindWorkload(name))
    return BenchInput{name, 0, false, workload->make()};
  std::vector<std::string> names;
  for (const bench::Workload& each : bench::Workloads()) names.emplace_back(each.name);
  const std::string nearest = NearestOf(name, names);
  const std::string shown = report::Printable(name);
  return absl::InvalidArgumentError(
      nearest.empty()
          ? Message("there is no workload '$0'; memtrace bench --list lists them", shown)
          : Message("there is no workload '$0' (did you mean '$1'?); memtrace bench --list lists "
                    "them",
                    shown, nearest));
}

}  // namespace memtrace::command
