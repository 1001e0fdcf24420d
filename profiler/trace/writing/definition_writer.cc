// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/trace/writing/definition_writer.h"

#include <string>

#include "profiler/trace/coding/record_encoder.h"

namespace memtrace::trace {

StringId DefinitionWriter::String(std::string_view text) {
  text = text.substr(0, kMaxStringBytes);
  const StringTable::Interned string = strings_.Intern(text);
  if (!string.is_new) return string.id;
  uint8_t* room = Room(kMaxPlainRecord + text.size());
  if (room == nullptr) return string.id;
  RecordEncoder record(RecordKind::kString, room, blocks_.delta());
  record.Number(string.id);
  record.Text(text);
  blocks_.CommitDefinition(record.Finish());
  return string.id;
}

FrameId DefinitionWriter::DefineFrame(const Frame& frame) {
  const FrameNames names{
      .file = String(frame.file), .function = String(frame.function), .line = frame.line};
  const CallTree::Interned interned = stacks_.InternFrame(names);
  uint8_t* room = interned.is_new ? Room(kMaxPlainRecord) : nullptr;
  if (room == nullptr) return interned.id;
  RecordEncoder record(RecordKind::kFrame, room, blocks_.delta());
  record.Number(interned.id);
  record.Number(names.file);
  record.Number(names.function);
  record.Number(names.line);
  blocks_.CommitDefinition(record.Finish());
  return interned.id;
}

StackId DefinitionWriter::DefineStack(StackId parent, FrameId frame) {
  const CallTree::Interned interned = stacks_.InternStack(parent, frame);
  uint8_t* room = interned.is_new ? Room(kMaxPlainRecord) : nullptr;
  if (room == nullptr) return interned.id;
  RecordEncoder record(RecordKind::kStack, room, blocks_.delta());
  record.Number(interned.id);
  record.Number(parent);
  record.Number(frame);
  blocks_.CommitDefinition(record.Finish());
  return interned.id;
}

std::vector<Frame> DefinitionWriter::Stack(StackId id) const {
  std::vector<Frame> stack;
  for (const FrameNames& names : stacks_.Frames(id)) {
    stack.push_back({.file = std::string(Text(names.file)),
                     .function = std::string(Text(names.function)),
                     .line = names.line});
  }
  return stack;
}

// Once definitions have used up their share of the file, the tables are closed. If only this record
// does not fit any more, its name reads "(lost)".
uint8_t* DefinitionWriter::Room(size_t bytes) {
  if (!blocks_.DefinitionsAreFull(bytes)) return blocks_.DefinitionRoom(bytes);
  strings_.StopInterning();
  stacks_.StopInterning();
  return nullptr;
}

}  // namespace memtrace::trace
