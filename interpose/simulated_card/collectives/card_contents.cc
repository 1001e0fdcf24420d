// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/collectives/card_contents.h"

#include <algorithm>
#include <string>
#include <utility>

#include "interpose/simulated_card/collectives/virtual_ranks.h"
#include "interpose/simulated_card/interface/card_ranges.h"

namespace memtrace::card {
namespace {

// Each pass handles one run of equally known bytes.
void SetKnown(const DeviceRange& taken, const std::string& known) {
  for (std::size_t begin = 0; begin < taken.bytes;) {
    const std::size_t end = std::min(known.find_first_not_of(known[begin], begin),
                                     static_cast<std::size_t>(taken.bytes));
    memtrace_card_set_known(taken.begin + begin, end - begin, known[begin]);
    begin = end;
  }
}

}  // namespace

Part ReadFromCard(const CollectiveCall& call) {
  const auto& [begin, bytes] = call.given;
  Part part = {.call = call.name,
               .size = call.size,
               .held = false,
               .bytes = call.told,
               .known = std::string(call.told.size(), MEMTRACE_CARD_KNOWN)};
  if (bytes == 0 || bytes > MostExchangedBytes(call.communicator->real)) return part;
  std::string contents(bytes, '\0');
  part.held = memtrace_card_read(begin, bytes, contents.data()) == 1;
  if (!part.held) return part;
  part.bytes = std::move(contents);
  part.known.resize(bytes);
  memtrace_card_read_known(begin, bytes, part.known.data());
  return part;
}

void WriteToCard(const DeviceRange& taken, const Part& part) {
  if (taken.bytes == 0) return;
  const bool written = part.held && part.bytes.size() == taken.bytes &&
                       memtrace_card_write(taken.begin, taken.bytes, part.bytes.data()) == 1;
  if (!written) return memtrace_card_set_known(taken.begin, taken.bytes, MEMTRACE_CARD_UNKNOWN);
  SetKnown(taken, part.known);
}

void KeepAsAssumed(const DeviceRange& taken) {
  if (taken.bytes == 0) return;
  if (taken.bytes > Part::kMostBytes)
    return memtrace_card_set_known(taken.begin, taken.bytes, MEMTRACE_CARD_UNKNOWN);
  Part part;
  part.known.resize(taken.bytes);
  memtrace_card_read_known(taken.begin, taken.bytes, part.known.data());
  Assume(&part);
  SetKnown(taken, part.known);
}

}  // namespace memtrace::card
