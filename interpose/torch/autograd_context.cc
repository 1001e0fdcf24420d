// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The only file here that includes autograd's headers, which take long to compile. Autograd itself
// notes in each node of its graph the thread and the number of the operation ("NOTE [ Sequence
// Number]" in torch/csrc/autograd/function.h), and numbers from
// at::RecordFunction::currentThreadId() are never used twice.
//
// Rejected: hooks on each node (they cost as much as small operations), an observer of all
// operations (a fifth of a small step; operation_uses.h has one for --spill with --cupti),
// c10::ThreadLocalDebugInfo (it reaches autograd's threads with what held when backward() was
// called, not when the operation ran forward).
#include "interpose/torch/autograd_context.h"

#include <ATen/SequenceNumber.h>
#include <ATen/record_function.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/function.h>

#include "interpose/core/memtrace.h"

namespace memtrace::shim {
namespace {

void Running(uint64_t* thread, uint64_t* sequence) {
  const auto node = torch::autograd::get_current_node();
  *thread = node != nullptr ? node->thread_id() : 0;
  *sequence = node != nullptr ? node->sequence_nr() : 0;
}

void Next(uint64_t* thread, uint64_t* sequence) {
  *thread = at::RecordFunction::currentThreadId();
  *sequence = at::sequence_number::peek();
}

int IsRecording() { return c10::GradMode::is_enabled() ? 1 : 0; }

}  // namespace

void FollowAutograd() {
  memtrace_operations operations{};
  operations.size = sizeof(operations);
  operations.running = &Running;
  operations.next = &Next;
  operations.is_recording = &IsRecording;
  memtrace_set_operations(&operations);
}

}  // namespace memtrace::shim
