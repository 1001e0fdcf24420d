// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/changes/script_version.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace memtrace::fit {
namespace {

constexpr size_t kBlock = 64;
constexpr size_t kLargestFile = size_t{1} << 22;  // as in memtrace/_program/script.py of Python
constexpr size_t kDigits = 16;

using State = std::array<uint32_t, 8>;

// The first 32 bits of the fractional parts of the square roots of the first 8 primes.
constexpr State kBeginning = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                              0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
// The same of the cube roots of the first 64 primes.
constexpr std::array<uint32_t, kBlock> kConstants = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

uint32_t WordAt(std::string_view block, size_t at) {
  uint32_t word = 0;
  for (size_t i = 0; i < 4; ++i) word = word << 8 | static_cast<uint8_t>(block[at + i]);
  return word;
}

void AddBlock(std::string_view block, State& state) {
  std::array<uint32_t, kBlock> words{};
  for (size_t i = 0; i < 16; ++i) words[i] = WordAt(block, 4 * i);
  for (size_t i = 16; i < kBlock; ++i) {
    const uint32_t a = words[i - 15];
    const uint32_t b = words[i - 2];
    words[i] = words[i - 16] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ a >> 3) + words[i - 7] +
               (std::rotr(b, 17) ^ std::rotr(b, 19) ^ b >> 10);
  }
  State s = state;
  for (size_t i = 0; i < kBlock; ++i) {
    const uint32_t first = s[7] + (std::rotr(s[4], 6) ^ std::rotr(s[4], 11) ^ std::rotr(s[4], 25)) +
                           ((s[4] & s[5]) ^ (~s[4] & s[6])) + kConstants[i] + words[i];
    const uint32_t second = (std::rotr(s[0], 2) ^ std::rotr(s[0], 13) ^ std::rotr(s[0], 22)) +
                            ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
    s = {first + second, s[0], s[1], s[2], s[3] + first, s[4], s[5], s[6]};
  }
  for (size_t i = 0; i < state.size(); ++i) state[i] += s[i];
}

// Returns the end of the text with a 1 bit, zeros and the length in bits, in whole blocks.
std::string Padded(std::string_view text) {
  std::string end(text.substr(text.size() / kBlock * kBlock));
  end += '\x80';
  while (end.size() % kBlock != kBlock - 8) end += '\0';
  const uint64_t bits = uint64_t{8} * text.size();
  for (int shift = 56; shift >= 0; shift -= 8) end += static_cast<char>(bits >> shift);
  return end;
}

std::string ReadBeginning(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  std::string text(kLargestFile, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(stream.gcount()));
  return text;
}

}  // namespace

std::string Sha256(std::string_view text) {
  constexpr std::string_view kHexadecimal = "0123456789abcdef";
  State state = kBeginning;
  for (size_t at = 0; at + kBlock <= text.size(); at += kBlock)
    AddBlock(text.substr(at, kBlock), state);
  const std::string end = Padded(text);
  for (size_t at = 0; at < end.size(); at += kBlock)
    AddBlock(std::string_view(end).substr(at, kBlock), state);
  std::string digits;
  for (const uint32_t word : state)
    for (int shift = 28; shift >= 0; shift -= 4) digits += kHexadecimal[word >> shift & 15];
  return digits;
}

std::string ScriptVersion(const std::string& file) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error) || !std::ifstream(file)) return "";
  return Sha256(ReadBeginning(file)).substr(0, kDigits);
}

}  // namespace memtrace::fit
