// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fleet/fleet_rows.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <span>
#include <thread>

#include "messages/language.h"
#include "profiler/trace/reading/trace_files.h"
#include "profiler/trace/reading/trace_front.h"
#include "tools/fleet/fleet_row.h"

namespace memtrace::fleet {
namespace {

constexpr size_t kChunkFiles = 1024;  // rows are held until so many files are read
// More than this machine has processors: most of the time may go into waiting for a file server.
constexpr size_t kThreads = 8;

// Returns nothing if the file is no trace.
std::optional<Row> Read(const FoundFile& file) {
  if (!file.problem.empty()) return RowOfProblem(file.path, file.problem);
  if (!file.has_name && !trace::BeginsAsTrace(file.path)) return std::nullopt;
  return RowOf(file.path, trace::ReadTraceFront(file.path));
}

std::vector<std::optional<Row>> ReadChunk(std::span<const FoundFile> files) {
  std::vector<std::optional<Row>> rows(files.size());
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i = next++; i < files.size(); i = next++) rows[i] = Read(files[i]);
  };
  std::vector<std::thread> threads;
  for (size_t i = 1; i < std::min(kThreads, files.size()); ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  return rows;
}

void Count(const Row& row, Tally& tally) {
  ++tally.rows;
  if (row.has_figures) ++tally.with_figures;
  if (row.problem.empty()) return;
  ++tally.with_problems;
  if (tally.problems.size() < Tally::kMostNamed) tally.problems.push_back(row.problem);
}

}  // namespace

Tally WriteRows(const std::vector<FoundFile>& files, std::ostream& out) {
  const ScopedLanguage english(Language::kEnglish);  // of what is stored
  Tally tally;
  for (std::span<const FoundFile> rest = files; !rest.empty();) {
    const size_t count = std::min(kChunkFiles, rest.size());
    for (const std::optional<Row>& row : ReadChunk(rest.first(count))) {
      if (!row) continue;
      Count(*row, tally);
      out << row->json << '\n';
    }
    rest = rest.subspan(count);
  }
  return tally;
}

}  // namespace memtrace::fleet
