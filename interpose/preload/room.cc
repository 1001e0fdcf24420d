// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/preload/room.h"

namespace memtrace::preload {

bool MakeRoom(memtrace_room_from from, const memtrace_outside& request) {
  const KeptErrno kept;
  const Core* core = StartedCore();
  if (core == nullptr) return false;
  const memtrace_room wanted{.size = sizeof(wanted),
                             .device = request.device,
                             .bytes = request.bytes,
                             .stream = request.stream,
                             .from = from,
                             .kind = request.kind,
                             .caller = request.caller};
  return core->make_room(&wanted) > 0;
}

}  // namespace memtrace::preload
