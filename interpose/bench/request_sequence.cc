// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/bench/request_sequence.h"

#include <algorithm>
#include <cstdio>
#include <memory>

namespace memtrace::bench {
namespace {

struct Closer {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Closer>;

struct Head {
  uint64_t requests = 0;
  uint32_t blocks = 0;
  uint32_t streams = 0;
};

}  // namespace

size_t RequestSequence::allocations() const {
  return static_cast<size_t>(
      std::count_if(requests.begin(), requests.end(),
                    [](const Request& request) { return request.IsAllocation(); }));
}

bool WriteRequests(const RequestSequence& sequence, const std::string& path) {
  const File file(std::fopen(path.c_str(), "wb"));
  if (file == nullptr) return false;
  const Head head{sequence.requests.size(), sequence.blocks, sequence.streams};
  return std::fwrite(&head, sizeof(head), 1, file.get()) == 1 &&
         std::fwrite(sequence.requests.data(), sizeof(Request), head.requests, file.get()) ==
             head.requests &&
         std::fflush(file.get()) == 0;
}

bool ReadRequests(const std::string& path, RequestSequence* sequence) {
  const File file(std::fopen(path.c_str(), "rb"));
  Head head;
  if (file == nullptr || std::fread(&head, sizeof(head), 1, file.get()) != 1) return false;
  sequence->requests.resize(head.requests);
  sequence->blocks = head.blocks;
  sequence->streams = head.streams;
  const bool is_whole = std::fread(sequence->requests.data(), sizeof(Request), head.requests,
                                   file.get()) == head.requests;
  return is_whole &&
         std::all_of(sequence->requests.begin(), sequence->requests.end(),
                     [&head](const Request& request) {
                       return request.block == Request::kStep ||
                              (request.block < head.blocks &&
                               (request.stream < head.streams || !request.IsAllocation()));
                     });
}

}  // namespace memtrace::bench
