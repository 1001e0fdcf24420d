// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The trace of a small training run that fails in its second step, as text (profiler/trace/text/text_trace.h).

const MIB = 2 ** 20;
const BASE = 0x7f0000000000;
const LAYERS = 6;

/** Writes events; blocks get consecutive addresses. */
class Script {
  readonly lines: string[] = [];
  private end = BASE;

  say(...lines: string[]): void {
    this.lines.push(...lines);
  }

  /** Returns the address. */
  allocate(mib: number, more: string): string {
    const address = `0x${this.end.toString(16)}`;
    this.end += mib * MIB;
    this.say(`alloc 0 ${address} requested=${mib}MiB ${more}`);
    return address;
  }
}

const stack = (...frames: string[]): string =>
  `stack=${frames.map((frame) => `${frame.split("@")[0]}@/home/ada/${frame.split("@")[1]}`).join(";")}`;

const MAIN = "<module>@train.py:40";

function initialise(script: Script): string[] {
  script.say("phase init");
  return Array.from({ length: LAYERS }, (_, i) => {
    const where = stack("__init__@model.py:12", "build@train.py:8", MAIN);
    const address = script.allocate(100, `${where} owner=policy`);
    script.say(`relabel 0 ${address} size=100MiB role=parameter path=model.layers.${i}.mlp.weight`);
    return address;
  });
}

function forward(script: Script): string[] {
  script.say("phase forward");
  return Array.from({ length: LAYERS }, (_, i) => {
    const where = stack("forward@model.py:30", "step@train.py:20", MAIN);
    return script.allocate(60, `${where} module=model.layers.${i}.mlp owner=policy`);
  });
}

function backward(script: Script, activations: readonly string[]): void {
  script.say("phase backward");
  for (let i = LAYERS - 1; i >= 0; --i) {
    const address = script.allocate(100, stack("backward@train.py:22", MAIN));
    script.say(`relabel 0 ${address} size=100MiB role=gradient path=model.layers.${i}.mlp.weight`);
    script.say(`free 0 ${activations[i]!}`);
  }
}

/** 600 MiB of parameters, as many of gradients and twice that of states; activations of 360 MiB fail. */
export function trainingTrace(): string {
  const script = new Script();
  script.say('info command ["python","train.py"]', "info torch 2.11.0", "info allocator memtrace");
  script.say(
    "info card 4GiB",
    "info simulated 1",
    "sample 0 total=4GiB free=3996MiB context=100MiB",
  );
  script.say(
    `reserve 0 0x${BASE.toString(16)} size=16GiB`,
    `map 0 0x${BASE.toString(16)} size=3800MiB`,
  );
  initialise(script);
  script.say("step 1");
  backward(script, forward(script));
  script.say("phase optimizer");
  for (let i = 0; i < 2 * LAYERS; ++i) {
    const where = stack("step@optimizer.py:90", "step@train.py:24", MAIN);
    const address = script.allocate(100, where);
    script.say(
      `relabel 0 ${address} size=100MiB role=optimizer_state path=model.layers.${i >> 1}.mlp.weight`,
    );
  }
  script.say("step 2");
  forward(script);
  const where = stack("forward@model.py:33", "step@train.py:20", MAIN);
  script.say(
    `out_of_memory 0 requested=900MiB allocated=900MiB obtainable=876MiB ${where}`,
    "  card 0 total=4GiB free=196MiB context=100MiB reserved=3800MiB live_requested=2760MiB " +
      "live_allocated=2760MiB holes=1040MiB largest_hole=680MiB",
  );
  return `${script.lines.join("\n")}\n`;
}
