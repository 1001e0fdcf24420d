// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_INTERCHANGE_STACK_READER_H_
#define MEMTRACE_TOOLS_INTERCHANGE_STACK_READER_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "profiler/trace/events/event.h"
#include "tools/interchange/frame_marks.h"
#include "tools/interchange/paged_vector.h"
#include "tools/interchange/pickle_tree.h"

namespace memtrace::interchange {

// What a stack gives away of the moment it was taken at.
struct StackClues {
  std::optional<trace::Phase> phase;
  trace::Role role = trace::Role::kUnknown;  // of what lives on, if it is allocated here
  bool has_frames = false;
  bool has_python = false;
  bool has_native = false;
  bool is_of_program = false;  // a thread of Python's, not one of autograd's that calls Python
  bool clears_gradients = false;
  bool in_module_call = false;
  std::string_view constructor_file;  // of the innermost __init__ that is no library's
};

// Reads the frame lists of a snapshot, each once (if it has no more than kMostKept).
class StackReader {
 public:
  // At most so many lists and frames are kept: some 20 MiB each, beside 9 bytes for each list or
  // dict of the pickle.
  static constexpr size_t kMostKept = size_t{1} << 18U;

  // `tree` outlives this, and is whole.
  explicit StackReader(const PickleTree& tree)
      : tree_(tree),
        frames_(tree.containers().count()),
        clues_(tree.containers().count()),
        noted_(tree.containers().count()) {}

  // Valid until the next call.
  const StackClues& Read(PickleValue frames);

  // Returns the role of a long-lived block allocated at this stack: by the stack itself, else by
  // what is known of the constructor's file from the stacks read so far (modules are called,
  // optimizers step).
  trace::Role RoleOf(const StackClues& clues) const;

 private:
  struct Frame {
    FrameMark mark = FrameMark::kNative;
    std::string_view file;
    bool is_constructor = false;
  };
  // A frame within another one, if it is no library's.
  struct InnerFrame {
    uint64_t payload = 0;
    std::string_view file;
  };
  using Files = absl::flat_hash_set<std::string_view>;

  StackClues ReadFrames(PickleValue frames);
  // What is called from torch's modules or optimizers is a file of theirs.
  void NoteFile(const InnerFrame& inner, FrameMark caller);
  Frame ReadFrame(PickleValue frame) const;

  const PickleTree& tree_;
  // What is known of a list or dict of the pickle, by its payload.
  template <typename T>
  class Known {
   public:
    explicit Known(size_t payloads) : places_(payloads) {}
    // Made with `read` if it is new. Valid until kMostKept more were.
    template <typename Read>
    const T& At(uint64_t payload, const Read& read) {
      if (places_[payload] == 0) {
        if (kept_.size() >= kMostKept) Forget();
        T made = read();
        kept_.push_back(std::move(made));
        places_[payload] = static_cast<uint32_t>(kept_.size());
      }
      return kept_[places_[payload] - 1];
    }

   private:
    void Forget() {
      std::fill(places_.begin(), places_.end(), 0);
      kept_.Clear();
    }

    std::vector<uint32_t> places_;  // in kept_, plus 1; 0: new
    PagedVector<T> kept_;
  };

  Known<Frame> frames_;
  Known<StackClues> clues_;
  StackClues none_;
  Files module_files_;
  Files optimizer_files_;
  std::vector<uint8_t> noted_;  // of what its file is known to be, by the frame's payload
};

}  // namespace memtrace::interchange

#endif  // MEMTRACE_TOOLS_INTERCHANGE_STACK_READER_H_
