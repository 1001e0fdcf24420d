// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// A single view on a page with the real one's style and policy, with data of a run written by hand.
import { createHash } from "node:crypto";
import { buildSync } from "esbuild";
import { filePath, pageOfHtml } from "./programs.ts";

const hashOf = (text: string): string =>
  `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/** Bundles a script or a style like the page's. */
function bundled(path: string): string {
  const { outputFiles } = buildSync({
    entryPoints: [path],
    bundle: true,
    write: false,
    format: "iife",
    target: "es2022",
    charset: "ascii",
    tsconfigRaw: {},
  });
  return outputFiles[0]!.text;
}

/** Returns the path of a page that runs a module of `browser`; it finds an element with the id "host". */
export function viewPage(module: string): string {
  const script = bundled(`${import.meta.dirname}/${module}`);
  const style = bundled(filePath("tools/report/page/page.css"));
  const policy =
    `default-src 'none'; script-src ${hashOf(script)}; style-src ${hashOf(style)}; ` +
    "require-trusted-types-for 'script'; trusted-types 'none'";
  return pageOfHtml(
    `<!doctype html><html lang="en"><head><meta charset="utf-8">` +
      `<meta http-equiv="Content-Security-Policy" content="${policy}">` +
      `<meta name="viewport" content="width=device-width, initial-scale=1">` +
      `<title>A view</title><style>${style}</style></head><body><main><h1>A view</h1>` +
      `<div id="host"></div></main><script>${script}</script></body></html>`,
  );
}
