// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_SOURCE_EVIDENCE_H_
#define MEMTRACE_TOOLS_ANALYSIS_SOURCE_EVIDENCE_H_

#include <cstdint>
#include <string_view>

namespace memtrace::analysis {

// The evidence for a role, from least to most sure (docs/reference/report.md).
enum class Evidence : uint8_t {
  kNone,    // the role is unknown
  kFrames,  // guessed: phases are read off stacks
  kPhase,   // inferred from a phase that hooks stated, and the lifetime
  kStated,  // a hook said so
};

// Returns "unknown", "guessed", "inferred" or "stated".
constexpr std::string_view EvidenceName(Evidence evidence) {
  switch (evidence) {
    case Evidence::kNone:
      return "unknown";
    case Evidence::kFrames:
      return "guessed";
    case Evidence::kPhase:
      return "inferred";
    case Evidence::kStated:
      return "stated";
  }
  return "unknown";
}

// Bytes by the evidence for their role; those of unknown role are the rest.
struct KnownBytes {
  uint64_t stated = 0;
  uint64_t inferred = 0;
  uint64_t guessed = 0;

  void Add(Evidence evidence, uint64_t bytes) {
    if (evidence == Evidence::kStated) stated += bytes;
    if (evidence == Evidence::kPhase) inferred += bytes;
    if (evidence == Evidence::kFrames) guessed += bytes;
  }
  void Add(const KnownBytes& other) {
    stated += other.stated;
    inferred += other.inferred;
    guessed += other.guessed;
  }
};

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_SOURCE_EVIDENCE_H_
