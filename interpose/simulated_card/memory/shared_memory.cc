// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/memory/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <climits>
#include <string>
#include <string_view>

namespace memtrace::card {
namespace {

// A caller may pass any descriptor, so only files made by a memtrace are read.
bool IsOurs(int descriptor) {
  char target[PATH_MAX];
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  const ssize_t length = readlink(link.c_str(), target, sizeof(target));
  return length > 0 && std::string_view(target, static_cast<std::size_t>(length))
                           .starts_with("/memfd:memtrace-card");
}

}  // namespace

OpenFile::~OpenFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

OpenFilePointer OpenContents(const SharedMemoryRecord& record) {
  const std::string path =
      "/proc/" + std::to_string(record.process) + "/fd/" + std::to_string(record.descriptor);
  // The file is checked before it is opened, because opening a stranger's pipe or terminal could
  // block.
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0 || status.st_ino != record.inode) return nullptr;
  const int descriptor = open(path.c_str(), O_RDWR | O_CLOEXEC);
  return descriptor < 0 ? nullptr : std::make_shared<const OpenFile>(descriptor);
}

int MakeShareableDescriptor(const SharedMemoryRecord& record) {
  const int descriptor = memfd_create("memtrace-card", MFD_CLOEXEC);
  if (descriptor >= 0 && PlaceRecord(descriptor, 0, record)) return descriptor;
  if (descriptor >= 0) close(descriptor);
  return -1;
}

bool PlaceRecord(int descriptor, std::uint64_t at, const SharedMemoryRecord& record) {
  const auto position = static_cast<off_t>(at);
  return pwrite(descriptor, &record, sizeof(record), position) ==
             static_cast<ssize_t>(sizeof(record)) &&
         lseek(descriptor, position, SEEK_SET) == position;
}

std::optional<SharedMemoryRecord> ReadRecord(int descriptor) {
  if (!IsOurs(descriptor)) return std::nullopt;
  SharedMemoryRecord record;
  const ssize_t read = pread(descriptor, &record, sizeof(record), lseek(descriptor, 0, SEEK_CUR));
  if (read != static_cast<ssize_t>(sizeof(record)) || record.magic != kSharedMemoryMagic)
    return std::nullopt;
  return record;
}

}  // namespace memtrace::card
