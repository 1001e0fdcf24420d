# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The messages of pprof's profile.proto (github.com/google/pprof) that the tests read."""

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

# name -> (number, type, repeated, message)
_MESSAGES = {
    "ValueType": {"type": (1, 3), "unit": (2, 3)},
    "Label": {"key": (1, 3), "str": (2, 3), "num": (3, 3)},
    "Sample": {"location_id": (1, 4, True), "value": (2, 3, True), "label": (3, 11, True, "Label")},
    "Line": {"function_id": (1, 4), "line": (2, 3)},
    "Location": {"id": (1, 4), "line": (4, 11, True, "Line")},
    "Function": {"id": (1, 4), "name": (2, 3), "system_name": (3, 3), "filename": (4, 3)},
    "Profile": {
        "sample_type": (1, 11, True, "ValueType"),
        "sample": (2, 11, True, "Sample"),
        "location": (4, 11, True, "Location"),
        "function": (5, 11, True, "Function"),
        "string_table": (6, 9, True),
        "time_nanos": (9, 3),
        "duration_nanos": (10, 3),
        "comment": (13, 3, True),
        "default_sample_type": (14, 3),
    },
}


def profile() -> Any:  # a class of messages made at run time
    """Returns an empty Profile."""
    file = descriptor_pb2.FileDescriptorProto(name="profile.proto", package="pprof", syntax="proto3")
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for field, (number, kind, *rest) in fields.items():
            described = message.field.add(name=field, number=number, type=kind, label=3 if rest[:1] == [True] else 1)
            if len(rest) > 1:
                described.type_name = f".pprof.{rest[1]}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("pprof.Profile"))()
