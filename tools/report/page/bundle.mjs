// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// usage: bundle.mjs SOURCE BUNDLE
// Makes one classic script of a module and what it imports, or one style of a style, with a line for the licence of each
// package that is in it; and BUNDLE.d, by which the build knows what it is made of.
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

/** @param {string} path of a file, as a rule of make takes it */
const escaped = (path) => path.replace(/[ #]/g, "\\$&").replaceAll("$", "$$$$");

/** @param {string} folder of a package; the build fails if it has no licence with a copyright */
function licenceLine(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const copyright = /^Copyright .*$/m.exec(readFileSync(join(folder, "LICENSE"), "utf8"));
  if (!copyright) throw new Error(`the licence of ${name} names no holder of the copyright`);
  return `/*! ${name} ${version}, ${license} licence. ${copyright[0]} */\n`;
}

/** @param {string[]} paths of the sources of a bundle */
function licenceLines(paths) {
  const folders = paths.flatMap(
    (path) => /^.*node_modules\/(@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? [],
  );
  return [...new Set(folders)].sort().map(licenceLine).join("");
}

const [source = "", bundle = ""] = process.argv.slice(2).map((path) => resolve(path));
const { metafile, outputFiles } = await build({
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
  write: false,
});
const sources = Object.keys(metafile.inputs).map((path) => resolve(ROOT, path));
writeFileSync(bundle, licenceLines(sources) + outputFiles.map(({ text }) => text).join(""));
writeFileSync(bundle + ".d", `${escaped(bundle)}: ${sources.map(escaped).join(" ")}\n`);
