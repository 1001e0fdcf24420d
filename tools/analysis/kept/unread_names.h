// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_KEPT_UNREAD_NAMES_H_
#define MEMTRACE_TOOLS_ANALYSIS_KEPT_UNREAD_NAMES_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/analysis/replayed/captures.h"
#include "tools/analysis/replayed/live_set.h"
#include "tools/analysis/source/event_source.h"
#include "tools/analysis/source/position.h"
#include "tools/analysis/source/storage_places.h"

namespace memtrace::analysis {

// A name that alone held blocks and was not read again before it got another value, as a look of
// the hooks found it (the annotation names.unread, profiler/trace/format.md).
struct UnreadName {
  std::string name;
  std::string function;  // "<module>" for a global one
  std::string file;
  uint32_t line = 0;  // that the function was at
  std::vector<StoragePlace> storages;
  bool is_replaced = false;      // the line gives it its next value, once the call is over
  bool is_read_by_line = false;  // the statement that runs has read it
  bool is_cached = false;        // the name is of a function whose functools.lru_cache holds it
};

// Parses the text of such a look; lines of another form are skipped.
std::vector<UnreadName> ParseUnreadNames(std::string_view text);

// The blocks that such a name still held at a moment.
struct UnreadValue {
  std::string name;
  std::string place;    // the line that the function was at: "train.py:29"
  std::string made_at;  // the line of the same function that made most of it; may be empty
  uint64_t bytes = 0;
  uint64_t blocks = 0;
  uint64_t step = 0;             // of birth, of most of it
  bool is_earlier = false;       // the line that made it was making the next value
  bool is_read_by_line = false;  // `place` has read it already
  bool is_cached = false;  // the cache of the function `name`, which begins at `place`, holds it
};

// The moment for which values are looked up.
struct ValueQuestion {
  const std::vector<CapturedBlock>& captured;
  const LiveSet& live;
  const EventSource& source;
  Position at;
  const std::vector<trace::Frame>& request_stack;  // empty without a failed request
};

// Records the looks in a trace and finds which blocks of the latest one before a moment are then
// alive.
class UnreadNames {
 public:
  explicit UnreadNames(const EventSource& source) : source_(source) {}

  // Takes the events of the first reading, with their ordinals.
  void See(const trace::Event& event, uint64_t ordinal);
  // Finds the blocks of the latest look before the moment of `device`, during the second reading.
  void LookUp(int32_t device, uint64_t ordinal, Captures& captures);
  // Returns the values, largest first. REQUIRES: the second reading is over.
  std::vector<UnreadValue> Values(int32_t device, const ValueQuestion& question) const;

 private:
  struct Found {
    UnreadName name;
    std::vector<std::pair<BlockId, uint64_t>> blocks;  // with their sequence numbers
  };

  const EventSource& source_;
  std::map<uint64_t, trace::StringId> looks_;  // by ordinal
  std::map<int32_t, std::vector<Found>> found_;
};

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_KEPT_UNREAD_NAMES_H_
