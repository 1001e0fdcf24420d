// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/interchange/writers/rows/gzip.h"

#include <zlib.h>

#include <algorithm>

#include "base/check.h"

namespace memtrace::interchange {

std::string Gzip(std::string_view bytes) {
  constexpr int kGzipHeader = 16;     // added to the window's size, as zlib.h has it
  constexpr size_t kPiece = 1 << 30;  // avail_in has 32 bits
  z_stream stream = {};
  MEMTRACE_CHECK(deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + kGzipHeader,
                              MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out;
  std::string room(1 << 18, '\0');
  do {
    const std::string_view piece = bytes.substr(0, kPiece);
    bytes.remove_prefix(piece.size());
    stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(piece.data()));
    stream.avail_in = static_cast<uInt>(piece.size());
    do {
      stream.next_out = reinterpret_cast<Bytef*>(room.data());
      stream.avail_out = static_cast<uInt>(room.size());
      MEMTRACE_CHECK(deflate(&stream, bytes.empty() ? Z_FINISH : Z_NO_FLUSH) != Z_STREAM_ERROR);
      out.append(room, 0, room.size() - stream.avail_out);
    } while (stream.avail_out == 0);
  } while (!bytes.empty());
  deflateEnd(&stream);
  return out;
}

}  // namespace memtrace::interchange
