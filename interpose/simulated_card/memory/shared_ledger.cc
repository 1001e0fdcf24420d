// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/memory/shared_ledger.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdio>
#include <utility>

#include "base/mutex.h"

namespace memtrace::card {
namespace {

std::atomic<SharedLedger*> of_process = nullptr;  // the one to handle at a fork

// Process numbers are reused, so the file that the path names now must be checked before it is
// used.
bool IsLedger(const std::string& path) {
  char target[PATH_MAX];
  const ssize_t length = readlink(path.c_str(), target, sizeof(target));
  return length > 0 && std::string_view(target, static_cast<std::size_t>(length))
                           .starts_with("/memfd:memtrace-card");
}

}  // namespace

// The lock for all changes, placed behind those of the slots. The object's own mutex is also held,
// because to the kernel all threads of a process are one owner.
class SharedLedger::Exclusive {
 public:
  explicit Exclusive(const SharedLedger& ledger) : ledger_(ledger) {
    Lock(ledger_.descriptor_, kSlots, F_WRLCK, /*wait=*/true);
  }
  ~Exclusive() { Lock(ledger_.descriptor_, kSlots, F_UNLCK, /*wait=*/false); }
  Exclusive(const Exclusive&) = delete;
  Exclusive& operator=(const Exclusive&) = delete;

 private:
  const SharedLedger& ledger_;
};

SharedLedger::SharedLedger(std::string path) : path_(std::move(path)) {
  static const int kRegistered = pthread_atfork(BeforeFork, AfterForkInParent, AfterForkInChild);
  SharedLedger* none = nullptr;
  if (kRegistered == 0) of_process.compare_exchange_strong(none, this);
}

SharedLedger::~SharedLedger() {
  SharedLedger* self = this;
  of_process.compare_exchange_strong(self, nullptr);
  Leave();
}

void SharedLedger::BeforeFork() ABSL_NO_THREAD_SAFETY_ANALYSIS {
  if (SharedLedger* ledger = of_process) ledger->mutex_.Lock();
}

void SharedLedger::AfterForkInParent() ABSL_NO_THREAD_SAFETY_ANALYSIS {
  if (SharedLedger* ledger = of_process) ledger->mutex_.Unlock();
}

// The inherited descriptor carries the parent's lock on its slot: as long as the child had it open,
// the parent would not appear dead.
void SharedLedger::AfterForkInChild() ABSL_NO_THREAD_SAFETY_ANALYSIS {
  SharedLedger* ledger = of_process;
  if (ledger == nullptr) return;
  ledger->Leave();
  ledger->has_tried_ = false;
  ledger->mutex_.Unlock();
}

void SharedLedger::Leave() {
  if (contents_ != nullptr) munmap(contents_, sizeof(Contents));
  if (descriptor_ >= 0) close(descriptor_);
  contents_ = nullptr;
  descriptor_ = -1;
  for (const auto& [descriptor, slot] : lent_slots_) close(descriptor);
  lent_slots_.clear();
  lent_ = {};
}

// These locks belong to the open file, not to the process ("OFD" in fcntl(2)): they end with its
// last descriptor, and one may lie anywhere, even behind the end of the file.
bool SharedLedger::Lock(int descriptor, std::size_t place, short type, bool wait) {
  struct flock lock = {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<off_t>(sizeof(Contents) + place);
  lock.l_len = 1;
  int result = 0;
  do {  // a signal handler of the program's may end the wait
    result = fcntl(descriptor, wait ? F_OFD_SETLKW : F_OFD_SETLK, &lock);
  } while (result != 0 && errno == EINTR);
  return result == 0;
}

bool SharedLedger::IsLockedByAnother(std::size_t place) const {
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<off_t>(sizeof(Contents) + place);
  lock.l_len = 1;
  return fcntl(descriptor_, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

bool SharedLedger::Open() {
  if (!IsLedger(path_)) return false;
  descriptor_ = open(path_.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor_ < 0 || ftruncate(descriptor_, sizeof(Contents)) != 0) return false;
  void* mapped =
      mmap(nullptr, sizeof(Contents), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
  if (mapped == MAP_FAILED) return false;
  contents_ = static_cast<Contents*>(mapped);
  return true;
}

// Takes a slot for as long as this open file exists. REQUIRES: the exclusive lock.
std::optional<std::size_t> SharedLedger::TakeSlot(int descriptor) {
  for (std::size_t slot = 0; slot < kSlots; ++slot) {
    if (!Lock(descriptor, slot, F_WRLCK, /*wait=*/false)) continue;
    for (auto& held : contents_->slots[slot]) held = 0;
    contents_->processes[slot] = static_cast<std::uint32_t>(getpid());
    contents_->used_slots = std::max<std::uint64_t>(contents_->used_slots, slot + 1);
    return slot;
  }
  return std::nullopt;
}

// Locks belong to the open file, so a lock that lives longer or shorter than this process's needs
// another one.
int SharedLedger::Reopen() const {
  const std::string self = "/proc/self/fd/" + std::to_string(descriptor_);
  return open(self.c_str(), O_RDWR | O_CLOEXEC);
}

bool SharedLedger::Join() {
  if (std::exchange(has_tried_, true)) return contents_ != nullptr;
  std::optional<std::size_t> slot;
  if (Open()) {
    const Exclusive exclusive(*this);
    slot = TakeSlot(descriptor_);
  }
  slot_ = slot.value_or(0);
  if (!slot.has_value()) {
    Leave();
    std::fprintf(stderr,
                 "memtrace: the cards' ledger %s cannot be joined: this process does not see what "
                 "others hold on its cards; start all of them by one memtrace run\n",
                 path_.c_str());
  }
  return contents_ != nullptr;
}

// Also clears slots of dead processes. REQUIRES: the exclusive lock.
std::uint64_t SharedLedger::SumOfOthers(std::size_t card) {
  std::uint64_t sum = 0;
  for (std::size_t slot = 0; slot < contents_->used_slots; ++slot) {
    const std::uint64_t held = contents_->slots[slot][card];
    if (held == 0 || slot == slot_) continue;
    if (IsLockedByAnother(slot)) {
      sum += held;
    } else {
      for (auto& left : contents_->slots[slot]) left = 0;
    }
  }
  return sum - lent_[card];
}

std::optional<std::uint64_t> SharedLedger::Hold(std::size_t card, std::uint64_t bytes,
                                                std::uint64_t room) {
  const MutexLock lock(mutex_);
  if (!Join()) return bytes <= room ? std::optional<std::uint64_t>(0) : std::nullopt;
  const Exclusive exclusive(*this);
  const std::uint64_t others = SumOfOthers(card);
  std::atomic<std::uint64_t>& own = contents_->slots[slot_][card];
  const bool fits = others <= room && bytes <= room - others;
  if (!fits && bytes > own + lent_[card]) return std::nullopt;
  own = bytes - lent_[card];
  return others;
}

int SharedLedger::Lend(const SharedMemoryRecord& record) {
  const MutexLock lock(mutex_);
  if (!Join()) return -1;
  const int descriptor = Reopen();
  if (descriptor < 0) return -1;
  const Exclusive exclusive(*this);
  const std::optional<std::size_t> slot = TakeSlot(descriptor);
  const auto place = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const auto* base = reinterpret_cast<const std::byte*>(contents_);
    const auto* at = reinterpret_cast<const std::byte*>(&contents_->records[*slot]);
    return PlaceRecord(descriptor, static_cast<std::uint64_t>(at - base), record);
  };
  if (!slot.has_value() || !place()) {
    close(descriptor);
    return -1;
  }
  contents_->slots[*slot][record.card] = record.bytes;
  contents_->slots[slot_][record.card] -= record.bytes;
  lent_[record.card] += record.bytes;
  lent_slots_.emplace(descriptor, *slot);
  return descriptor;
}

bool SharedLedger::Reclaim(const SharedMemoryRecord& record, int descriptor) {
  const MutexLock lock(mutex_);
  const auto lent = lent_slots_.find(descriptor);
  if (lent == lent_slots_.end()) return false;  // lent before a fork, by the parent
  const std::size_t slot = lent->second;
  lent_slots_.erase(lent);
  close(descriptor);
  lent_[record.card] -= record.bytes;
  return !IsLockedByAnother(slot);
}

std::uint64_t SharedLedger::HeldByOthers(std::size_t card) {
  const MutexLock lock(mutex_);
  if (!Join()) return 0;
  const Exclusive exclusive(*this);
  return SumOfOthers(card);
}

// Includes the slots of lent memory, which this process still holds.
bool SharedLedger::IsOwn(std::size_t slot) const {
  return slot == slot_ || std::any_of(lent_slots_.begin(), lent_slots_.end(),
                                      [&](const auto& lent) { return lent.second == slot; });
}

std::vector<ProcessMemory> SharedLedger::OtherProcesses(std::size_t card) {
  std::vector<ProcessMemory> others;
  const MutexLock lock(mutex_);
  if (!Join()) return others;
  const Exclusive exclusive(*this);
  for (std::size_t slot = 0; slot < contents_->used_slots; ++slot) {
    const ProcessMemory holds = {contents_->processes[slot], contents_->slots[slot][card]};
    if (holds.bytes == 0 || IsOwn(slot) || !IsLockedByAnother(slot)) continue;
    const auto known = std::find_if(others.begin(), others.end(), [&](const ProcessMemory& other) {
      return other.process == holds.process;
    });
    if (known == others.end()) {
      others.push_back(holds);
    } else {
      known->bytes += holds.bytes;
    }
  }
  return others;
}

}  // namespace memtrace::card
