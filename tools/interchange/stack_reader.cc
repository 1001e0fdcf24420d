// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/interchange/stack_reader.h"

#include "tools/analysis/source/frame_rules.h"
#include "tools/interchange/snapshot_frame.h"

namespace memtrace::interchange {
namespace {

using trace::Phase;
using trace::Role;

constexpr uint8_t kModuleFile = 1;
constexpr uint8_t kOptimizerFile = 2;

// Takes a stack's frames from the innermost on. The innermost frames say what is being done, and
// those around them say why: a module that is called within a backward is a checkpoint's.
class ClueCollector {
 public:
  void Add(FrameMark mark) {
    clues_.has_frames = true;
    if (mark == FrameMark::kNative) {
      clues_.has_native = true;
      return;
    }
    if (mark != FrameMark::kPython) {  // most are
      AddPhase(mark);
      AddRole(mark);
    }
    switch (mark) {
      case FrameMark::kWorkspace:
        clues_.has_native = true;
        return;
      case FrameMark::kBackward:
        break;  // of C++, or of Python
      case FrameMark::kZeroGrad:
        clues_.clears_gradients = true;
        [[fallthrough]];
      default:
        clues_.has_python = true;
        clues_.is_of_program = mark == FrameMark::kProgram;
        root_ = mark;
    }
  }

  StackClues Finish() {
    if (root_ == FrameMark::kBackwardIfRoot) AddPhase(FrameMark::kBackward);
    return clues_;
  }

 private:
  void AddPhase(FrameMark mark) {
    std::optional<Phase>& phase = clues_.phase;
    switch (mark) {
      case FrameMark::kModuleCall:
        // Only what is around the outermost call says how the model is used.
        clues_.in_module_call = true;
        if (!phase || *phase == Phase::kEvaluate || *phase == Phase::kGenerate)
          phase = Phase::kForward;
        return;
      case FrameMark::kRecomputation:
        if (!phase || *phase == Phase::kForward) phase = Phase::kRecompute;
        return;
      case FrameMark::kBackward:
        if (!phase) phase = Phase::kBackward;
        if (*phase == Phase::kForward) phase = Phase::kRecompute;
        return;
      case FrameMark::kOptimizer:
      case FrameMark::kOptimizerState:
        if (!phase) phase = Phase::kOptimizer;
        return;
      case FrameMark::kNoGrad:
        if (phase == Phase::kForward) phase = Phase::kEvaluate;
        return;
      case FrameMark::kGenerate:
        if (phase == Phase::kForward || phase == Phase::kEvaluate) phase = Phase::kGenerate;
        return;
      default:
        return;
    }
  }

  void AddRole(FrameMark mark) {
    if (clues_.role != Role::kUnknown) return;
    // Frames inside a call of a module say what its memory is, frames around it do not.
    if (clues_.phase && mark != FrameMark::kOptimizerState) return;
    switch (mark) {
      case FrameMark::kModelBuilding:
        clues_.role = Role::kParameter;
        return;
      case FrameMark::kOptimizerState:
        clues_.role = Role::kOptimizerState;
        return;
      case FrameMark::kKvCache:
        clues_.role = Role::kKvCache;
        return;
      case FrameMark::kWorkspace:
        clues_.role = Role::kWorkspace;
        return;
      default:
        return;
    }
  }

  StackClues clues_;
  FrameMark root_ = FrameMark::kNative;  // the outermost of Python
};

}  // namespace

const StackClues& StackReader::Read(PickleValue frames) {
  if (tree_.Size(frames) == 0) return none_;
  return clues_.At(frames.payload(), [&] { return ReadFrames(frames); });
}

StackClues StackReader::ReadFrames(PickleValue frames) {
  ClueCollector collector;
  InnerFrame inner;
  std::string_view constructor_file;
  tree_.ForEach(frames, [&](PickleValue value) {
    if (!value.is_dict()) return;
    const Frame& frame = frames_.At(value.payload(), [&] { return ReadFrame(value); });
    collector.Add(frame.mark);
    if (frame.mark == FrameMark::kNative || frame.mark == FrameMark::kWorkspace) return;
    const bool is_own = frame.mark == FrameMark::kPython;
    if (is_own && frame.is_constructor && constructor_file.empty()) constructor_file = frame.file;
    if (!inner.file.empty()) NoteFile(inner, frame.mark);
    inner = is_own ? InnerFrame{value.payload(), frame.file} : InnerFrame();
  });
  StackClues clues = collector.Finish();
  clues.constructor_file = constructor_file;
  return clues;
}

void StackReader::NoteFile(const InnerFrame& inner, FrameMark caller) {
  const bool by_module = caller == FrameMark::kModuleCall;
  if (!by_module && caller != FrameMark::kOptimizer) return;
  const uint8_t kind = by_module ? kModuleFile : kOptimizerFile;
  uint8_t& noted = noted_[inner.payload];
  if ((noted & kind) != 0) return;
  noted |= kind;
  (by_module ? module_files_ : optimizer_files_).insert(inner.file);
}

Role StackReader::RoleOf(const StackClues& clues) const {
  if (clues.role != Role::kUnknown || clues.phase || clues.constructor_file.empty())
    return clues.role;
  const bool of_module = module_files_.contains(clues.constructor_file);
  const bool of_optimizer = optimizer_files_.contains(clues.constructor_file);
  if (of_module == of_optimizer) return Role::kUnknown;
  return of_module ? Role::kParameter : Role::kOptimizerState;
}

StackReader::Frame StackReader::ReadFrame(PickleValue value) const {
  const SnapshotFrame read = ReadSnapshotFrame(tree_, value);
  return {MarkOf(read.file, read.function), read.file,
          analysis::BareFunction(read.function) == "__init__"};
}

}  // namespace memtrace::interchange
