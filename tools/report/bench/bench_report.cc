// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/bench/bench_report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/strings/substitute.h"
#include "messages/message.h"
#include "tools/report/words/printable.h"
#include "tools/report/words/quantity.h"

namespace memtrace::report {
namespace {

using bench::BenchRow;
using bench::BenchTable;
using bench::Fault;

constexpr size_t kName = 22;
constexpr size_t kTime = 24;

bool IsWait(const std::string& call) { return call.find("Synchronize") != std::string::npos; }

std::string Mebibytes(Bytes bytes) {
  std::string text = absl::StrFormat("%.1f", static_cast<double>(bytes) / (1 << 20));
  const size_t point = text.find('.');
  for (size_t at = point; at > 3; at -= 3) text.insert(at - 3, ",");
  return text;
}

std::string Ratio(Bytes card, Bytes lower_bound) {
  return absl::StrFormat("%.4f", static_cast<double>(card) / static_cast<double>(lower_bound));
}

// Returns "266 (261-270)".
std::string TimeCell(const std::vector<double>& times) {
  if (times.empty()) return "-";
  const Spread spread = SpreadOf(times);
  return absl::StrFormat("%.0f (%.0f-%.0f)", spread.median, spread.least_quarter,
                         spread.most_quarter);
}

std::string Title(const BenchTable& table) {
  const std::string name = table.is_one_of_several
                               ? Message("$0, card $1", Printable(table.input), table.device)
                               : Printable(table.input);
  return Message("$0: $1 requests, streams: $2, lower bound $3 MiB", name,
                 FormatCount(table.allocations), table.streams, Mebibytes(table.lower_bound));
}

std::string Head() {
  return LeftAligned(Message("ALLOCATOR"), kName) + RightAligned(Message("SMALLEST"), 12) +
         RightAligned(Message("RATIO"), 11) + RightAligned(Message("RESERVED"), 12) +
         RightAligned(Message("CALLS"), 11) + RightAligned(Message("WAITS"), 9) +
         RightAligned(Message("UNSERVED"), 9) + "\n";
}

std::string Name(const BenchRow& row) {
  return LeftAligned("  " + Printable(row.allocator) + (row.on_books ? " *" : ""), kName);
}

// `counts_calls`: the card says which calls are made.
std::string Row(const BenchRow& row, Bytes lower_bound, bool counts_calls) {
  const bool has_figures = !row.on_card.fault;
  const bool has_smallest = has_figures && row.smallest.has_value();
  const bool has_calls = has_smallest && (counts_calls || row.on_books);
  return Name(row) + RightAligned(has_smallest ? Mebibytes(*row.smallest) : "-", 12) +
         RightAligned(has_smallest ? Ratio(*row.smallest, lower_bound) : "-", 11) +
         RightAligned(has_figures ? Mebibytes(row.on_card.peak) : "-", 12) +
         RightAligned(has_calls ? FormatCount(MemoryCalls(row.on_smallest)) : "-", 11) +
         RightAligned(has_calls ? FormatCount(Waits(row.on_smallest)) : "-", 9) +
         RightAligned(has_figures ? FormatCount(row.on_card.failures) : "-", 9) + "\n";
}

// Returns the times of a pair, with a column for each number of threads.
std::string Times(const BenchTable& table, const std::vector<int>& threads) {
  std::string text = LeftAligned(Message("NANOSECONDS A PAIR"), kName);
  for (const int count : threads) {
    text += RightAligned(
        CountedMessage(static_cast<uint64_t>(count), "1 THREAD", "$0 THREADS", count), kTime);
  }
  text += '\n';
  for (const BenchRow& row : table.rows) {
    if (row.times.empty()) continue;
    text += Name(row);
    for (const int count : threads) {
      const auto times = row.times.find(count);
      text += RightAligned(times == row.times.end() ? "-" : TimeCell(times->second), kTime);
    }
    text += '\n';
  }
  return text + "\n";
}

bool HasTimes(const BenchTable& table) {
  return std::any_of(table.rows.begin(), table.rows.end(),
                     [](const BenchRow& row) { return !row.times.empty(); });
}

bool HasBooks(const BenchResult& result) {
  return std::any_of(result.tables.begin(), result.tables.end(), [](const BenchTable& table) {
    return std::any_of(table.rows.begin(), table.rows.end(),
                       [](const BenchRow& row) { return row.on_books; });
  });
}

std::string SimulatedColumns(Bytes card) {
  return Message(
      "SMALLEST: MiB of the smallest card that serves all requests; RATIO: the same "
      "over the lower bound; RESERVED: the most MiB taken of a card of $0; CALLS "
      "and WAITS: of the driver, on the smallest card; UNSERVED: requests that the "
      "card of $0 did not serve.",
      FormatBytes(card));
}

std::string GpuColumns(const std::string& gpu, Bytes card) {
  const std::string part =
      card == 0 ? Message("all that was free of it") : Message("$0 of it", FormatBytes(card));
  return Message(
      "Measured on $0, with $1. SMALLEST: the fewest MiB that serve all requests while a block "
      "holds the rest; RATIO: the same over the lower bound; RESERVED: the most by which the "
      "driver's free memory fell, by whomever; UNSERVED: requests that failed. CALLS and WAITS of "
      "a GPU are not counted.",
      Printable(gpu), part);
}

std::string Notes(const BenchResult& result, bool has_times) {
  const bench::ComparisonSettings& settings = result.settings;
  std::string notes = Wrapped(settings.gpu.empty() ? SimulatedColumns(settings.card)
                                                   : GpuColumns(settings.gpu, settings.card),
                              2);
  if (HasBooks(result))
    notes += Wrapped(
        Message("*: computed without a card, so its waits and calls are its own counts."), 2);
  if (!has_times) return notes;
  notes += Wrapped(
      CountedMessage(static_cast<uint64_t>(result.settings.repeat),
                     "A pair is an allocation and its free: processor time with one thread, real "
                     "time over the pairs of all threads with more.",
                     "A pair is an allocation and its free: processor time with one thread, real "
                     "time over the pairs of all threads with more. The median of $0 measurements "
                     "stands before the quarters around it.",
                     result.settings.repeat),
      2);
  return notes + Wrapped(Message("Machine: $0, cores: $1, load $2 before and $3 after. Times of a "
                                 "busy machine vary.",
                                 Printable(result.before.processor), result.before.cores,
                                 absl::StrFormat("%.1f", result.before.load),
                                 absl::StrFormat("%.1f", result.after.load)),
                         2);
}

struct FaultSentence {
  std::string_view fault;
  std::string_view sentence;  // $0: the allocator, $1: the detail, $2: the request's place
};

constexpr std::array<FaultSentence, 12> kFaults = {{
    {"cannot_open", Marked("$0 cannot be opened: $1")},
    {"missing_function", Marked("$0 has no function $1; name its two functions: $0:MALLOC,FREE")},
    {"cannot_start", Marked("$0 cannot be tried: $1")},
    {"no_card", Marked("$0 cannot be tried: there is no simulated card of $1 bytes")},
    {"gpu_too_small",
     Marked("$0 cannot be tried: the GPU does not start, or less than $1 bytes of it are free")},
    {"crashed", Marked("$0 crashed while it served the requests ($1)")},
    {"hung", Marked("$0 was ended, because one play took longer than $1 s; --limit allows more")},
    {"ended", Marked("$0 ended its process while it served the requests")},
    {"out_of_memory", Marked("$0 did not serve all requests while it was timed")},
    {"overlapping", Marked("$0 returned memory that overlaps a block in use, for request $2")},
    {"misaligned", Marked("$0 returned memory that is not aligned to 256 bytes, for request $2")},
    {"not_on_card", Marked("$0 returned memory that is not memory of the card, for request $2")},
}};

}  // namespace

uint64_t MemoryCalls(const bench::PlayOutcome& outcome) {
  uint64_t calls = 0;
  for (const auto& [name, count] : outcome.calls) calls += IsWait(name) ? 0 : count;
  return calls;
}

uint64_t Waits(const bench::PlayOutcome& outcome) {
  uint64_t waits = 0;
  for (const auto& [name, count] : outcome.calls) waits += IsWait(name) ? count : 0;
  return waits;
}

Spread SpreadOf(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  const auto at = [&times](double part) {
    return times[static_cast<size_t>(std::lround(part * static_cast<double>(times.size() - 1)))];
  };
  return {at(0.25), at(0.5), at(0.75)};
}

std::string TextBench(const BenchResult& result) {
  const bool has_times = std::any_of(result.tables.begin(), result.tables.end(), HasTimes);
  std::string text;
  for (const BenchTable& table : result.tables) {
    text += Title(table) + "\n\n" + Head();
    for (const BenchRow& row : table.rows)
      text += Row(row, table.lower_bound, result.settings.gpu.empty());
    text += '\n';
    if (HasTimes(table)) text += Times(table, result.settings.threads);
  }
  return text + Notes(result, has_times);
}

std::string FaultText(const std::string& allocator, const Fault& fault) {
  const auto* known = std::find_if(kFaults.begin(), kFaults.end(), [&](const FaultSentence& each) {
    return each.fault == fault.name;
  });
  const std::string_view sentence =
      known == kFaults.end() ? Marked("$0 failed: $1") : known->sentence;
  return absl::Substitute(MessageOf(sentence), Printable(allocator), Printable(fault.detail),
                          fault.request.value_or(0) + 1);
}

}  // namespace memtrace::report
