// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command/outputs/bench_tables.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "base/status_macros.h"
#include "messages/message.h"
#include "tools/bench/books.h"
#include "tools/bench/played_allocator.h"
#include "tools/bench/recorded_requests.h"
#include "tools/command/help/suggestion.h"
#include "tools/report/words/printable.h"

namespace memtrace::command {
namespace {

namespace fs = std::filesystem;

// A folder for the files that the players read; it is removed at the end.
class PlayFolder {
 public:
  PlayFolder() {
    std::error_code error;
    std::string name = (fs::temp_directory_path(error) / "memtrace-bench-XXXXXX").string();
    if (mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~PlayFolder() {
    std::error_code error;
    if (!path_.empty()) fs::remove_all(path_, error);
  }
  PlayFolder(const PlayFolder&) = delete;
  PlayFolder& operator=(const PlayFolder&) = delete;

  bool exists() const { return !path_.empty(); }
  std::string requests() const { return path_ + "/requests"; }
  std::string plan() const { return path_ + "/plan"; }

 private:
  std::string path_;
};

bool NamesLibrary(const std::string& word) {
  return word.find('/') != std::string::npos || word.find(".so") != std::string::npos;
}

// Reads "./libmine.so:my_malloc,my_free".
absl::StatusOr<BenchAllocator> LibraryOf(const std::string& word) {
  BenchAllocator allocator;
  const size_t colon = word.rfind(':');
  const std::string path = word.substr(0, colon);
  if (colon != std::string::npos) {
    const std::string functions = word.substr(colon + 1);
    const size_t comma = functions.find(',');
    allocator.allocate = functions.substr(0, comma);
    allocator.release = comma == std::string::npos ? "" : functions.substr(comma + 1);
    if (allocator.allocate.empty() || allocator.release.empty()) {
      return absl::InvalidArgumentError(Message(
          "--allocator $0 must name two functions: LIBRARY:MALLOC,FREE", report::Printable(word)));
    }
  }
  std::error_code error;
  if (!fs::is_regular_file(path, error)) {
    return absl::NotFoundError(Message("there is no library $0", report::Printable(path)));
  }
  allocator.library = fs::absolute(path, error).string();
  allocator.name = fs::path(path).filename().string();
  return allocator;
}

absl::StatusOr<BenchAllocator> KnownOf(const std::string& word) {
  std::vector<std::string> names = {"all"};
  for (const KnownAllocator& each : KnownAllocators()) names.emplace_back(each.name);
  if (std::find(names.begin(), names.end(), word) != names.end())
    return BenchAllocator{.name = word, .library = ""};
  const std::string nearest = NearestOf(word, names);
  const std::string shown = report::Printable(word);
  return absl::InvalidArgumentError(
      nearest.empty()
          ? Message("there is no allocator '$0'; memtrace bench --list lists them, and a library "
                    "is named by its path",
                    shown)
          : Message("there is no allocator '$0' (did you mean '$1'?); memtrace bench --list lists "
                    "them, and a library is named by its path",
                    shown, nearest));
}

void AddOnce(std::vector<BenchAllocator>& allocators, BenchAllocator one) {
  const bool is_there =
      std::any_of(allocators.begin(), allocators.end(), [&](const BenchAllocator& each) {
        return each.name == one.name && each.library == one.library &&
               each.allocate == one.allocate;
      });
  if (!is_there) allocators.push_back(std::move(one));
}

// Returns an allocator that needs no card, or null.
std::unique_ptr<bench::TriedAllocator> OnBooks(const std::string& name,
                                               const bench::RequestSequence& sequence,
                                               const bench::SharedPlan& plan) {
  if (name == "policy") return std::make_unique<bench::PolicyOnBooks>(sequence);
  if (name == "policy-planned") return std::make_unique<bench::PolicyOnBooks>(sequence, plan);
  if (name == "lower-bound") return std::make_unique<bench::LowerBound>(sequence);
  return nullptr;
}

// Makes the allocators that are compared on one sequence.
class Tried {
 public:
  Tried(const bench::RequestSequence& sequence, double limit, bool is_gpu)
      : sequence_(sequence), limit_(limit), is_gpu_(is_gpu) {}

  absl::Status Add(const BenchAllocator& allocator) {
    std::unique_ptr<bench::TriedAllocator> made;
    if (allocator.library.empty())
      made = OnBooks(allocator.name, sequence_, PlanFor(allocator.name));
    if (made == nullptr) {
      MEMTRACE_ASSIGN_OR_RETURN(auto played, Play(allocator));
      made = std::move(played);
    }
    all_.push_back({allocator.name, std::move(made)});
    return absl::OkStatus();
  }
  std::vector<bench::NamedAllocator>& all() { return all_; }

 private:
  bench::SharedPlan PlanFor(const std::string& name) {
    if (plan_ == nullptr && (name == "policy-planned" || name == "planned"))
      plan_ = std::make_shared<const Plan>(bench::PlanOf(sequence_).plan());
    return plan_;
  }
  absl::StatusOr<std::unique_ptr<bench::TriedAllocator>> Play(const BenchAllocator& allocator) {
    if (!is_written_ && !(folder_.exists() && WriteRequests(sequence_, folder_.requests())))
      return absl::UnavailableError(
          Message("the requests cannot be written to the temporary folder; set TMPDIR to another"));
    is_written_ = true;
    bench::PlayedOrder order{
        .allocator = allocator.library.empty() ? allocator.name : allocator.library,
        .allocate = allocator.allocate,
        .release = allocator.release,
        .requests = folder_.requests(),
        .plan = "",
        .limit = limit_,
        .is_gpu = is_gpu_};
    if (allocator.name == "planned" && allocator.library.empty()) {
      order.plan = folder_.plan();
      std::ofstream(order.plan) << PlanFor(allocator.name)->Text();
    }
    return bench::PlayedAllocator::Start(order);
  }

  const bench::RequestSequence& sequence_;
  const double limit_;
  const bool is_gpu_;
  const PlayFolder folder_;
  bool is_written_ = false;
  bench::SharedPlan plan_;
  std::vector<bench::NamedAllocator> all_;  // ends before the folder
};

}  // namespace

const std::vector<KnownAllocator>& KnownAllocators() {
  static const auto& all = *new std::vector<KnownAllocator>{
      {"native", Marked("torch's own allocator"), true},
      {"expandable", Marked("torch's own with expandable_segments"), true},
      {"cudaMallocAsync", Marked("the driver's memory pool, by way of torch"), true},
      {"memtrace", Marked("memtrace's allocator"), true},
      {"planned", Marked("memtrace's allocator with a plan of the same requests"), true},
      {"cudaMalloc", Marked("a call of the driver for each request"), false},
      {"policy", Marked("memtrace's allocator without torch and card, computed in milliseconds"),
       false},
      {"policy-planned", Marked("the same with a plan of the same requests"), false},
      {"lower-bound", Marked("what every allocator needs: the living blocks"), false},
  };
  return all;
}

absl::StatusOr<std::vector<BenchAllocator>> AllocatorsOf(const std::vector<std::string>& words) {
  std::vector<BenchAllocator> allocators;
  for (const std::string& word : words) {
    MEMTRACE_ASSIGN_OR_RETURN(BenchAllocator one,
                              NamesLibrary(word) ? LibraryOf(word) : KnownOf(word));
    if (word != "all") {
      AddOnce(allocators, std::move(one));
      continue;
    }
    for (const KnownAllocator& known : KnownAllocators())
      if (known.is_in_all) AddOnce(allocators, {.name = std::string(known.name), .library = ""});
  }
  return allocators;
}

absl::StatusOr<bench::BenchTable> MeasureTable(const BenchInput& input,
                                               const std::vector<BenchAllocator>& allocators,
                                               const bench::ComparisonSettings& settings,
                                               double limit) {
  bench::BenchTable table{.input = input.name,
                          .device = input.device,
                          .is_one_of_several = input.is_one_of_several,
                          .allocations = input.sequence.allocations(),
                          .streams = input.sequence.streams,
                          .lower_bound = bench::LivePeak(input.sequence),
                          .rows = {}};
  Tried tried(input.sequence, limit, !settings.gpu.empty());
  for (const BenchAllocator& allocator : allocators) {
    MEMTRACE_RETURN_IF_ERROR(tried.Add(allocator));
  }
  table.rows = bench::Compare(tried.all(), table.lower_bound, settings);
  return table;
}

}  // namespace memtrace::command
