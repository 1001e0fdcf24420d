// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "nlohmann/json.hpp"
#include "tools/report/bench/bench_report.h"
#include "tools/report/words/json_text.h"

namespace memtrace::report {
namespace {

using bench::BenchRow;
using bench::BenchTable;
using nlohmann::ordered_json;

// The calls are null where they are not counted: on a GPU.
ordered_json PlayJson(const bench::PlayOutcome& outcome, bool counts_calls) {
  ordered_json said{
      {"peak_reserved", outcome.peak},
      {"failures", outcome.failures},
      {"first_failure", outcome.first_failure ? ordered_json(*outcome.first_failure) : nullptr}};
  said["calls"] = counts_calls ? ordered_json(MemoryCalls(outcome)) : nullptr;
  said["waits"] = counts_calls ? ordered_json(Waits(outcome)) : nullptr;
  said["driver_calls"] = counts_calls ? ordered_json(outcome.calls) : nullptr;
  return said;
}

ordered_json TimesJson(const BenchRow& row) {
  ordered_json all = ordered_json::array();
  for (const auto& [threads, times] : row.times) {
    const Spread spread = SpreadOf(times);
    all.push_back({{"threads", threads},
                   {"median_ns", spread.median},
                   {"quarters_ns", {spread.least_quarter, spread.most_quarter}},
                   {"measured_ns", times}});
  }
  return all;
}

ordered_json FaultJson(const BenchRow& row) {
  if (!row.fault) return nullptr;
  return {{"name", row.fault->name},
          {"detail", row.fault->detail},
          {"request", row.fault->request ? ordered_json(*row.fault->request) : nullptr}};
}

ordered_json RowJson(const BenchRow& row, Bytes lower_bound, bool is_gpu) {
  const bool counts_calls = row.on_books || !is_gpu;
  ordered_json said{{"allocator", row.allocator}, {"on", row.on_books ? "books" : "card"}};
  said["smallest_card"] = row.smallest ? ordered_json(*row.smallest) : nullptr;
  said["ratio"] =
      row.smallest
          ? ordered_json(static_cast<double>(*row.smallest) / static_cast<double>(lower_bound))
          : nullptr;
  said["on_card"] = row.on_card.fault ? ordered_json(nullptr) : PlayJson(row.on_card, counts_calls);
  said["on_smallest_card"] =
      row.smallest ? PlayJson(row.on_smallest, counts_calls) : ordered_json(nullptr);
  said["reserved"] = row.on_card.in_use;
  said["fault"] = FaultJson(row);
  said["times"] = TimesJson(row);
  return said;
}

ordered_json TableJson(const BenchTable& table, bool is_gpu) {
  ordered_json rows = ordered_json::array();
  for (const BenchRow& row : table.rows) rows.push_back(RowJson(row, table.lower_bound, is_gpu));
  return {{"input", table.input},
          {"device", table.device},
          {"requests", table.allocations},
          {"streams", table.streams},
          {"lower_bound", table.lower_bound},
          {"rows", rows}};
}

}  // namespace

std::string JsonBench(const BenchResult& result) {
  ordered_json all{{"schema", "memtrace.bench/1"}};
  all["machine"] = {{"processor", result.before.processor},
                    {"cores", result.before.cores},
                    {"load_before", result.before.load},
                    {"load_after", result.after.load}};
  const bool is_gpu = !result.settings.gpu.empty();
  all["gpu"] = is_gpu ? ordered_json(result.settings.gpu) : nullptr;
  all["card"] = is_gpu && result.settings.card == 0 ? nullptr : ordered_json(result.settings.card);
  all["repeat"] = result.settings.repeat;
  all["tables"] = ordered_json::array();
  for (const BenchTable& table : result.tables) all["tables"].push_back(TableJson(table, is_gpu));
  return JsonText(all);
}

}  // namespace memtrace::report
