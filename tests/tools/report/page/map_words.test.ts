// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";

import { keysOf } from "#page/keys.ts";
import { Colouring } from "#page/map/colouring.ts";
import { holesOf } from "#page/map/holes.ts";
import { limitWords, requestWords, type Scene, spanWords, summaryOf } from "#page/map/words.ts";
import type { Card } from "#page/model.ts";
import { at, oneSegment } from "./support/maps.ts";
import { card, failure, GIB, MIB, origin, pieces, run } from "./support/runs.ts";

function sceneAt(card: Card, event: number): Scene {
  const one = run({ cards: [card], origins: [origin({ path: "mlp.weight" })] });
  const spans = at(card, event);
  const tally = new Colouring(spans, card.pieces, keysOf(one, card, "role")).update();
  return { run: one, card, spans, tally, missing: 12 * MIB, holes: holesOf(spans) };
}

const CARD = oneSegment(
  4 * GIB,
  { born: 1, address: 0, bytes: GIB, slack: MIB },
  { born: 2, address: 2 * GIB, bytes: GIB, letGo: 5, gone: 9 },
);

test("the summary accounts for the bytes of a moment", () => {
  assert.equal(
    summaryOf(sceneAt(CARD, 3)),
    "After event 3 · 3.0 ms: 2.00 GiB in use, 1.0 MiB lost to rounding, 2.00 GiB in 2 holes, the largest 1.00 GiB",
  );
  assert.match(
    summaryOf(sceneAt(CARD, 6)),
    /: 1\.00 GiB in use, 1\.0 MiB lost to rounding, 1\.00 GiB waiting for a stream,/,
  );
  assert.match(summaryOf(sceneAt(CARD, 9)), /, 3\.00 GiB in 1 hole$/);
});

test("a full card has no holes", () => {
  const full = oneSegment(MIB, { born: 1, address: 0, bytes: MIB });
  assert.match(summaryOf(sceneAt(full, 1)), /1\.0 MiB in use, no holes$/);
});

test("the bytes of unlisted small blocks are estimated", () => {
  assert.match(
    summaryOf(sceneAt({ ...CARD, leastBytes: MIB }, 3)),
    /: 2\.00 GiB in use by blocks of 1\.0 MiB or more, about 12\.0 MiB by smaller ones, /,
  );
});

test("a hole may be unlisted small blocks", () => {
  const sparse = { ...CARD, leastBytes: MIB, exact: [[5, 6]] as const };
  assert.match(
    summaryOf(sceneAt(sparse, 3)),
    /, 2\.00 GiB in holes or blocks too small to be listed$/,
  );
  assert.match(summaryOf(sceneAt(sparse, 5)), /in 2 holes/);
  const scene = sceneAt(sparse, 3);
  assert.match(
    limitWords(sparse, 3, scene.spans.segments),
    /^Blocks smaller than 1\.0 MiB .* holes\.$/,
  );
  assert.equal(limitWords(sparse, 5, scene.spans.segments), "");
  assert.match(spanWords(scene, 1), /^hole, or blocks too small to be listed, /);
});

test("the gap that separates guessed segments is stated", () => {
  const foreign = card({ pieces: pieces({ born: 1, address: 0, bytes: MIB }) });
  assert.match(
    limitWords(foreign, 1, sceneAt(foreign, 1).spans.segments),
    /does not say which segments .* more than 32\.0 MiB starts another segment/,
  );
});

test("a span is a block, a hole or not mapped", () => {
  const scene = sceneAt(CARD, 3);
  assert.equal(spanWords(scene, 0), "activations, 1.00 GiB at 0x0, mlp.weight");
  assert.equal(spanWords(scene, 1), "hole, 1023.0 MiB at 0x40100000");
  assert.equal(spanWords(sceneAt(CARD, 0), 0), "not mapped at this moment, 4.00 GiB at 0x0");
});

test("a request is compared with the largest hole", () => {
  const { holes } = sceneAt(CARD, 3);
  const requested = (allocated: number): string =>
    requestWords(failure({ event: 3, allocated, obtainable: MIB }), holes);
  assert.equal(
    requested(1.5 * GIB),
    "No hole is large enough: the largest is 512.0 MiB too small. At most 1.0 MiB was available.",
  );
  assert.match(requested(GIB), /^A hole is large enough, but/);
});

test("a request on a full card has no hole to be compared with", () => {
  const { holes } = sceneAt(oneSegment(MIB, { born: 1, address: 0, bytes: MIB }), 1);
  const words = requestWords(failure({ event: 1, allocated: GIB, obtainable: 0 }), holes);
  assert.equal(words, "There is no hole. At most 0 bytes was available.");
});
