// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FIT_NEEDS_HOLDER_H_
#define MEMTRACE_TOOLS_FIT_NEEDS_HOLDER_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace memtrace::fit {

// The bytes of one role, at one place or at several, that are most of a card.
struct Holder {
  std::string name = {};  // the role and its place with the most: "activation, model.layers.*.mlp"
  uint64_t bytes = 0;     // at all `places`
  uint64_t places = 0;    // 1: the named one alone; 0: nothing is held
};

// Adds up bytes by role and by place.
//
// The role counts before the place: the parts of an nn.Sequential are a place each, so the
// activations of 12 layers of 100 MiB would lose to one block of 150 MiB if each was looked at by
// itself.
class HolderSums {
 public:
  void Add(std::string_view role, std::string_view place, uint64_t bytes);

  // Returns the role with the most bytes, with all its places. If one place has at least half of
  // them, and no other role has more than that place, returns this place alone.
  Holder Largest() const;

 private:
  struct Sum {
    uint64_t bytes = 0;
    std::map<std::string, uint64_t, std::less<>> places = {};
  };

  // Returns the most bytes of a role other than this one.
  uint64_t MostWithout(const std::string& role) const;

  std::map<std::string, Sum, std::less<>> roles_;
};

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_NEEDS_HOLDER_H_
