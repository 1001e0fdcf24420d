// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";

import { areGuessed } from "#page/map/segments.ts";
import { Spans } from "#page/map/spans.ts";
import { segmentsText } from "./support/maps.ts";
import { card, MIB, pieces, ranges } from "./support/runs.ts";

test("a reservation is one segment, from its first to its last byte that ever had memory", () => {
  const spans = new Spans(
    card({
      reserved: ranges([1000, 9000]),
      mapped: ranges([1200, 100], [1500, 100, 5, 7]),
    }),
  );
  assert.deepEqual(segmentsText(spans), ["1200..1600 reserved"]);
});

test("a reservation without memory is no segment", () => {
  assert.deepEqual(segmentsText(new Spans(card({ reserved: ranges([0, 100]) }))), []);
});

test("neighbours that the driver gave in two pieces are two segments", () => {
  const spans = new Spans(card({ mapped: ranges([200, 100], [100, 100]) }));
  assert.deepEqual(segmentsText(spans), ["100..200 mapped", "200..300 mapped"]);
});

test("addresses that the driver gave again later are one segment", () => {
  const spans = new Spans(card({ mapped: ranges([100, 100, 1, 5], [150, 200, 6]) }));
  assert.deepEqual(segmentsText(spans), ["100..350 mapped"]);
});

test("without ranges, segments are guessed from gaps between blocks", () => {
  const born = 1;
  const { segments } = new Spans(
    card({
      pieces: pieces(
        { born, address: 100 * MIB, bytes: MIB },
        { born, address: 0, bytes: MIB },
        { born, address: 33 * MIB, bytes: MIB, slack: MIB },
      ),
    }),
  );
  assert.deepEqual(
    segments.map(({ start, end }) => [start / MIB, end / MIB]),
    [
      [0, 35],
      [100, 101],
    ],
  );
  assert.ok(areGuessed(segments));
});

test("blocks outside of all ranges have segments, too, which overlap no other", () => {
  const spans = new Spans(
    card({
      mapped: ranges([100, 100]),
      pieces: pieces(
        { born: 1, address: 50, bytes: 60 },
        { born: 1, address: 150, bytes: 10 },
        { born: 1, address: 210, bytes: 10 },
      ),
    }),
  );
  assert.deepEqual(segmentsText(spans), ["50..100 guessed", "100..200 mapped", "210..220 guessed"]);
});
