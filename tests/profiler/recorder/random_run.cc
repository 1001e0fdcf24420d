// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/profiler/recorder/random_run.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <iterator>
#include <string>

namespace memtrace::recorder {
namespace {

constexpr size_t kSlots = 2000;

DeviceIndex CardOf(size_t slot) { return DeviceIndex{static_cast<int32_t>(slot % 2)}; }
DeviceAddress AddressOf(size_t slot) { return DeviceAddress{0x7f00'0000'0000} + 1_MiB * slot; }

}  // namespace

BlockEvent RandomRun::Block(size_t slot, Bytes requested) const {
  return {.device = CardOf(slot),
          .stream = StreamId{slot % 3},
          .pool = {.first = 0, .second = slot % 5 == 0 ? 7U : 0U},
          .address = AddressOf(slot),
          .requested = requested,
          .allocated = RoundUp(requested, 512)};
}

void RandomRun::Do(size_t actions) {
  for (size_t i = 0; i < actions; ++i) {
    const uint64_t what = random_() % 1000;
    if (what < 420) {
      Allocate();
    } else if (what < 830) {
      Free();
    } else if (what < 900) {
      Complete();
    } else if (what < 960) {
      Label();
    } else if (what < 980) {
      Range();
    } else if (what < 990) {
      recorder_.program().SetPhase(static_cast<trace::Phase>(random_() % 8));
    } else if (what < 995) {
      recorder_.program().BeginStep();
    } else if (what < 998) {
      recorder_.program().Annotate("key" + std::to_string(random_() % 5),
                                   std::to_string(random_() % 100));
    } else {
      Fail();
    }
  }
}

void RandomRun::Allocate() {
  const size_t slot = random_() % kSlots;
  if (live_.contains(slot) || waiting_.contains(slot)) return;
  const Bytes requested = 1 + random_() % 600'000;
  BlockEvent block = Block(slot, requested);
  const uint64_t owner = random_() % 4;
  block.context = recorder_.contexts().Pack(
      {.stack = recorder_.stacks().Intern(FramesOf({random_() % 20 + 1, random_() % 3 + 1})),
       .owner = owner == 0 ? 0 : recorder_.trace().Intern("owner" + std::to_string(owner)),
       .module = recorder_.trace().Intern("module" + std::to_string(random_() % 9))});
  recorder_.blocks().Allocated(block);
  live_[slot] = requested;
}

void RandomRun::Free() {
  if (live_.empty()) return;
  auto found = live_.lower_bound(random_() % kSlots);
  if (found == live_.end()) found = live_.begin();
  const auto [slot, requested] = *found;
  live_.erase(found);
  recorder_.blocks().FreeRequested(Block(slot, requested));
  if (random_() % 10 == 0) {
    waiting_[slot] = requested;
  } else {
    recorder_.blocks().FreeCompleted(Block(slot, requested));
  }
}

void RandomRun::Complete() {
  if (waiting_.empty()) return;
  const auto [slot, requested] = *waiting_.begin();
  waiting_.erase(waiting_.begin());
  recorder_.blocks().FreeCompleted(Block(slot, requested));
}

void RandomRun::Label() {
  if (live_.empty()) return;
  auto found = live_.lower_bound(random_() % kSlots);
  if (found == live_.end()) found = live_.begin();
  const auto [slot, requested] = *found;
  const auto role = static_cast<trace::Role>(1 + random_() % 9);
  const std::string owner = random_() % 3 == 0 ? "label" + std::to_string(random_() % 3) : "";
  const std::string path = "weight" + std::to_string(random_() % 9);
  const Bytes begin = random_() % 2 == 0 ? 0 : random_() % requested;
  const Bytes size = random_() % 3 == 0 ? requested - begin : 1 + random_() % (requested - begin);
  recorder_.blocks().Relabel(CardOf(slot), AddressOf(slot) + begin, size, role, owner, path);
}

void RandomRun::Range() {
  const size_t number = random_() % 64;
  const RangeEvent range{.device = CardOf(number),
                         .pool = {},
                         .address = DeviceAddress{0x6f00'0000'0000} + 4_MiB * number,
                         .size = 4_MiB};
  if (mapped_[number]) {
    recorder_.blocks().Unmapped(range);
  } else {
    recorder_.blocks().Mapped(range);
  }
  mapped_[number] = !mapped_[number];
}

void RandomRun::Fail() {
  const trace::CardLedger card{.device = 1, .total = 24_GiB, .free = random_() % 1000};
  recorder_.blocks().NoteOutOfMemory({.device = DeviceIndex{1},
                                      .pool = {},
                                      .requested = 1_GiB,
                                      .allocated = 1_GiB,
                                      .obtainable = random_() % 1000,
                                      .limit = ~uint64_t{0},
                                      .ledger = {}},
                                     std::vector{card});
}

command::TraceInput InputOf(const std::string& path) {
  auto input = command::TraceInput::Open(path);
  if (!input.ok()) {
    ADD_FAILURE() << input.status();
    std::abort();
  }
  return *std::move(input);
}

}  // namespace memtrace::recorder
