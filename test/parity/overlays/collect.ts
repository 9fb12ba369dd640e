/**
 * Asks Karpenter's own NodeOverlay controller about generated cases and keeps its answers:
 *
 *     node test/parity/overlays/collect.ts ORACLE
 *
 * ORACLE is a program that links sigs.k8s.io/karpenter v1.14.1 and answers `ORACLE fuzz -seed N -size S`
 * with a case and `ORACLE overlays < CASE` with what its overlays do. Kept are the first 200 cases in
 * which overlays of different weights do something; equal weights are decided otherwise on purpose.
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Json } from '../../../shared/sim/json.ts';
import { listAt, numberAt } from '../../../shared/sim/json.ts';

const CASES = 200;
const [oracle] = process.argv.slice(2);
if (oracle === undefined) throw new Error('usage: collect.ts ORACLE');

function ask(args: readonly string[], input = ''): Json {
  const text = execFileSync(oracle ?? '', args, { input, encoding: 'utf8', maxBuffer: 1 << 28 });
  return JSON.parse(text);
}

function isClear(overlays: readonly unknown[]): boolean {
  const weights = overlays.map((overlay) => numberAt(overlay, 'spec', 'weight') ?? 0);
  return overlays.length > 0 && new Set(weights).size === weights.length;
}

const kept: Json[] = [];
for (const size of ['small', 'medium'] as const) {
  for (let seed = 1; seed <= 400 && kept.length < (size === 'small' ? 130 : CASES); seed++) {
    const all = ask(['fuzz', '-seed', String(seed), '-size', size]);
    const nodeOverlays = listAt(all, 'nodeOverlays');
    if (!isClear(nodeOverlays)) continue;
    const { instanceTypes, nodePools } = all;
    const problem = { name: `${size}-${seed}`, instanceTypes, nodePools, nodeOverlays, pods: [] };
    const full = ask(['overlays'], JSON.stringify(problem));
    const answer = { nodePools: full['nodePools'], rejected: full['rejected'] };
    if (JSON.stringify(answer).includes('verlaid":true')) kept.push({ problem, answer });
  }
}
const file = join(import.meta.dirname, 'answers.json.gz');
writeFileSync(file, gzipSync(JSON.stringify(kept), { level: 9 }));
process.stdout.write(`${kept.length} cases in ${file}\n`);
