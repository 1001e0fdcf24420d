// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/cards/movable_scopes.h"

#include <vector>

namespace memtrace {
namespace {

thread_local std::vector<MovableOwner> owners;

}  // namespace

void MovableScopes::Push(uint32_t name) {
  is_used.store(true, std::memory_order_relaxed);
  owners.push_back(MovableOwner{name});
}

void MovableScopes::Pop() {
  if (!owners.empty()) owners.pop_back();
}

MovableOwner MovableScopes::OfThread() { return owners.empty() ? MovableOwner{} : owners.back(); }

}  // namespace memtrace
