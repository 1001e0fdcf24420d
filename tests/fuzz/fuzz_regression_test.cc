// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// tests/fuzz/regressions/TARGET/* are inputs that once failed. A failing target ends the process,
// so the name of the input is printed first.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "profiler/trace/text/text_trace.h"
#include "tests/fuzz/snapshot_seed.h"
#include "tests/fuzz/targets.h"

namespace memtrace::fuzz {
namespace {

namespace fs = std::filesystem;
const fs::path kTests = fs::path(MEMTRACE_SOURCE) / "tests";

using Target = void (*)(std::string_view);
const std::map<std::string, Target> kTargets = {{"trace_file", &TraceFile},
                                                {"trace_records", &TraceRecords},
                                                {"text_trace", &TextTrace},
                                                {"run_summary", &RunSummaryText},
                                                {"kineto_profile", &KinetoProfile},
                                                {"rmm_log", &RmmLog},
                                                {"snapshot", &Snapshot},
                                                {"card_spec", &CardSpecs},
                                                {"allocator_program", &AllocatorProgram},
                                                {"planned_program", &PlannedProgram},
                                                {"moving_program", &MovingProgram},
                                                {"plan_file", &PlanFile}};

std::string Read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(FuzzRegressionTest, RegressionInputsPass) {
  size_t inputs = 0;
  for (const auto& entry : fs::recursive_directory_iterator(kTests / "fuzz" / "regressions")) {
    if (!entry.is_regular_file()) continue;
    const auto target = kTargets.find(entry.path().parent_path().filename().string());
    ASSERT_NE(target, kTargets.end()) << entry.path();
    std::fprintf(stderr, "%s\n", entry.path().filename().c_str());
    target->second(Read(entry.path()));
    ++inputs;
  }
  EXPECT_GT(inputs, 0U);
}

// Needs no fuzzer's feedback, but runs with every compiler: lines of the golden traces, mixed up.
TEST(FuzzRegressionTest, TextTracesWithSwappedCharactersAreReadOrRejected) {
  std::mt19937_64 random(1);
  for (const auto& entry : fs::directory_iterator(kTests / "golden")) {
    if (fs::path(entry.path().stem()).extension() != ".trace") continue;
    const std::string text = Read(entry.path());
    for (int i = 0; i < 40; ++i) {
      std::string mutated = text;
      for (int swaps = 0; swaps < 4; ++swaps) {
        std::swap(mutated[random() % text.size()], mutated[random() % text.size()]);
      }
      TextTrace(mutated);
    }
  }
}

// Replaces a number, or an amount of bytes, by one that arithmetic may fail on.
std::string WithEdgeNumber(std::string text, std::mt19937_64& random) {
  constexpr std::array<std::string_view, 9> kEdges = {"0",
                                                      "1",
                                                      "0xffffffffffffffff",
                                                      "0xfffffffffffffe00",
                                                      "0xffffffffffe00000",
                                                      "0x8000000000000000",
                                                      "0x7fffffffffffffff",
                                                      "0x100000000",
                                                      "511"};
  constexpr std::string_view kDigits = "0123456789abcdefxKMGTiB";
  const auto is_before_number = [&text](size_t at) {
    return at + 1 < text.size() && text[at + 1] >= '0' && text[at + 1] <= '9';
  };
  size_t begin = text.find_first_of(" =", random() % text.size());
  while (begin != std::string::npos && !is_before_number(begin))
    begin = text.find_first_of(" =", begin + 1);
  if (begin == std::string::npos) return text;
  const size_t end = std::min(text.find_first_not_of(kDigits, begin + 1), text.size());
  return text.replace(begin + 1, end - begin - 1, kEdges[random() % kEdges.size()]);
}

TEST(FuzzRegressionTest, TracesWithEdgeNumbersAreReportedOrRejected) {
  std::mt19937_64 random(9);
  const std::string path = fs::path(testing::TempDir()) / "edge_numbers.trace";
  int written = 0;
  for (const auto& entry : fs::directory_iterator(kTests / "golden")) {
    if (fs::path(entry.path().stem()).extension() != ".trace") continue;
    const std::string text = Read(entry.path());
    for (int i = 0; i < 20; ++i) {
      const std::string mutated = WithEdgeNumber(WithEdgeNumber(text, random), random);
      if (!trace::WriteTextTrace(mutated, path).ok()) continue;
      TraceFile(Read(path));
      ++written;
    }
  }
  EXPECT_GT(written, 100);
}

TEST(FuzzRegressionTest, ProfilesWithChangedCharactersAreReadOrRejected) {
  std::mt19937_64 random(6);
  const std::string text = Read(kTests / "golden" / "profile.kineto.json");
  ASSERT_FALSE(text.empty());
  constexpr std::string_view kLikely = "0123456789-[]{},\":xe. ";
  for (int i = 0; i < 3000; ++i) {
    std::string mutated = text;
    for (int changes = 0; changes < 2; ++changes)
      mutated[random() % text.size()] = kLikely[random() % kLikely.size()];
    KinetoProfile(mutated);
    KinetoProfile(std::string_view(mutated).substr(0, random() % mutated.size()));
  }
}

TEST(FuzzRegressionTest, LogsWithChangedCharactersAreReadOrRejected) {
  std::mt19937_64 random(7);
  const std::string text = Read(kTests / "golden" / "rmm_log.csv");
  ASSERT_FALSE(text.empty());
  constexpr std::string_view kLikely = "0123456789,:.x\nf";
  for (int i = 0; i < 3000; ++i) {
    std::string mutated = text;
    mutated[random() % text.size()] = kLikely[random() % kLikely.size()];
    RmmLog(mutated);
  }
}

TEST(FuzzRegressionTest, SnapshotsWithChangedBytesAreReadOrRejected) {
  std::mt19937_64 random(8);
  const std::string pickle = SnapshotSeed();
  Snapshot(pickle);
  for (int i = 0; i < 3000; ++i) {
    std::string mutated = pickle;
    for (int changes = 0; changes < 2; ++changes)
      mutated[random() % pickle.size()] = static_cast<char>(random());
    Snapshot(mutated);
    Snapshot(std::string_view(mutated).substr(0, random() % mutated.size()));
  }
}

TEST(FuzzRegressionTest, PlansWithChangedCharactersAreReadOrRejected) {
  std::mt19937_64 random(3);
  const std::string text = Read(kTests / "golden" / "steps.plan.txt");
  constexpr std::string_view kLikely = "0123456789 \n";
  for (int i = 0; i < 2000; ++i) {
    std::string mutated = text;
    for (int changes = 0; changes < 2; ++changes) {
      mutated[random() % text.size()] = kLikely[random() % kLikely.size()];
    }
    PlanFile(mutated);
  }
}

TEST(FuzzRegressionTest, ProgramsWithRandomPlansSucceed) {
  std::mt19937_64 random(4);
  for (int i = 0; i < 20; ++i) {
    std::string bytes(2000, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    PlannedProgram(bytes);
  }
}

TEST(FuzzRegressionTest, SummariesWithChangedCharactersAreReadOrRejected) {
  std::mt19937_64 random(5);
  const std::string text = Read(kTests / "golden" / "run.summary.json");
  ASSERT_FALSE(text.empty());
  RunSummaryText(text);
  constexpr std::string_view kLikely = "0123456789-[]{},\":xe. ";
  for (int i = 0; i < 2000; ++i) {
    std::string mutated = text;
    mutated[random() % text.size()] = kLikely[random() % kLikely.size()];
    RunSummaryText(mutated);
  }
}

TEST(FuzzRegressionTest, RandomRecordsAreReadWithoutACrash) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 500; ++i) {
    std::string records(random() % 300, '\0');
    for (size_t at = 0; at < records.size(); ++at) {
      // Kinds of records, also restated ones, and small lengths are more frequent than in noise.
      constexpr std::array<uint64_t, 3> kBelow = {32, 96, 256};
      records[at] = static_cast<char>(random() % kBelow[random() % kBelow.size()]);
    }
    TraceRecords(records);
  }
}

}  // namespace
}  // namespace memtrace::fuzz
