// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_INTERCHANGE_WRITERS_FLAME_WRITERS_H_
#define MEMTRACE_TOOLS_INTERCHANGE_WRITERS_FLAME_WRITERS_H_

#include "tools/interchange/writers/rows/byte_sink.h"
#include "tools/interchange/writers/rows/exported_run.h"

namespace memtrace::interchange {

// Write what is alive at each card's peak, as flame graphs: requested bytes by stack, outermost
// frame first, below the role (and, with several cards, the card). Text that cannot stand in a
// frame of the collapsed form (';', line ends) is replaced by '_'.
void WriteCollapsed(const ExportedRun& run, ByteSink& sink);
void WriteSpeedscope(const ExportedRun& run, ByteSink& sink);

// Writes a profile.proto, compressed with gzip: inuse_space and inuse_objects at each card's peak,
// alloc_space and alloc_objects of the whole trace. Labels: card, role, role_known, owner, module.
void WritePprof(const ExportedRun& run, ByteSink& sink);

}  // namespace memtrace::interchange

#endif  // MEMTRACE_TOOLS_INTERCHANGE_WRITERS_FLAME_WRITERS_H_
