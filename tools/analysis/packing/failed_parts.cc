// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/packing/failed_parts.h"

namespace memtrace::analysis {
namespace {

// The finalizer of SplitMix64 (Steele, Lea and Flood, 2014).
uint64_t Mix(uint64_t bits) {
  bits = (bits ^ (bits >> 30U)) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ (bits >> 27U)) * 0x94d049bb133111eb;
  return bits ^ (bits >> 31U);
}

}  // namespace

// The key is a sum over the items, because their order only decides what is tried first.
FailedParts::Key FailedParts::KeyOf(const OpenPart& part) {
  Key key;
  for (const OpenItem& item : part) {
    const uint64_t which = 2 * uint64_t{item.index} + (item.is_barred ? 1 : 0);
    key.first += Mix(Mix(which + 0x9e3779b97f4a7c15) + item.low);
    key.second += Mix(Mix(which + 0xd1b54a32d192ed03) ^ item.low);
  }
  return key;
}

}  // namespace memtrace::analysis
