// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/interchange/importers/gunzip.h"

#include <zlib.h>

#include <algorithm>

#include "absl/status/status.h"

namespace memtrace::interchange {
namespace {

constexpr size_t kPiece = size_t{1} << 30;  // avail_in has 32 bits

class Inflation {
 public:
  explicit Inflation(std::string_view packed) : packed_(packed), room_(1 << 18, '\0') {
    constexpr int kGzipHeader = 16;  // added to the window's size, as zlib.h has it
    is_ready_ = inflateInit2(&stream_, MAX_WBITS + kGzipHeader) == Z_OK;
  }
  ~Inflation() { inflateEnd(&stream_); }
  Inflation(const Inflation&) = delete;
  Inflation& operator=(const Inflation&) = delete;

  // Returns the next bytes; empty at the end, and if the rest cannot be unpacked.
  std::string_view Next() {
    while (is_ready_ && !is_over_) {
      Feed();
      stream_.next_out = reinterpret_cast<Bytef*>(room_.data());
      stream_.avail_out = static_cast<uInt>(room_.size());
      const int result = inflate(&stream_, Z_NO_FLUSH);
      const bool has_more = stream_.avail_in > 0 || !packed_.empty();
      if (result == Z_STREAM_END) {
        is_whole_ = !has_more;
        is_over_ = !has_more || inflateReset(&stream_) != Z_OK;
      } else {
        is_over_ = result != Z_OK;
      }
      const size_t got = room_.size() - stream_.avail_out;
      if (got > 0) return std::string_view(room_).substr(0, got);
      is_over_ = is_over_ || !has_more;
    }
    return "";
  }
  bool is_whole() const { return is_whole_; }

 private:
  void Feed() {
    if (stream_.avail_in > 0) return;
    const std::string_view piece = packed_.substr(0, kPiece);
    packed_.remove_prefix(piece.size());
    stream_.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(piece.data()));
    stream_.avail_in = static_cast<uInt>(piece.size());
  }

  std::string_view packed_;
  std::string room_;
  z_stream stream_ = {};
  bool is_ready_ = false;
  bool is_over_ = false;
  bool is_whole_ = false;
};

}  // namespace

bool IsGzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

absl::StatusOr<Unpacked> Gunzip(std::string_view packed, uint64_t most) {
  Inflation inflation(packed);
  Unpacked unpacked;
  for (std::string_view piece = inflation.Next(); !piece.empty(); piece = inflation.Next()) {
    if (unpacked.bytes.size() + piece.size() > most)
      return absl::InvalidArgumentError("it unpacks to more than " + std::to_string(most >> 20) +
                                        " MiB");
    unpacked.bytes += piece;
  }
  unpacked.is_cut = !inflation.is_whole();
  if (unpacked.bytes.empty()) return absl::InvalidArgumentError("it cannot be unpacked");
  return unpacked;
}

}  // namespace memtrace::interchange
