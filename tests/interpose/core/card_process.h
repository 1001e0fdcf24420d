// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TESTS_INTERPOSE_CORE_CARD_PROCESS_H_
#define MEMTRACE_TESTS_INTERPOSE_CORE_CARD_PROCESS_H_

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "base/units.h"
#include "interpose/core/memtrace.h"
#include "profiler/trace/reading/trace_reader.h"

namespace memtrace {

// Runs `body` in a forked child and waits for it, because libmemtrace starts once a process.
// Returns true if nothing failed there. The child leaves by exit(), as programs do, so its trace is
// closed.
template <typename Body>
bool InOwnProcess(Body body) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    body();
    std::exit(::testing::Test::HasFailure() ? 1 : 0);
  }
  int status = -1;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// Each test runs in processes of its own with simulated cards and reads their trace afterwards.
class CardProcessTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(::testing::TempDir()) /
              (std::string("memtrace.") + test->name() + "." + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
    setenv("MEMTRACE_OUTPUT", trace_path().c_str(), 1);
    UseCard("1GiB,context=0MiB");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  static void UseCard(const char* spec) { setenv("MEMTRACE_CARD", spec, 1); }
  std::string trace_path() const { return folder_ / "run.trace"; }
  std::vector<std::string> Files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_))
      names.push_back(entry.path().filename());
    return names;
  }

  static void* Allocate(uint64_t bytes, int device = 0, uint64_t stream = 0) {
    void* address = nullptr;
    memtrace_out_of_memory failure{};
    failure.size = sizeof(failure);
    EXPECT_EQ(
        memtrace_allocate(device, bytes, stream, memtrace_capture_context(), &address, &failure),
        MEMTRACE_OK)
        << memtrace_last_error();
    return address;
  }
  static int64_t Current(memtrace_statistic_kind kind, int device = 0) {
    memtrace_statistics statistics{};
    statistics.size = sizeof(statistics);
    EXPECT_EQ(memtrace_get_statistics(device, &statistics), MEMTRACE_OK);
    return statistics.by_kind[kind][0].current;
  }

  trace::TraceReader Trace() const {
    auto reader = trace::TraceReader::Open(trace_path());
    EXPECT_TRUE(reader.ok()) << reader.status();
    return *std::move(reader);
  }
  template <typename E>
  static std::vector<E> EventsOf(const trace::TraceReader& reader) {
    std::vector<E> events;
    reader.ForEach([&](const trace::Event& event) {
      if (const auto* payload = std::get_if<E>(&event.payload)) events.push_back(*payload);
    });
    return events;
  }

  std::filesystem::path folder_;
};

}  // namespace memtrace

#endif  // MEMTRACE_TESTS_INTERPOSE_CORE_CARD_PROCESS_H_
