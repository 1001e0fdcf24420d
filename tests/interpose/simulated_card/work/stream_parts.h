// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TESTS_INTERPOSE_SIMULATED_CARD_WORK_STREAM_PARTS_H_
#define MEMTRACE_TESTS_INTERPOSE_SIMULATED_CARD_WORK_STREAM_PARTS_H_

#include "interpose/simulated_card/work/captures.h"
#include "interpose/simulated_card/work/events.h"
#include "interpose/simulated_card/work/graph_execs.h"
#include "interpose/simulated_card/work/graphs.h"
#include "interpose/simulated_card/work/progress.h"
#include "interpose/simulated_card/work/stream_table.h"
#include "interpose/simulated_card/work/streams.h"

namespace memtrace::card {

// The parts of Machine for streams, without the memory of cards.
struct StreamParts {
  explicit StreamParts(int devices, const EventTiming& timing = {},
                       const Listening* listening = nullptr)
      : progress(timing),
        table(devices, progress),
        captures(progress, table, graphs),
        streams(progress, table, captures, listening),
        events(progress, table, captures) {}

  Graphs graphs;
  GraphExecs graph_execs{graphs};
  Progress progress;
  StreamTable table;
  Captures captures;
  Streams streams;
  Events events;
};

}  // namespace memtrace::card

#endif  // MEMTRACE_TESTS_INTERPOSE_SIMULATED_CARD_WORK_STREAM_PARTS_H_
