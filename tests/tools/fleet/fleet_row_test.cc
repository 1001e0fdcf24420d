// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Rows of traces that the recorder itself wrote.
#include "tools/fleet/fleet_row.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "nlohmann/json.hpp"
#include "profiler/recorder/recorder.h"
#include "tests/profiler/recorder/recorder_fixture.h"
#include "tests/profiler/trace/trace_fixture.h"

namespace memtrace::fleet {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using Info = std::map<std::string, std::string>;

constexpr uint64_t kCardBytes = 24_GiB;

class FleetRowTest : public testing::Test {
 protected:
  void Record(const Info& info = {}, const std::string& name = "run.trace",
              bool with_summary = true) {
    path_ = folder_.File(name);
    auto writer = trace::TraceWriter::Open(path_, info, {.with_summary = with_summary});
    ASSERT_TRUE(writer.ok()) << writer.status();
    recorder_ = std::make_unique<recorder::Recorder>(*std::move(writer), symbolizer_);
  }
  void Allocate(int32_t card, uint64_t address, Bytes requested) {
    recorder_->blocks().Allocated({.device = DeviceIndex{card},
                                   .pool = {},
                                   .address = DeviceAddress{address},
                                   .requested = requested,
                                   .allocated = RoundUp(requested, 512),
                                   .context = recorder_->scopes().CurrentContext(0)});
  }
  void Map(int32_t card, Bytes size) {
    recorder_->blocks().Mapped(
        {.device = DeviceIndex{card}, .pool = {}, .address = DeviceAddress{0x1000}, .size = size});
  }
  void Unmap(int32_t card, Bytes size) {
    recorder_->blocks().Unmapped(
        {.device = DeviceIndex{card}, .pool = {}, .address = DeviceAddress{0x1000}, .size = size});
  }
  // Fails a request of 40 GiB on a card of 24 GiB, at code7.py:1.
  void Fail() {
    const trace::StackId stack = recorder_->stacks().Intern(recorder::FramesOf({7}));
    const OutOfMemoryEvent event{.pool = {},
                                 .requested = 40_GiB,
                                 .allocated = 40_GiB,
                                 .obtainable = 20_GiB,
                                 .limit = ~uint64_t{0},
                                 .context = recorder_->scopes().CurrentContext(stack),
                                 .ledger = {}};
    recorder_->blocks().OutOfMemory(event);
    const std::vector<trace::CardLedger> cards = {{.total = kCardBytes, .free = 20_GiB}};
    recorder_->blocks().NoteOutOfMemory(event, cards);
  }
  Row Read() const { return RowOf(path_, trace::ReadTraceFront(path_)); }
  json Values() const { return json::parse(Read().json); }

  trace::TemporaryFolder folder_;
  recorder::NumberSymbolizer symbolizer_;
  std::string path_;
  std::unique_ptr<recorder::Recorder> recorder_;
};

TEST_F(FleetRowTest, RowSaysWhichProcessItWas) {
  Record({{"host", "node7"},
          {"pid", "4711"},
          {"script", "train.py"},
          {"script_version", "0123456789abcdef"},
          {"command", R"(["python","train.py","--lr","1"])"},
          {"torch", "2.11.0"},
          {"environment.RANK", "3"},
          {"environment.WORLD_SIZE", "8"},
          {"environment.SLURM_JOB_ID", "991"},
          {"card", "24GiB"},
          {"simulated", "1"},
          {"started_unix_ns", "1795848776650460973"}});
  recorder_->Close();
  const json row = Values();
  EXPECT_EQ(row["file"], path_);
  EXPECT_EQ(row["state"], "finished");
  EXPECT_EQ(row["job"], "991");
  EXPECT_EQ(row["host"], "node7");
  EXPECT_EQ(row["pid"], 4711);
  EXPECT_EQ(row["rank"], 3);
  EXPECT_EQ(row["world_size"], 8);
  EXPECT_EQ(row["script"], "train.py");
  EXPECT_EQ(row["script_version"], "0123456789abcdef");
  EXPECT_EQ(row["command"], "python train.py --lr 1");
  EXPECT_EQ(row["torch"], "2.11.0");
  EXPECT_EQ(row["simulated"], true);
  EXPECT_EQ(row["simulated_card"], "24GiB");
  EXPECT_EQ(row["started_utc"], "2026-11-28 06:52:56.650460");
  EXPECT_FALSE(row.contains("problem"));
  EXPECT_FALSE(row.contains("local_rank"));
}

TEST_F(FleetRowTest, JobIsThatOfTheLauncherElseOfTheNames) {
  Record({{"environment.TORCHELASTIC_RUN_ID", "job-5"}}, "a.trace");
  EXPECT_EQ(Values()["job"], "job-5");
  Record({{"environment.TORCHELASTIC_RUN_ID", "none"}}, "b.trace.4711");
  EXPECT_EQ(Values()["job"], folder_.File("b.trace"));
}

TEST_F(FleetRowTest, BytesAreSumsOverTheCardsInUse) {
  Record();
  Map(0, 4_MiB);
  Map(1, 2_MiB);
  Allocate(0, 0x1000, 1'000'000);
  Allocate(1, 0x1000, 500'000);
  Unmap(0, 2_MiB);
  recorder_->Close();
  const json row = Values();
  EXPECT_EQ(row["cards"], 2);
  EXPECT_EQ(row["requested_bytes"], 1'500'000);
  EXPECT_EQ(row["peak_requested_bytes"], 1'500'000);
  EXPECT_EQ(row["peak_allocated_bytes"], RoundUp(1'000'000, 512) + RoundUp(500'000, 512));
  EXPECT_EQ(row["reserved_bytes"], 4_MiB);
  EXPECT_EQ(row["peak_reserved_bytes"], 6_MiB);
  EXPECT_EQ(row["reserved_at_peak_bytes"], 6_MiB);
  EXPECT_EQ(row["per_card"][1]["card"], 1);
  EXPECT_EQ(row["per_card"][1]["peak_reserved_bytes"], 2_MiB);
  EXPECT_EQ(row["peak_unknown_bytes"], 1'500'000);
  EXPECT_EQ(row["peak_parameter_bytes"], 0);
  EXPECT_EQ(row["largest_role"], "unknown");
  EXPECT_EQ(row["owners"][0]["bytes"], 1'000'000);
  EXPECT_FALSE(row["owners"][0].contains("owner")) << "it has none";
  EXPECT_FALSE(row.contains("card_bytes")) << "no sample says how large the cards are";
  EXPECT_FALSE(row.contains("free_bytes"));
}

TEST_F(FleetRowTest, OutOfMemoryHasItsCauseAndLine) {
  Record();
  recorder_->scopes().PushTag("policy");
  Fail();
  const json row = Values();
  EXPECT_EQ(row["state"], "open");
  EXPECT_EQ(row["out_of_memory"], 1);
  EXPECT_EQ(row["oom_cause"], "too_large");
  EXPECT_EQ(row["oom_line"], "code7.py:1");
  EXPECT_EQ(row["oom_owner"], "policy");
  EXPECT_EQ(row["oom_requested_bytes"], 40_GiB);
  EXPECT_EQ(row["oom_available_bytes"], 20_GiB);
}

TEST_F(FleetRowTest, LedgerSumsToTheCard) {
  Record();
  Allocate(0, 0x1000, 1'000'000);
  Fail();
  recorder_->Close();
  const json row = Values();
  EXPECT_EQ(row["card_bytes"], kCardBytes);
  int64_t sum = 0;
  for (const char* part :
       {"context", "live", "rounding", "stream_wait", "cached", "holes", "private_pools",
        "outside_allocator", "other_processes", "free", "unexplained"})
    sum += row[std::string(part) + "_bytes"].get<int64_t>();
  EXPECT_EQ(sum, kCardBytes);
}

TEST_F(FleetRowTest, MemoryBesideTheCardsIsSummedOverThem) {
  Record();
  Allocate(0, 0x1000, 1'000'000);
  Allocate(1, 0x1000, 1'000'000);
  for (const int32_t card : {0, 1}) {
    recorder_->program().SampleCard({.device = card,
                                     .total = kCardBytes,
                                     .asleep = 1_GiB,
                                     .on_host = 2_GiB,
                                     .host_copies = 3_GiB,
                                     .host_pooled = 4_GiB});
  }
  recorder_->Close();
  const json row = Values();
  EXPECT_EQ(row["asleep_bytes"], 2_GiB);
  EXPECT_EQ(row["on_host_bytes"], 4_GiB);
  EXPECT_EQ(row["host_copies_bytes"], 6_GiB);
  EXPECT_EQ(row["host_pooled_bytes"], 8_GiB);
}

TEST_F(FleetRowTest, GrowthNeedsTwentySteps) {
  for (const uint64_t steps : {19U, 20U}) {
    Record({}, std::to_string(steps) + ".trace");
    for (uint64_t step = 1; step <= steps; ++step) {
      recorder_->program().BeginStep();
      Allocate(0, 0x1000 * step, step == 1 ? 1'000'000 : 1000);
    }
    recorder_->Close();
    EXPECT_EQ(Values()["steps"], steps);
    EXPECT_EQ(Values().value("growth_bytes_per_step", 0), steps == 20 ? 1000 : 0);
  }
}

TEST_F(FleetRowTest, TraceWithoutSummaryHasItsFactsAndAProblem) {
  Record({{"script", "train.py"}}, "run.trace", /*with_summary=*/false);
  recorder_->Close();
  EXPECT_FALSE(Read().has_figures);
  EXPECT_THAT(Read().problem, HasSubstr("has no summary"));
  EXPECT_EQ(Values()["problem"], Read().problem);
  EXPECT_EQ(Values()["script"], "train.py");
  EXPECT_FALSE(Values().contains("steps"));
}

TEST_F(FleetRowTest, TraceThatWasCutHasItsFiguresAndAProblem) {
  Record();
  Allocate(0, 0x1000, 1'000'000);
  recorder_->Close();
  std::filesystem::resize_file(path_, std::filesystem::file_size(path_) - 1);
  EXPECT_TRUE(Read().has_figures);
  EXPECT_THAT(Read().problem, HasSubstr("is cut short"));
  EXPECT_EQ(Values()["peak_requested_bytes"], 1'000'000);
}

TEST_F(FleetRowTest, OtherFilesHaveOnlyAProblem) {
  path_ = folder_.File("json.trace");
  trace::WriteBytes(path_, "{}");
  EXPECT_EQ(Values().size(), 2U);
  EXPECT_THAT(Values()["problem"].get<std::string>(), HasSubstr("it looks like JSON"));
}

TEST_F(FleetRowTest, SummaryOfAnotherFormIsAProblem) {
  path_ = folder_.File("run.trace");
  auto writer = trace::TraceWriter::Open(path_, {}, {.with_summary = true});
  (*writer)->front()->WriteSummary("[1]", 1);
  EXPECT_FALSE(Read().has_figures);
  EXPECT_THAT(Read().problem, HasSubstr("the summary cannot be read"));
}

}  // namespace
}  // namespace memtrace::fleet
