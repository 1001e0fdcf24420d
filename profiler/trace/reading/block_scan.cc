// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/trace/reading/block_scan.h"

#include <algorithm>
#include <cstring>

#include "base/units.h"
#include "profiler/trace/coding/checksum.h"

namespace memtrace::trace {
namespace {

class Scanner {
 public:
  Scanner(const uint8_t* data, size_t size) : data_(data), size_(size) {}

  BlockScan Run() {
    size_t offset = kPageBytes;
    while (offset < size_) offset = Step(offset);
    return std::move(scan_);
  }

 private:
  // Handles the bytes at `offset` and returns the next offset.
  size_t Step(size_t offset) {
    if (size_ - offset < sizeof(BlockHeader)) return StepTail(offset);
    if (!HasMagic(offset)) return StepUnreadable(offset);
    const BlockHeader header = HeaderAt(offset);
    if (header.capacity < sizeof(BlockHeader) ||
        header.committed > header.capacity - sizeof(BlockHeader)) {
      return StepUnreadable(offset);
    }
    const size_t available = size_ - offset - sizeof(BlockHeader);
    const bool is_cut = header.committed > available;
    const bool is_open = header.checksum == 0;
    const uint8_t* records = data_ + offset + sizeof(BlockHeader);
    const bool is_good = is_open || is_cut || BlockChecksum(header, records) == header.checksum;
    const size_t next = After(offset, header.capacity, is_good);
    if (!is_good || (is_cut && next < size_)) return StepDamage(offset, next);
    scan_.blocks.push_back({.header = header,
                            .records = records,
                            .end = records + std::min<size_t>(header.committed, available),
                            .is_cut = is_cut});
    scan_.used_bytes = next;
    return next;
  }

  size_t StepTail(size_t offset) {
    if (!IsZero(offset, size_)) {
      scan_.truncated_bytes = size_ - offset;
      scan_.used_bytes = size_;
      NoteBad(offset);
    }
    return size_;
  }

  // Handles an unreadable header: a damaged block, or unused space up to the next one. A process
  // that was killed while it wrote a header leaves a part of it, and no records.
  size_t StepUnreadable(size_t offset) {
    const size_t next = NextMagic(offset + kPageBytes);
    const bool is_unused =
        HeaderAt(offset).committed == 0 && IsZero(offset + sizeof(BlockHeader), next);
    return is_unused ? next : StepDamage(offset, next);
  }

  size_t StepDamage(size_t offset, size_t next) {
    ++scan_.damaged_blocks;
    scan_.damaged_bytes += next - offset;
    scan_.bad_offsets.push_back(offset);
    NoteBad(offset);
    scan_.used_bytes = next;
    return next;
  }

  void NoteBad(size_t offset) {
    if (scan_.first_bad_offset == 0) scan_.first_bad_offset = offset;
  }

  // Returns the end of the block that begins at `offset`. The capacity of a damaged one is trusted
  // only if it leads to the end of the file, to another block or to unused space; otherwise the
  // block ends at the next magic. After a truncated block there is none.
  size_t After(size_t offset, size_t capacity, bool is_good) const {
    const size_t next = offset + capacity;
    if (next == size_) return size_;
    if (next > size_ || next % kPageBytes != 0) return NextMagic(offset + kPageBytes);
    if (is_good || size_ - next < sizeof(BlockHeader)) return next;
    const bool is_plausible = HasMagic(next) || IsZero(next, next + sizeof(BlockHeader));
    return is_plausible ? next : NextMagic(offset + kPageBytes);
  }

  size_t NextMagic(size_t offset) const {
    offset = RoundUp(offset, kPageBytes);
    while (offset + sizeof(BlockHeader) <= size_ && !HasMagic(offset)) offset += kPageBytes;
    return offset + sizeof(BlockHeader) <= size_ ? offset : size_;
  }

  BlockHeader HeaderAt(size_t offset) const {
    BlockHeader header;
    std::memcpy(&header, data_ + offset, sizeof(header));
    return header;
  }
  bool HasMagic(size_t offset) const { return HeaderAt(offset).magic == kBlockMagic; }
  bool IsZero(size_t begin, size_t end) const {
    return std::all_of(data_ + begin, data_ + end, [](uint8_t byte) { return byte == 0; });
  }

  const uint8_t* data_;
  size_t size_;
  BlockScan scan_;
};

}  // namespace

BlockScan ScanBlocks(const uint8_t* data, size_t size) { return Scanner(data, size).Run(); }

}  // namespace memtrace::trace
