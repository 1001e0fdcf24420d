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

// The clues that a stack gives to the moment at which it was taken.
struct StackClues {
  std::optional<trace::Phase> phase;
  trace::Role role = trace::Role::kUnknown;  // of a long-lived block that is allocated here
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
  // The most lists and frames that are kept: some 20 MiB each, beside 9 bytes for each list or dict
  // of the pickle.
  static constexpr size_t kMostKept = size_t{1} << 18U;

  // `tree` outlives this, and is complete.
  explicit StackReader(const PickleTree& tree)
      : tree_(tree),
        frames_(tree.containers().count()),
        clues_(tree.containers().count()),
        noted_(tree.containers().count()) {}

  // Returns the clues of a stack, which are valid until the next call.
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
  // Notes that a file which is called from torch's modules or optimizers is one of theirs.
  void NoteFile(const InnerFrame& inner, FrameMark caller);
  Frame ReadFrame(PickleValue frame) const;

  const PickleTree& tree_;
  // The known facts of lists or dicts of the pickle, by their payload.
  template <typename T>
  class Known {
   public:
    explicit Known(size_t payloads) : places_(payloads) {}
    // Returns the fact, made with `read` if it is new. It is valid until kMostKept more were made.
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
  std::vector<uint8_t> noted_;  // what its file is known to be, by the frame's payload
};

}  // namespace memtrace::interchange

#endif  // MEMTRACE_TOOLS_INTERCHANGE_STACK_READER_H_
