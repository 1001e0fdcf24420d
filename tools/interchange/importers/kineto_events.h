// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_INTERCHANGE_IMPORTERS_KINETO_EVENTS_H_
#define MEMTRACE_TOOLS_INTERCHANGE_IMPORTERS_KINETO_EVENTS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>

#include "absl/status/status.h"

namespace memtrace::interchange {

// A "[memory]" instant of a card.
struct KinetoMemory {
  uint64_t time_ns = 0;
  uint64_t thread = 0;
  int32_t device = 0;
  uint64_t address = 0;  // 0: the file does not say it
  int64_t bytes = 0;     // less than 0: freed
  uint64_t reserved = 0;
  uint64_t allocated = 0;
};

// Something that lasts: a Python function, an operator, or a step of the profiler.
struct KinetoSlice {
  enum class Kind : uint8_t { kPython, kOperator, kStep };
  Kind kind = Kind::kPython;
  uint64_t begin_ns = 0;
  uint64_t end_ns = 0;
  uint64_t thread = 0;
  std::string_view name;  // valid during the visit
};

// Facts of the file that are not events.
struct KinetoFacts {
  std::string rank;
  uint64_t base_ns = 0;        // that the times are counted from; 0: not said
  uint64_t other_devices = 0;  // memory events of the host
};

using KinetoEvent = std::variant<KinetoMemory, KinetoSlice>;

// Visits the events that say something of memory, in the order of the file. Returns
// kInvalidArgument, with the byte, if the text there is not JSON, or no profile; all that stands
// before has been visited.
absl::Status ForEachKinetoEvent(std::string_view bytes, KinetoFacts& facts,
                                const std::function<void(const KinetoEvent&)>& visit);

}  // namespace memtrace::interchange

#endif  // MEMTRACE_TOOLS_INTERCHANGE_IMPORTERS_KINETO_EVENTS_H_
