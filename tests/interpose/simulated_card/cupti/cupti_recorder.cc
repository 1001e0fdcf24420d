// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/interpose/simulated_card/cupti/cupti_recorder.h"

#include <gtest/gtest.h>

namespace memtrace::card {
namespace {

struct Given {
  std::vector<std::uint64_t> room;  // aligned like records
  std::size_t valid = 0;
  bool completed = false;
};

std::vector<std::unique_ptr<Given>> given;
std::size_t size_of_buffers = 0;
std::size_t records_of_buffers = 0;
std::size_t buffers_left = 0;

void Request(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records) {
  *buffer = nullptr;
  *size = 0;
  *most_records = 0;
  if (buffers_left == 0) return;
  --buffers_left;
  given.push_back(std::make_unique<Given>());
  given.back()->room.resize(size_of_buffers / sizeof(std::uint64_t));
  *buffer = reinterpret_cast<std::uint8_t*>(given.back()->room.data());
  *size = size_of_buffers;
  *most_records = records_of_buffers;
}

void Complete(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid) {
  for (const auto& one : given) {
    if (reinterpret_cast<std::uint8_t*>(one->room.data()) != buffer) continue;
    EXPECT_FALSE(one->completed);
    one->completed = true;
    one->valid = valid;
    return;
  }
  ADD_FAILURE() << "a buffer came back that was not given";
}

}  // namespace

void CuptiRecorder::Begin(std::size_t buffer_bytes, std::size_t most_records, std::size_t buffers) {
  cuptiActivityFlushAll(0);  // returns records of an earlier test
  given.clear();
  size_of_buffers = buffer_bytes;
  records_of_buffers = most_records;
  buffers_left = buffers;
  ASSERT_EQ(cuptiActivityRegisterCallbacks(Request, Complete), CUPTI_SUCCESS);
}

std::vector<const CUpti_Activity*> CuptiRecorder::Records() {
  EXPECT_EQ(cuptiActivityFlushAll(0), CUPTI_SUCCESS);
  std::vector<const CUpti_Activity*> records;
  for (const auto& one : given) {
    CUpti_Activity* record = nullptr;
    auto* begin = reinterpret_cast<std::uint8_t*>(one->room.data());
    while (one->completed &&
           cuptiActivityGetNextRecord(begin, one->valid, &record) == CUPTI_SUCCESS)
      records.push_back(record);
  }
  return records;
}

std::size_t CuptiRecorder::Completed() {
  std::size_t completed = 0;
  for (const auto& one : given) {
    if (one->completed) ++completed;
  }
  return completed;
}

}  // namespace memtrace::card
