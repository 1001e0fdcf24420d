// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_HOST_VALUES_DISPATCH_KEYS_H_
#define MEMTRACE_INTERPOSE_TORCH_HOST_VALUES_DISPATCH_KEYS_H_

#include <c10/core/DispatchKey.h>

namespace memtrace::shim {

// The places in torch's dispatcher that host values use. In 2.11 nothing else uses them; 2.15 has
// machinery for fake tensors in C++ at the first (TensorImpl::is_fake) and registers nothing there.
// The first is below autograd, autocast and vmap and above the backends (Python's modes are below
// it in 2.11, above in 2.15), where the operators are that do the work.
inline constexpr c10::DispatchKey kLeafKey = c10::DispatchKey::Fake;
// Above everything: for the few composite operators with a rule (isfinite), which are decomposed
// before they reach the leaf key.
inline constexpr c10::DispatchKey kCompositeKey = c10::DispatchKey::TESTING_ONLY_GenericMode;

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_HOST_VALUES_DISPATCH_KEYS_H_
