// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Usage: make_seeds GOLDEN_FOLDER OUTPUT_FOLDER. Writes the initial inputs of the fuzzers, in one
// folder for each target.
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include "profiler/trace/coding/format.h"
#include "profiler/trace/text/text_trace.h"
#include "profiler/trace/writing/trace_writer.h"
#include "tests/fuzz/snapshot_seed.h"

namespace memtrace {
namespace {

namespace fs = std::filesystem;

std::string Read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void Write(const fs::path& path, const std::string& bytes) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}

// Sets the checksums of all blocks to 0, as in a file whose process was killed: a mutation of a
// block with a checksum is only ever a damaged block. Returns the records of the last block.
std::string Unseal(std::string& bytes) {
  std::string records;
  trace::BlockHeader block;
  for (size_t at = trace::kPageBytes; at + sizeof(block) <= bytes.size(); at += block.capacity) {
    std::memcpy(&block, bytes.data() + at, sizeof(block));
    if (block.magic != trace::kBlockMagic || block.capacity == 0) break;
    block.checksum = 0;
    std::memcpy(bytes.data() + at, &block, sizeof(block));
    records = bytes.substr(at + sizeof(block), block.committed);
  }
  return records;
}

// Writes a trace that keeps only its last part, with a checkpoint and a summary.
bool WriteKept(const fs::path& path, const std::string& summary) {
  auto writer = trace::TraceWriter::Open(
      path.string(), {}, {.keep_bytes = trace::kLeastKeptBytes, .with_summary = true});
  if (!writer.ok()) return false;
  const trace::Allocate block{.address = 0x10000, .requested = 100, .allocated = 512};
  if (!(*writer)->Write(1, 1000, block).ok()) return false;
  const trace::StringId weight = (*writer)->definitions().String("weight");
  trace::CheckpointRecords& checkpoint = (*writer)->checkpoint();
  checkpoint.Begin(1, 1000);
  checkpoint.Restate(trace::Resume{.step = 1});
  checkpoint.Restate(trace::Alive{.block = block, .birth = 1, .path = weight});
  checkpoint.End();
  (*writer)->front()->WriteSummary(summary, 1);
  return (*writer)->WriteFreed(2, 2000, 0, block.address).ok();
}

int MakeSeeds(const fs::path& golden, const fs::path& output) {
  for (const auto& entry : fs::directory_iterator(golden)) {
    const std::string name = entry.path().stem().string();
    if (fs::path(name).extension() != ".trace") continue;
    const std::string text = Read(entry.path());
    const fs::path trace = output / "trace_file" / name;
    Write(trace, "");
    if (auto written = trace::WriteTextTrace(text, trace.string()); !written.ok()) {
      std::cerr << "make_seeds: " << written.ToString() << '\n';
      return 1;
    }
    std::string bytes = Read(trace);
    const std::string records = Unseal(bytes);
    Write(trace, bytes);
    Write(output / "trace_records" / name, records);
    Write(output / "text_trace" / name, text);
  }
  Write(output / "kineto_profile" / "profile", Read(golden / "profile.kineto.json"));
  Write(output / "snapshot" / "seed", fuzz::SnapshotSeed());
  Write(output / "rmm_log" / "log", Read(golden / "rmm_log.csv"));
  const std::string summary = Read(golden / "run.summary.json");
  Write(output / "run_summary" / "run", summary);
  if (!WriteKept(output / "trace_file" / "kept", summary)) {
    std::cerr << "make_seeds: cannot write " << output / "trace_file" / "kept"
              << "; give a new folder\n";
    return 1;
  }
  std::string kept = Read(output / "trace_file" / "kept");
  Write(output / "trace_records" / "kept", Unseal(kept));
  Write(output / "trace_file" / "kept", kept);
  size_t number = 0;
  for (const char* spec : {"24GiB", "2x80GiB,other=3GiB", "rtx-4090", "4xa100-80gb,context=450MiB",
                           "80GiB;24GiB,cc=9.0", "1.5GiB,cc=10.3", "0x24GiB", "24GB"}) {
    Write(output / "card_spec" / std::to_string(++number), spec);
  }
  return 0;
}

}  // namespace
}  // namespace memtrace

int main(int argc, char** argv) {
  if (argc == 3) return memtrace::MakeSeeds(argv[1], argv[2]);
  std::cerr << "usage: make_seeds GOLDEN_FOLDER OUTPUT_FOLDER\n";
  return 2;
}
