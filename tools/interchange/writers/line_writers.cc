// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/interchange/writers/line_writers.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <variant>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/units.h"
#include "nlohmann/json.hpp"
#include "tools/analysis/source/frames.h"
#include "tools/interchange/writers/rows/event_detail.h"
#include "tools/interchange/writers/rows/event_row.h"
#include "tools/interchange/writers/rows/run_json.h"

namespace memtrace::interchange {
namespace {

// Interned texts in the form of the format, each worked out once.
template <typename Id>
class Rendered {
 public:
  template <typename Render>
  std::string_view Of(Id id, const Render& render) {
    const auto [entry, is_new] = texts_.try_emplace(id);
    if (is_new) entry->second = render(id);
    return entry->second;
  }

 private:
  absl::flat_hash_map<Id, std::string> texts_;
};

// True if a spreadsheet would take the text for a formula. The last four are the wide forms of the
// first four. An apostrophe is here so that the one that CsvText adds can be told from the text's.
bool BeginsLikeFormula(std::string_view text) {
  constexpr std::array<std::string_view, 12> kBeginnings = {
      "=", "+", "-", "@", "\t", "\r", "\n", "'", "\uff1d", "\uff0b", "\uff0d", "\uff20"};
  return std::any_of(kBeginnings.begin(), kBeginnings.end(),
                     [text](std::string_view beginning) { return text.starts_with(beginning); });
}

// Returns the text as a cell, quoted only if it must be. An apostrophe makes text of a cell that
// would be a formula.
std::string CsvText(std::string_view text) {
  std::string cell = BeginsLikeFormula(text) ? "'" : "";
  cell += text;
  if (cell.find_first_of(",\"\r\n") == std::string::npos) return cell;
  return absl::StrCat("\"", absl::StrReplaceAll(cell, {{"\"", "\"\""}}), "\"");
}

std::string JsonText(std::string_view text) { return CompactJson(text); }

std::string Hexadecimal(uint64_t address) { return DeviceAddress{address}.ToString(); }

class CsvLines {
 public:
  CsvLines(const ExportedRun& run, ByteSink& sink) : run_(run), sink_(sink) {}

  void WriteNames() {
    for (const auto& column : kEventColumns)
      line_ += (line_.empty() ? "" : ",") + std::string(column.name);
    Finish("site");
  }

  void Write(const EventRow& row) {
    for (const auto& column : kEventColumns) {
      if (!line_.empty()) line_ += ',';
      std::visit([this](const auto& cell) { this->Append(cell); }, column.cell(row));
    }
    const auto* stack = std::get_if<StackRef>(&row.stack);
    Finish(stack == nullptr ? "" : Site(stack->id));
  }

 private:
  void Append(std::monostate) {}
  void Append(int64_t number) { absl::StrAppend(&line_, number); }
  void Append(uint64_t number) { absl::StrAppend(&line_, number); }
  void Append(Address address) { line_ += Hexadecimal(address.value); }
  void Append(StackRef stack) { absl::StrAppend(&line_, stack.id); }
  void Append(std::string_view text) { line_ += CsvText(text); }
  void Append(Name name) {
    line_ +=
        names_.Of(name.id, [this](trace::StringId id) { return CsvText(run_.events.String(id)); });
  }

  std::string_view Site(trace::StackId id) {
    return sites_.Of(id, [this](trace::StackId stack_id) {
      const std::vector<trace::Frame> stack = run_.events.Stack(stack_id);
      if (stack.empty()) return std::string();
      const trace::Frame* frame = analysis::InnermostUserFrame(stack);
      return CsvText(
          analysis::ShortFrame(frame != nullptr ? *frame : analysis::MostInformativeFrame(stack)));
    });
  }

  void Finish(std::string_view last) {
    line_ += ',';
    line_ += last;
    line_ += '\n';
    sink_.Write(line_);
    line_.clear();
  }

  const ExportedRun& run_;
  ByteSink& sink_;
  std::string line_;
  Rendered<trace::StringId> names_;
  Rendered<trace::StackId> sites_;
};

class JsonLines {
 public:
  JsonLines(const ExportedRun& run, ByteSink& sink) : run_(run), sink_(sink) {}

  void Write(const EventRow& row) {
    if (const auto* stack = std::get_if<StackRef>(&row.stack)) Define(stack->id);
    line_ = "{";
    for (const auto& column : kEventColumns) {
      const Cell cell = column.cell(row);
      if (std::holds_alternative<std::monostate>(cell)) continue;
      if (line_.size() > 1) line_ += ',';
      line_ += '"';
      line_ += column.name;
      line_ += "\":";
      if (column.name == "detail") {
        line_ += row.detail;  // is JSON
      } else {
        std::visit([this](const auto& value) { this->Append(value); }, cell);
      }
    }
    line_ += "}\n";
    sink_.Write(line_);
  }

 private:
  void Append(std::monostate) {}
  void Append(int64_t number) { absl::StrAppend(&line_, number); }
  void Append(uint64_t number) { absl::StrAppend(&line_, number); }
  void Append(Address address) { line_ += "\"" + Hexadecimal(address.value) + "\""; }
  void Append(StackRef stack) { absl::StrAppend(&line_, stack.id); }
  void Append(std::string_view text) {
    line_ += '"';
    line_ += text;
    line_ += '"';
  }  // our own words
  void Append(Name name) {
    line_ +=
        names_.Of(name.id, [this](trace::StringId id) { return JsonText(run_.events.String(id)); });
  }

  void Define(trace::StackId id) {
    if (!defined_.insert(id).second) return;
    nlohmann::ordered_json frames = nlohmann::ordered_json::array();
    for (const trace::Frame& frame : run_.events.Stack(id)) {
      frames.push_back({{"function", frame.function}, {"file", frame.file}, {"line", frame.line}});
    }
    sink_.Write(CompactJson({{"event", "stack"}, {"stack", id}, {"frames", std::move(frames)}}) +
                "\n");
  }

  const ExportedRun& run_;
  ByteSink& sink_;
  std::string line_;
  Rendered<trace::StringId> names_;
  absl::flat_hash_set<trace::StackId> defined_;
};

}  // namespace

void WriteCsv(const ExportedRun& run, ByteSink& sink) {
  CsvLines lines(run, sink);
  lines.WriteNames();
  ForEachRow(run, [&lines](const EventRow& row) { lines.Write(row); });
}

void WriteJsonLines(const ExportedRun& run, ByteSink& sink) {
  nlohmann::ordered_json first = {{"event", "run"}, {"schema", "memtrace.events/1"}};
  first.update(RunJson(run));
  sink.Write(CompactJson(first) + "\n");
  JsonLines lines(run, sink);
  ForEachRow(run, [&lines](const EventRow& row) { lines.Write(row); });
}

}  // namespace memtrace::interchange
