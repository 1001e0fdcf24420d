// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Opens the contents of the page's template: JSON, deflated, in base64.

import type { Run } from "../model.ts";
import { decode } from "./decode.ts";
import type { PageText } from "./schema.ts";

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const binary = atob(base64);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; ++i) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/** Throws if the browser has no DecompressionStream, or if the data are damaged. */
export async function openData(base64: string): Promise<unknown> {
  const inflated = new Blob([bytesOf(base64)])
    .stream()
    .pipeThrough(new DecompressionStream("deflate"));
  return new Response(inflated).json();
}

/** Throws as openData does. */
export async function openRun(base64: string): Promise<Run> {
  return decode((await openData(base64)) as PageText);
}
