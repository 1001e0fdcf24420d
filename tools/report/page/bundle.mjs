// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// usage: bundle.mjs SOURCE BUNDLE
// Makes one classic script of a module and what it imports, or one style of a style; and BUNDLE.d, by which the build
// knows what it is made of.
import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

/** @param {string} path of a file, as a rule of make takes it */
const escaped = (path) => path.replace(/[ #]/g, "\\$&").replaceAll("$", "$$$$");

const [source = "", bundle = ""] = process.argv.slice(2).map((path) => resolve(path));
const { metafile } = await build({
  absWorkingDir: ROOT,
  entryPoints: [source],
  outfile: bundle,
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  charset: "ascii",
  legalComments: "inline",
  tsconfigRaw: {}, // tsc's settings do not change what is written
  metafile: true,
});
const sources = Object.keys(metafile.inputs).map((path) => escaped(resolve(ROOT, path)));
writeFileSync(bundle + ".d", `${escaped(bundle)}: ${sources.join(" ")}\n`);
