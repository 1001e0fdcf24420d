// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/memory/backing_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>

#include "base/mutex.h"
#include "interpose/simulated_card/memory/host_refusals.h"

namespace memtrace::card {
namespace {

constexpr const char* kName = "memtrace-simulated-card";

// Offsets from here on are other processes' memory: our own file never grows this far.
constexpr std::uint64_t kFirstAttached = 1ull << 62;

// Large enough for few system calls, small enough for a stack; a multiple of every pattern.
constexpr std::size_t kBlock = 64u << 10;

// Beyond RLIMIT_FSIZE a write would end the process with SIGXFSZ. Offsets only grow, so any limit
// is reached at some time; if there is one, nothing is backed and every copy counts as dropped.
bool FileSizeIsLimited() {
  rlimit limit = {};
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

std::span<const std::byte> BlockAt(std::span<const std::byte> bytes, std::size_t begin) {
  return bytes.subspan(begin, std::min(kBlock, bytes.size() - begin));
}

// Compares a block with itself, shifted by one, which is one fast memcmp.
bool IsZero(std::span<const std::byte> block) {
  return block[0] == std::byte{0} &&
         std::memcmp(block.data(), block.data() + 1, block.size() - 1) == 0;
}

bool Refused(std::uint64_t bytes, int error) {
  WarnHostRefused(HostNeed::kContents, bytes, error);
  return false;
}

// Calls transfer(done, remaining) until all is moved; it returns the bytes that it moved, or less
// than 1.
template <typename Transfer>
bool TransferAll(std::size_t bytes, Transfer transfer) {
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t moved = transfer(done, bytes - done);
    if (moved > 0) {
      done += static_cast<std::size_t>(moved);
    } else if (moved == 0 || errno != EINTR) {
      return false;
    }
  }
  return true;
}

}  // namespace

BackingFile::BackingFile() : attached_end_(kFirstAttached) {}

BackingFile::~BackingFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

// The first copy opens the file, because many processes load the card and never use it.
int BackingFile::Descriptor() const {
  std::call_once(opened_, [this] {
    if (!FileSizeIsLimited()) descriptor_ = memfd_create(kName, MFD_CLOEXEC);
    open_error_ = FileSizeIsLimited() ? EFBIG : errno;
  });
  return descriptor_;
}

bool BackingFile::MakePrivate() {
  if (!written_) {
    // The file is not open, or it is open and empty: it is then closed and another one is opened
    // instead.
    const int empty = descriptor_ < 0 ? -1 : memfd_create(kName, MFD_CLOEXEC);
    if (descriptor_ >= 0) close(std::exchange(descriptor_, empty));
    return true;
  }
  const int copy = memfd_create(kName, MFD_CLOEXEC);
  if (copy < 0 || !CopyWrittenParts(descriptor_, copy)) {
    if (copy >= 0) close(copy);
    return false;
  }
  close(std::exchange(descriptor_, copy));
  return true;
}

// Holes are kept as holes.
bool BackingFile::CopyWrittenParts(int from, int to) {
  for (off_t data = lseek(from, 0, SEEK_DATA); data >= 0;) {
    const off_t end = lseek(from, data, SEEK_HOLE);
    off_t target = data;
    while (data < end) {
      const ssize_t moved =
          copy_file_range(from, &data, to, &target, static_cast<std::size_t>(end - data), 0);
      if (moved <= 0) return false;
    }
    data = lseek(from, end, SEEK_DATA);
  }
  return errno == ENXIO;  // there is no more data
}

std::uint64_t BackingFile::Extend(std::uint64_t bytes) {
  const MutexLock lock(mutex_);
  const std::uint64_t offset = end_;
  end_ += bytes;
  return offset;
}

bool BackingFile::Share(std::uint64_t offset, SharedMemoryRecord* record) {
  const Place place = Locate(offset);
  const int file = place.other != nullptr ? place.file : Descriptor();
  struct stat status = {};
  if (file < 0) return Refused(0, open_error_);
  if (fstat(file, &status) != 0) return false;
  written_ = true;  // any process that opens it may write
  record->process = getpid();
  record->descriptor = file;
  record->inode = status.st_ino;
  record->offset = place.offset;
  return true;
}

// All attached memory of a process shares one descriptor.
OpenFilePointer BackingFile::FileOf(const SharedMemoryRecord& record) {
  std::weak_ptr<const OpenFile>& known = others_[record.inode];
  OpenFilePointer file = known.lock();
  if (file == nullptr) known = file = OpenContents(record);
  return file;
}

std::optional<std::uint64_t> BackingFile::Attach(const SharedMemoryRecord& record) {
  const MutexLock lock(mutex_);
  const OpenFilePointer file = FileOf(record);
  if (file == nullptr) return std::nullopt;
  const std::uint64_t offset = attached_end_;
  attached_end_ += record.bytes;
  attached_.emplace(offset, Attached{.bytes = record.bytes, .offset = record.offset, .file = file});
  return offset;
}

void BackingFile::Detach(std::uint64_t offset) {
  const MutexLock lock(mutex_);
  attached_.erase(offset);
}

BackingFile::Place BackingFile::Locate(std::uint64_t offset) const {
  if (offset < kFirstAttached) {
    const bool written = written_;  // another thread may be about to write for the first time
    return {.file = written ? Descriptor() : -1,
            .offset = offset,
            .written = written,
            .other = nullptr};
  }
  const MutexLock lock(mutex_);
  const auto after = attached_.upper_bound(offset);
  const auto found = after == attached_.begin() ? attached_.end() : std::prev(after);
  const bool is_attached = found != attached_.end() && offset - found->first < found->second.bytes;
  if (!is_attached) return {.file = -1, .offset = offset, .written = true, .other = nullptr};
  const auto& [begin, attached] = *found;
  return {.file = attached.file->descriptor(),
          .offset = attached.offset + (offset - begin),
          .written = true,
          .other = attached.file};
}

bool BackingFile::Read(std::uint64_t offset, std::span<std::byte> to) const {
  const Place place = Locate(offset);
  if (!place.written) {
    if (!to.empty()) std::memset(to.data(), 0, to.size());
    return true;
  }
  if (place.file < 0) return false;
  const auto read_some = [&](std::size_t done, std::size_t remaining) -> ssize_t {
    const ssize_t moved =
        pread(place.file, to.data() + done, remaining, static_cast<off_t>(place.offset + done));
    if (moved != 0) return moved;
    // Nothing was ever written past the end of the file.
    std::memset(to.data() + done, 0, remaining);
    return static_cast<ssize_t>(remaining);
  };
  return TransferAll(to.size(), read_some);
}

bool BackingFile::Write(std::uint64_t offset, std::span<const std::byte> from) {
  // Uninitialized weights are GiB of zeros, so such runs become holes.
  for (std::size_t done = 0; done < from.size();) {
    const bool zero = IsZero(BlockAt(from, done));
    std::size_t end = done;
    while (end < from.size() && IsZero(BlockAt(from, end)) == zero)
      end += BlockAt(from, end).size();
    const bool ok = zero ? Clear({offset + done, end - done})
                         : WriteAll(offset + done, from.subspan(done, end - done));
    if (!ok) return false;
    done = end;
  }
  return true;
}

bool BackingFile::WriteAll(std::uint64_t offset, std::span<const std::byte> from) {
  if (Descriptor() < 0) return Refused(from.size(), open_error_);
  if (offset < kFirstAttached) written_ = true;
  const Place place = Locate(offset);
  if (place.file < 0) return false;
  const bool written = TransferAll(from.size(), [&](std::size_t done, std::size_t remaining) {
    return pwrite(place.file, from.data() + done, remaining,
                  static_cast<off_t>(place.offset + done));
  });
  return written || Refused(from.size(), errno);
}

bool BackingFile::Fill(const Extent& range, std::span<const std::byte> pattern) {
  std::array<std::byte, kBlock> block;
  const std::size_t filled =
      static_cast<std::size_t>(std::min<std::uint64_t>(range.bytes, block.size()));
  for (std::size_t at = 0; at < filled; at += pattern.size()) {
    std::memcpy(block.data() + at, pattern.data(), pattern.size());
  }
  for (std::uint64_t done = 0; done < range.bytes; done += block.size()) {
    const std::uint64_t part = std::min<std::uint64_t>(range.bytes - done, block.size());
    if (!Write(range.offset + done, std::span(block.data(), static_cast<std::size_t>(part))))
      return false;
  }
  return true;
}

bool BackingFile::CopyWithin(std::uint64_t from, std::uint64_t to, std::uint64_t bytes) {
  const Place source = Locate(from);
  if (!source.written) return Clear({to, bytes});
  const std::uint64_t begin = source.offset;
  for (std::uint64_t done = 0; done < bytes;) {
    // SEEK_DATA fails past the last written byte: the rest is a hole.
    const off_t data = lseek(source.file, static_cast<off_t>(begin + done), SEEK_DATA);
    const std::uint64_t hole_end =
        data < 0 ? bytes : std::min(bytes, static_cast<std::uint64_t>(data) - begin);
    if (!Clear({to + done, hole_end - done})) return false;
    done = hole_end;
    if (done == bytes) break;
    const off_t hole = lseek(source.file, static_cast<off_t>(begin + done), SEEK_HOLE);
    if (hole < 0) return false;
    const std::uint64_t data_end = std::min(bytes, static_cast<std::uint64_t>(hole) - begin);
    if (!CopyWritten(from + done, to + done, data_end - done)) return false;
    done = data_end;
  }
  return true;
}

// NOLINTNEXTLINE(bugprone-easily-swappable-parameters): as CopyWithin has them.
bool BackingFile::CopyWritten(std::uint64_t from, std::uint64_t to, std::uint64_t bytes) {
  std::array<std::byte, kBlock> block;
  for (std::uint64_t done = 0; done < bytes; done += block.size()) {
    const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(bytes - done, block.size()));
    const auto bytes_of_block = std::span(block).first(part);
    if (!Read(from + done, bytes_of_block) || !Write(to + done, bytes_of_block)) return false;
  }
  return true;
}

bool BackingFile::Clear(const Extent& range) {
  const Place place = Locate(range.offset);
  if (range.bytes == 0 || !place.written) return true;
  return fallocate(place.file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                   static_cast<off_t>(place.offset), static_cast<off_t>(range.bytes)) == 0;
}

}  // namespace memtrace::card
