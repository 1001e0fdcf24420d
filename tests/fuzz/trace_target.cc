// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <sstream>
#include <string>
#include <utility>

#include "base/check.h"
#include "nlohmann/json.hpp"
#include "profiler/trace/coding/format.h"
#include "profiler/trace/reading/summary_reader.h"
#include "profiler/trace/reading/trace_front.h"
#include "profiler/trace/reading/trace_reader.h"
#include "profiler/trace/text/text_trace.h"
#include "tests/fuzz/checked_text.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/repair_check.h"
#include "tests/fuzz/targets.h"
#include "tools/analysis/explanation.h"
#include "tools/analysis/replayed/timeline.h"
#include "tools/analysis/source/event_source.h"
#include "tools/analysis/source/run_facts.h"
#include "tools/fleet/fleet_row.h"
#include "tools/interchange/writers/export_format.h"
#include "tools/report/json_report.h"
#include "tools/report/stats_report.h"
#include "tools/report/text_report.h"

namespace memtrace::fuzz {
namespace {

class Source : public analysis::EventSource {
 public:
  explicit Source(const trace::TraceReader& reader) : reader_(reader) {}
  void ForEach(const std::function<void(const trace::Event&)>& visit) const override {
    reader_.ForEach(visit);
  }
  std::string_view String(trace::StringId id) const override { return reader_.String(id); }
  std::vector<trace::Frame> Stack(trace::StackId id) const override { return reader_.Stack(id); }

 private:
  const trace::TraceReader& reader_;
};

void CheckJson(const std::string& text) { MEMTRACE_CHECK(nlohmann::json::accept(text)); }

void ReportEverything(const trace::TraceReader& reader) {
  const Source source(reader);
  const analysis::Explanation explanation = *analysis::Explain(source);
  const analysis::RunFacts run = analysis::ReadRunFacts(
      "run.trace", reader.info(), explanation.run.annotations, reader.completeness());
  CheckText(report::TextReport(explanation, run, true));
  CheckText(report::TextStats(explanation, run));
  CheckJson(report::JsonReport(explanation, run));
  analysis::Timeline timeline(source, 0);
  source.ForEach([&timeline](const trace::Event& event) { timeline.Apply(event); });
  CheckJson(report::JsonStats(timeline, run));
  if (timeline.counts().out_of_memory > 0)
    CheckText(
        report::TextReport(*Explain(source, {analysis::MomentSpec::Kind::kFailure, 1}), run, true));
  static_cast<void>(trace::TraceToText(reader));
}

// Exports to every format that needs no library; JSON must parse.
void ExportEverything(const trace::TraceReader& reader) {
  const Source source(reader);
  const interchange::Survey survey(source);
  const analysis::RunFacts facts = analysis::ReadRunFacts(
      "run.trace", reader.info(), survey.timeline().annotations(), reader.completeness());
  const interchange::ExportedRun run{source, survey, facts};
  for (const interchange::ExportFormat& format : interchange::ExportFormats()) {
    if (format.stream == nullptr) continue;
    interchange::TextSink sink;
    format.stream(run, sink);
    if (format.name == "chrome" || format.name == "speedscope") CheckJson(sink.text());
    if (format.name == "jsonl") {
      std::istringstream lines(sink.text());
      for (std::string line; std::getline(lines, line);) CheckJson(line);
    }
  }
}

std::string FileOf(std::string_view records, uint64_t keep_bytes) {
  trace::FileHeader header;
  header.keep_bytes = keep_bytes;
  header.newest_sequence = keep_bytes == 0 ? 0 : 1;
  trace::BlockHeader block;
  block.first_sequence = 1;
  block.committed = static_cast<uint32_t>(records.size());
  block.capacity = static_cast<uint32_t>(sizeof(block) + records.size());
  std::string bytes(trace::kPageBytes, '\0');
  std::memcpy(bytes.data(), &header, sizeof(header));
  bytes.append(reinterpret_cast<const char*>(&block), sizeof(block));
  bytes.append(records);
  return bytes;
}

}  // namespace

void TraceFile(std::string_view bytes) {
  const MemoryFile file(bytes);
  const auto summary = trace::ReadSummary(file.path());
  if (summary.ok()) RunSummaryText(*summary);
  CheckJson(fleet::RowOf(file.path(), trace::ReadTraceFront(file.path())).json);
  const auto reader = trace::TraceReader::Open(file.path());
  if (reader.ok()) {
    ReportEverything(*reader);
    ExportEverything(*reader);
    VerifyAndRepair(*reader);
  } else {
    MEMTRACE_CHECK(!reader.status().message().empty());
  }
}

// Reads the records once as all of a trace, and once as the rest of one that keeps its last part.
// The block is left open (no checksum), as by a process that was killed.
void TraceRecords(std::string_view records) {
  TraceFile(FileOf(records, 0));
  TraceFile(FileOf(records, trace::kLeastKeptBytes));
}

}  // namespace memtrace::fuzz
