// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/torch/host_values/host_reads.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>

#include "base/mutex.h"
#include "interpose/core/memtrace.h"
#include "profiler/trace/vocabulary/facts.h"

namespace memtrace::shim {
namespace {

constexpr const char* kNames[] = {"unknown", "assumed", "known"};

const char* NameOf(Known known) { return kNames[static_cast<int>(known)]; }

bool IsPowerOfTwo(uint64_t value) { return (value & (value - 1)) == 0; }

// Returns the path without the folder where libraries are installed, as people write it.
std::string Short(const std::string& file) {
  constexpr std::string_view kLibraries = "site-packages/";
  const size_t at = file.rfind(kLibraries);
  return at == std::string::npos ? file : file.substr(at + kLibraries.size());
}

// Returns the innermost line that is not torch's own, which caused the read; null if there is none.
const PythonLine* CauseIn(const std::vector<PythonLine>& stack) {
  const auto found = std::find_if(stack.begin(), stack.end(), [](const PythonLine& line) {
    return line.file.find("/torch/") == std::string::npos;
  });
  return found == stack.end() ? nullptr : &*found;
}

constexpr const char* kNoPython = "a thread without Python";

std::string LineOf(const PythonLine* cause) {
  if (cause == nullptr) return kNoPython;
  return Short(cause->file) + ":" + std::to_string(cause->line);
}

std::string PlaceOf(const PythonLine* cause) {
  return cause == nullptr ? kNoPython : LineOf(cause) + " in " + cause->function;
}

}  // namespace

std::vector<PythonLine> PythonStack() {
  std::array<char, 16384> text;
  memtrace_python_frames(text.data(), text.size());
  std::istringstream stream(text.data());
  std::vector<PythonLine> stack;
  for (std::string line; std::getline(stream, line);) {
    std::istringstream fields(line);
    PythonLine frame;
    std::string number;
    std::getline(fields, frame.file, '\t');
    std::getline(fields, number, '\t');
    std::getline(fields, frame.function);
    frame.line = static_cast<int>(std::strtol(number.c_str(), nullptr, 10));
    stack.push_back(frame);
  }
  return stack;
}

void HostReads::CountKnown() {
  const MutexLock lock(mutex_);
  ++totals_[static_cast<size_t>(Known::kKnown)];
}

void HostReads::Note(const Read& read, const std::vector<PythonLine>& stack) {
  const PythonLine* cause = CauseIn(stack);
  const std::string place = PlaceOf(cause);
  const std::string text = std::string("\t") + NameOf(read.known) + "\t" + read.operation + "\t" +
                           read.answer + "\t" + place;
  const uint64_t most = read.is_condition ? policy_.stop_condition : policy_.stop_number;
  uint64_t in_this_step = 0;
  {
    const MutexLock lock(mutex_);
    ++totals_[static_cast<size_t>(read.known)];
    Line& line = lines_[text];
    if (line.count == 0) line.number = static_cast<int>(lines_.size());
    line.text = text;
    if (read.known == Known::kAssumed) line.assumed = LineOf(cause);
    if (read.known == Known::kAssumed && read.decides_sizes && has_chosen_ &&
        line_of_chosen_sizes_.empty())
      line_of_chosen_sizes_ = LineOf(cause);
    ++line.count;
    in_this_step = ++line.in_this_step;
    if (IsPowerOfTwo(line.count)) {
      AnnotateLine(line);
      AnnotateTotals();
    }
  }
  TORCH_CHECK(read.known != Known::kUnknown || in_this_step < most, "memtrace: ", place, " read ",
              in_this_step, " values in one step that the simulated card does not know (",
              read.operation, ", answered ", read.answer.empty() ? "0" : read.answer,
              "). This looks like a loop that does not end. Give another answer or a higher '",
              read.is_condition ? "stop condition" : "stop number",
              "' in a file for --host-values.");
}

std::string HostReads::LineOfChosenSizes() {
  const MutexLock lock(mutex_);
  return line_of_chosen_sizes_;
}

void HostReads::BeginStep() {
  const MutexLock lock(mutex_);
  for (auto& [text, line] : lines_) line.in_this_step = 0;
}

void HostReads::Annotate() {
  const MutexLock lock(mutex_);
  AnnotateTotals();
  for (const auto& [text, line] : lines_) AnnotateLine(line);
}

std::string HostReads::AssumedReads() {
  std::map<std::string, uint64_t> counts;
  {
    const MutexLock lock(mutex_);
    for (const auto& [text, line] : lines_) {
      if (!line.assumed.empty()) counts[line.assumed] += line.count;
    }
  }
  std::string rows;
  for (const auto& [line, count] : counts) rows += std::to_string(count) + "\t" + line + "\n";
  return rows;
}

void HostReads::AnnotateTotals() const {
  memtrace_annotate(std::string(trace::fact::kSimulationValues).c_str(), "on");
  constexpr std::string_view kKeys[] = {trace::fact::kSimulationReadsUnknown,
                                        trace::fact::kSimulationReadsAssumed,
                                        trace::fact::kSimulationReadsKnown};
  for (size_t known = 0; known < totals_.size(); ++known) {
    memtrace_annotate(std::string(kKeys[known]).c_str(), std::to_string(totals_[known]).c_str());
  }
}

void HostReads::AnnotateLine(const Line& line) const {
  memtrace_annotate(trace::fact::kSimulationRead.Of(line.number).c_str(),
                    (std::to_string(line.count) + line.text).c_str());
}

}  // namespace memtrace::shim
