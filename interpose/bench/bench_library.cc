// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// libmemtrace_bench.so: plays recorded requests with one allocator in a process of its own, which
// `memtrace bench` starts (python -m memtrace._bench). Answers are JSON: the caller passes them on.
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "interpose/bench/card_driver.h"
#include "interpose/bench/gpu_books.h"
#include "interpose/bench/player.h"
#include "interpose/bench/request_sequence.h"
#include "interpose/bench/simulated_books.h"
#include "interpose/bench/tried_functions.h"

#define MEMTRACE_BENCH_EXPORTED extern "C" __attribute__((visibility("default")))

namespace memtrace::bench {
namespace {

// One of each in a process; never destroyed, because the tried allocator may outlive them.
struct Bench {
  RequestSequence sequence;
  TriedFunctions functions;
  CardDriver card;
  std::unique_ptr<CardBooks> books;
  std::string answer;
};

Bench& TheBench() {
  static auto& bench = *new Bench();
  return bench;
}

const char* Answer(std::string text) {
  TheBench().answer = std::move(text);
  return TheBench().answer.c_str();
}

std::string Quoted(const std::string& text) {
  std::string quoted = "\"";
  for (const char character : text) {
    if (character == '"' || character == '\\') quoted += '\\';
    quoted += static_cast<unsigned char>(character) < ' ' ? ' ' : character;
  }
  return quoted + "\"";
}

std::string Text(const Played& played) {
  std::string text = "{\"failures\":" + std::to_string(played.failures) +
                     ",\"peak\":" + std::to_string(played.peak);
  if (played.first_failure) text += ",\"first_failure\":" + std::to_string(*played.first_failure);
  if (!played.fault.empty()) {
    text +=
        ",\"fault\":" + Quoted(played.fault) + ",\"fault_at\":" + std::to_string(played.fault_at);
  }
  std::string separator;
  text += ",\"calls\":{";
  for (const auto& [name, count] : played.calls) {
    text += std::exchange(separator, ",") + Quoted(name) + ":" + std::to_string(count);
  }
  separator.clear();
  text += "},\"in_use\":[";
  for (const uint64_t bytes : played.in_use)
    text += std::exchange(separator, ",") + std::to_string(bytes);
  return text + "]}";
}

std::string Fault(const std::string& fault, const std::string& detail) {
  return "{\"fault\":" + Quoted(fault) + ",\"detail\":" + Quoted(detail) + "}";
}

}  // namespace
}  // namespace memtrace::bench

using memtrace::bench::TheBench;

// Reads the requests. Returns 0 if that succeeds.
MEMTRACE_BENCH_EXPORTED int memtrace_bench_read(const char* path) {
  return memtrace::bench::ReadRequests(path, &TheBench().sequence) ? 0 : 1;
}

// Makes the card as large as `bytes`, before anything uses it. `is_gpu`: it is a GPU, of which at
// most `bytes` are left free, or all if that is 0. Returns 0 if that succeeds.
MEMTRACE_BENCH_EXPORTED int memtrace_bench_begin(uint64_t bytes, int is_gpu) {
  namespace bench = memtrace::bench;
  auto& card = TheBench().card;
  auto& books = TheBench().books;
  if (!card.Open()) return 1;
  card.Enter();
  if (is_gpu != 0) {
    books = std::make_unique<bench::GpuBooks>(card);
  } else {
    books = std::make_unique<bench::SimulatedBooks>(card.library());
  }
  return books->Bound(bytes) ? 0 : 1;
}

// Tries these functions.
MEMTRACE_BENCH_EXPORTED void memtrace_bench_use(void* allocate, void* release) {
  auto& functions = TheBench().functions;
  functions.allocate = reinterpret_cast<decltype(functions.allocate)>(allocate);
  functions.release = reinterpret_cast<decltype(functions.release)>(release);
}

// Tries the driver's own functions: a call for each request.
MEMTRACE_BENCH_EXPORTED void memtrace_bench_use_driver() {
  auto& functions = TheBench().functions;
  functions.allocate = [](ssize_t bytes, int, void*) {
    return TheBench().card.Allocate(static_cast<size_t>(bytes));
  };
  functions.release = [](void* address, ssize_t, int, void*) { TheBench().card.Free(address); };
}

// Tries the functions of a library. Returns "", or a fault as JSON.
MEMTRACE_BENCH_EXPORTED const char* memtrace_bench_use_library(const char* path,
                                                               const char* allocate,
                                                               const char* release) {
  namespace bench = memtrace::bench;
  bench::OpenFailure failure;
  auto& functions = TheBench().functions;
  if (!bench::OpenTriedLibrary(path, allocate, release, &functions, &failure)) {
    return bench::Answer(bench::Fault(
        failure.is_missing_function ? "missing_function" : "cannot_open", failure.detail));
  }
  if (functions.init != nullptr) functions.init(1);
  return "";
}

// Plays the requests once; the answer is valid until the next call.
MEMTRACE_BENCH_EXPORTED const char* memtrace_bench_play(int stops, int checks) {
  auto& bench = TheBench();
  memtrace::bench::Player player(bench.sequence, bench.functions, bench.card, *bench.books);
  return memtrace::bench::Answer(memtrace::bench::Text(player.Play(stops != 0, checks != 0)));
}

// Returns the nanoseconds of a pair (player.h); less than 0 if a request was not served.
MEMTRACE_BENCH_EXPORTED double memtrace_bench_time(int threads, double seconds) {
  auto& bench = TheBench();
  memtrace::bench::Player player(bench.sequence, bench.functions, bench.card, *bench.books);
  return player.NanosecondsPerPair(threads, seconds).value_or(-1);
}
