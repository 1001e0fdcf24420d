// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/trace/writing/trace_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "base/units.h"
#include "profiler/trace/coding/checksum.h"
#include "profiler/trace/coding/record_encoder.h"

namespace memtrace::trace {
namespace {

std::vector<uint8_t> InfoBlock(const std::map<std::string, std::string>& info) {
  size_t most = sizeof(BlockHeader);
  for (const auto& [key, value] : info) most += key.size() + value.size() + kMaxPlainRecord;
  std::vector<uint8_t> block(RoundUp(most, kPageBytes));
  uint8_t* end = block.data() + sizeof(BlockHeader);
  DeltaState unused;
  for (const auto& [key, value] : info) {
    RecordEncoder record(RecordKind::kInfo, end, unused);
    record.Text(std::string_view(key).substr(0, kMaxStringBytes));
    record.Text(std::string_view(value).substr(0, kMaxStringBytes));
    end = record.Finish();
  }
  BlockHeader header{.kind = BlockKind::kInfo};
  header.capacity = static_cast<uint32_t>(block.size());
  header.committed = static_cast<uint32_t>(end - (block.data() + sizeof(BlockHeader)));
  header.checksum = BlockChecksum(header, block.data() + sizeof(BlockHeader));
  std::memcpy(block.data(), &header, sizeof(header));
  return block;
}

int OpenNew(const std::string& path) {
  return open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
}

// Creates NAME.<pid>, or NAME.<pid>.2 and so on, because process numbers are reused.
int OpenSibling(const std::string& name, std::string* path) {
  const std::string sibling = name + "." + std::to_string(getpid());
  *path = sibling;
  int fd = OpenNew(*path);
  for (int n = 2; fd < 0 && errno == EEXIST && n < 100; ++n) {
    *path = sibling + "." + std::to_string(n);
    fd = OpenNew(*path);
  }
  return fd;
}

bool CannotShare(int error) {
  return error == EOPNOTSUPP || error == ENOSYS || error == EINVAL || error == ENODEV;
}

}  // namespace

absl::StatusOr<std::unique_ptr<TraceFile>> TraceFile::Create(
    const std::string& path, const std::map<std::string, std::string>& info,
    const TraceFileOptions& options) {
  if (options.keep_bytes != 0 && options.keep_bytes < kLeastKeptBytes) {
    return absl::InvalidArgumentError("a trace of " + std::to_string(options.keep_bytes) +
                                      " bytes holds too little; keep at least " +
                                      std::to_string(kLeastKeptBytes >> 20) + " MiB");
  }
  std::string actual = path;
  if (options.if_exists == IfExists::kReplace) unlink(path.c_str());
  int fd = OpenNew(path);
  if (fd < 0 && errno == EEXIST && options.if_exists == IfExists::kUseSibling) {
    fd = OpenSibling(path, &actual);
  }
  if (fd < 0) {
    const int error = errno;
    return absl::ErrnoToStatus(error, "cannot create the trace " + actual);
  }
  std::unique_ptr<TraceFile> file(new TraceFile(fd, std::move(actual)));
  file->mapped_ = options.map_pages;
  if (absl::Status begun = file->WriteBeginning(info, options); !begun.ok()) {
    unlink(file->path().c_str());
    return begun;
  }
  return file;
}

TraceFile::TraceFile(int fd, std::string path)
    : descriptor_(fd, std::move(path)), front_(descriptor_) {}

TraceFile::~TraceFile() { Abandon(); }

absl::Status TraceFile::WriteBeginning(const std::map<std::string, std::string>& info,
                                       const TraceFileOptions& options) {
  const std::vector<uint8_t> block = InfoBlock(info);
  FileHeader& header = front_.header();
  std::vector<uint8_t> beginning(kPageBytes);
  beginning.insert(beginning.end(), block.begin(), block.end());
  if (options.with_summary) {
    header.summary_offset = beginning.size();
    for (int i = 0; i < 2; ++i) {
      const BlockHeader empty{.kind = BlockKind::kSummary, .capacity = kSummaryBytes};
      beginning.resize(header.summary_offset + static_cast<size_t>(i + 1) * kSummaryBytes);
      std::memcpy(beginning.data() + beginning.size() - kSummaryBytes, &empty, sizeof(empty));
    }
  }
  header.keep_bytes = options.keep_bytes;
  std::memcpy(beginning.data(), &header, sizeof(header));
  MEMTRACE_RETURN_IF_ERROR(descriptor_.CheckLength(beginning.size()));
  allocated_ = end_ = beginning.size();
  if (options.keep_bytes != 0) ring_.emplace(end_, options.keep_bytes);
  absl::Status written = descriptor_.WriteAll(beginning.data(), beginning.size(), 0);
  if (written.ok() && mapped_) mapped_ = front_.Map();
  return written;
}

absl::StatusOr<uint8_t*> TraceFile::NextBlock(Chain chain, uint64_t first_sequence) {
  if (ring_) return NextKeptBlock(chain, first_sequence);
  if (mapped_) {
    MEMTRACE_RETURN_IF_ERROR(window_.Contains(end_) ? absl::OkStatus() : GrowWindow());
  }
  if (mapped_) {
    end_ += kBlockBytes;
    return window_.At(end_ - kBlockBytes);
  }
  MEMTRACE_RETURN_IF_ERROR(descriptor_.CheckLength(end_ + kBlockBytes));
  const absl::StatusOr<uint8_t*> buffer = Buffer(chain);
  if (!buffer.ok()) return buffer;
  current_[0].offset = end_;
  end_ += kBlockBytes;
  return buffer;
}

// Returns a buffer of zeros. kResourceExhausted if there is no host memory.
absl::StatusOr<uint8_t*> TraceFile::Buffer(Chain chain) {
  std::unique_ptr<uint8_t[]>& buffer = current_[static_cast<size_t>(chain)].buffer;
  if (buffer == nullptr) buffer.reset(new (std::nothrow) uint8_t[kBlockBytes]);
  if (buffer == nullptr) return absl::ResourceExhaustedError("no host memory to record with");
  std::memset(buffer.get(), 0, kBlockBytes);
  return buffer.get();
}

// The first page is updated before anything changes, so that a reader leaves out blocks newer than
// the ones it found named there.
absl::StatusOr<uint8_t*> TraceFile::NextKeptBlock(Chain chain, uint64_t first_sequence) {
  const bool stays = chain == Chain::kDefinitions;
  const uint64_t before = end_;
  const uint64_t offset = ring_->Next(stays);
  end_ = ring_->end();
  MEMTRACE_RETURN_IF_ERROR(descriptor_.CheckLength(end_));
  MEMTRACE_RETURN_IF_ERROR(end_ > before ? Allocate(end_) : absl::OkStatus());
  if (!stays) front_.NoteNewest(first_sequence);
  current_[static_cast<size_t>(chain)].offset = offset;
  return mapped_ ? MapKept(chain, offset) : Buffer(chain);
}

// Makes sure that the first `bytes` of the file are on disk; allocates some ahead.
absl::Status TraceFile::Allocate(uint64_t bytes) {
  if (bytes <= allocated_ || !mapped_) return absl::OkStatus();
  const uint64_t target = std::min(allocated_ + BlockWindow::kBytes, ring_->limit());
  MEMTRACE_RETURN_IF_ERROR(descriptor_.CheckLength(target));
  const int error = descriptor_.AllocateOnDisk(allocated_, target);
  if (error == 0) {
    allocated_ = target;
    return absl::OkStatus();
  }
  // Only the first block may find that pages cannot be shared; later, other blocks are in shared
  // pages.
  const bool is_first = current_[0].kept == nullptr && current_[1].kept == nullptr;
  if (!is_first || !CannotShare(error))
    return descriptor_.Failure("cannot extend the trace ", error);
  mapped_ = false;
  return absl::OkStatus();
}

absl::StatusOr<uint8_t*> TraceFile::MapKept(Chain chain, uint64_t offset) {
  void* pages = mmap(nullptr, kBlockBytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_.fd(),
                     static_cast<off_t>(offset));
  if (pages == MAP_FAILED) return descriptor_.Failure("cannot map the trace ", errno);
  uint8_t*& kept = current_[static_cast<size_t>(chain)].kept;
  if (kept != nullptr) munmap(kept, kBlockBytes);
  kept = static_cast<uint8_t*>(pages);
  return kept;
}

// After success the window holds the next block, or the file turned out not to be mappable.
absl::Status TraceFile::GrowWindow() {
  const uint64_t window_end = end_ + BlockWindow::kBytes;
  MEMTRACE_RETURN_IF_ERROR(descriptor_.CheckLength(window_end));
  const int error = descriptor_.AllocateOnDisk(end_, window_end);
  if (error != 0 && !CannotShare(error))
    return descriptor_.Failure("cannot extend the trace ", error);
  if (error != 0 || !window_.MoveTo(descriptor_.fd(), end_)) mapped_ = false;
  return absl::OkStatus();
}

absl::Status TraceFile::Flush(Chain chain, size_t begin, size_t end) {
  if (mapped_) return absl::OkStatus();
  const Current& current = current_[static_cast<size_t>(chain)];
  return descriptor_.WriteAll(current.buffer.get() + begin, end - begin, current.offset + begin);
}

void TraceFile::Finish(size_t bytes) {
  if (!descriptor_.IsOurs()) return Abandon();
  uint64_t size = ring_ ? end_ : end_ - kBlockBytes + bytes;
  if (bytes == 0 || ring_) {  // the last block is full, or was not written completely
    struct stat facts {};
    size = fstat(descriptor_.fd(), &facts) == 0
               ? std::min(end_, static_cast<uint64_t>(facts.st_size))
               : end_;
  }
  window_.Unmap();
  front_.NoteClosed(ftruncate(descriptor_.fd(), static_cast<off_t>(size)) == 0 ? size : 0);
  Abandon();
}

void TraceFile::Abandon() {
  window_.Unmap();
  for (Current& current : current_) {
    if (current.kept != nullptr) munmap(std::exchange(current.kept, nullptr), kBlockBytes);
  }
  front_.Unmap();
  descriptor_.Close();
}

}  // namespace memtrace::trace
