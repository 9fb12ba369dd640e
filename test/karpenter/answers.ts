/**
 * Joiner's solver and resolver as a child of Karpenter's suites (`adapter/child.go`): one request a
 * line on standard input, one answer a line on standard output.
 *
 *   {"op":"solve","case":{…},"wellKnown":["size"]}   {"ok":true,"result":{…as `joiner solve`…}}
 *   {"op":"overlays","case":{…}}                     {"ok":true,"result":{…as `joiner diagnose`…}}
 *   what is no case                                  {"ok":false,"error":"…"}
 */
import { createInterface } from 'node:readline';
import { decodeCase } from '../../shared/api/case/decode.ts';
import { encodeResult } from '../../shared/api/case/encode.ts';
import { encodeOverlays } from '../../shared/api/case/overlays.ts';
import { WELL_KNOWN_LABELS } from '../../shared/core/model/labels.ts';
import { resolveOverlays } from '../../shared/core/overlay/resolve.ts';
import { strandedPods } from '../../shared/core/scheduling/playback/stranded.ts';
import { solved } from '../../shared/core/scheduling/solve.ts';
import { property } from '../../shared/kube/list.ts';

/** Not what is measured here. */
const TIMINGS = { setupMs: 0, solveMs: 0, cpuMs: 0, playbackMs: 0, maxRssMiB: 0 };

/** Labels that the cloud provider of Karpenter's tests knows besides those of AWS. */
function addWellKnown(keys: unknown): void {
  if (!Array.isArray(keys) || !(WELL_KNOWN_LABELS instanceof Set)) return;
  for (const key of keys) WELL_KNOWN_LABELS.add(key);
}

function answer(request: unknown): object {
  addWellKnown(property(request, 'wellKnown'));
  const decoded = decodeCase(property(request, 'case'));
  if (!decoded.ok) {
    throw new Error(decoded.issues.map(({ path, message }) => `${path} ${message}`).join('; '));
  }
  const { snapshot, settings, rejected } = decoded.value;
  if (property(request, 'op') === 'overlays') {
    const { nodePools, instanceTypes, nodeOverlays } = snapshot;
    return encodeOverlays(resolveOverlays(nodePools, instanceTypes, nodeOverlays), rejected);
  }
  const { plan, state: world } = solved(snapshot, settings);
  return encodeResult({
    joiner: 'test',
    plan,
    overlays: [],
    rejected,
    timings: TIMINGS,
    stranded: strandedPods(world),
    bound: undefined,
  });
}

function reply(line: string): object {
  try {
    return { ok: true, result: answer(JSON.parse(line)) };
  } catch (error) {
    return { ok: false, error: error instanceof Error ? (error.stack ?? error.message) : error };
  }
}

for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  process.stdout.write(`${JSON.stringify(reply(line))}\n`);
}
