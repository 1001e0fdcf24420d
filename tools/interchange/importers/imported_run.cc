// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/interchange/importers/imported_run.h"

#include "tools/interchange/importers/kineto_profile.h"
#include "tools/interchange/importers/rmm_log.h"

namespace memtrace::interchange {

std::vector<trace::Frame> ImportedNames::Frames(trace::StackId id) const {
  std::vector<trace::Frame> frames;
  if (id == 0) return frames;
  for (const trace::FrameNames& frame : stacks_.Frames(id)) {
    frames.push_back(
        {std::string(Text(frame.file)), std::string(Text(frame.function)), frame.line});
  }
  return frames;
}

const std::vector<ImportFormat>& ImportFormats() {
  static const auto* formats = new std::vector<ImportFormat>{
      {"torch.profiler's JSON", IsKinetoProfile, OpenKinetoProfile},
      {"an RMM log", IsRmmLog, OpenRmmLog},
  };
  return *formats;
}

const ImportFormat* RecogniseFormat(std::string_view beginning) {
  for (const ImportFormat& format : ImportFormats()) {
    if (format.recognises(beginning)) return &format;
  }
  return nullptr;
}

}  // namespace memtrace::interchange
