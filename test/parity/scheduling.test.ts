import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { decodeCase, type SchedulingCase } from '../../shared/api/case/decode.ts';
import type { Plan } from '../../shared/core/model/plan.ts';
import { resolveOverlays } from '../../shared/core/overlay/resolve.ts';
import { solve } from '../../shared/core/scheduling/solve.ts';
import { type Json, listAt, textAt } from '../../shared/sim/json.ts';
import { checkPlan } from '../support/check-plan.ts';

/** A generated case, and what Karpenter's own scheduler made of it. */
interface Recorded {
  readonly name: string;
  readonly problem: Json;
  /** Pods that its plan places, sorted. */
  readonly placed: readonly string[];
  /** The least USD an hour of its runs that placed the same pods. */
  readonly price: number;
  /** Something is used up: another set of pods can be as right. */
  readonly contended: boolean;
}

const file = join(import.meta.dirname, 'scheduling', 'answers.json.gz');
const recorded: readonly Recorded[] = JSON.parse(gunzipSync(readFileSync(file)).toString());

/** Cases in which Karpenter pays less, and why: only the price is not compared there. */
const DEARER: ReadonlyMap<string, string> = new Map([
  [
    'medium-23',
    'a node in a reservation offers one family, the NodePool asks for minValues 4; Karpenter counts families that the reservation does not have',
  ],
]);

function planOf(problem: Json): { readonly plan: Plan; readonly subject: SchedulingCase } {
  const decoded = decodeCase(problem);
  if (!decoded.ok) throw new Error(JSON.stringify(decoded.issues));
  const { snapshot, settings } = decoded.value;
  const { nodePools, instanceTypes, nodeOverlays } = snapshot;
  const resolved = resolveOverlays(nodePools, instanceTypes, nodeOverlays);
  const overlaid = { ...snapshot, instanceTypes: resolved.instanceTypes };
  return { plan: solve(overlaid, settings), subject: { ...decoded.value, snapshot: overlaid } };
}

function placedBy({ newNodeClaims, existing }: Plan): ReadonlySet<string> {
  return new Set([...newNodeClaims, ...existing].flatMap((each) => each.pods));
}

function keyOf(pod: Json): string {
  return `${textAt(pod, 'metadata', 'namespace') ?? 'default'}/${textAt(pod, 'metadata', 'name')}`;
}

/** The case with only those pods left to place that Karpenter places. */
function reduced({ problem, placed }: Recorded, plan: Plan): Json {
  const kept = new Set(placed);
  const asked = new Set([...placedBy(plan), ...plan.unplaced.keys(), ...plan.ignored.keys()]);
  const pods = listAt(problem, 'pods').filter((pod) => {
    const key = keyOf(pod as Json);
    return kept.has(key) || !asked.has(key);
  });
  return { ...problem, pods };
}

describe('plans beside those of Karpenter’s own scheduler', () => {
  it('are of 70 cases', () => expect(recorded).toHaveLength(70));

  it.each(recorded)('$name', (each) => {
    const { plan, subject } = planOf(each.problem);
    expect(checkPlan(subject, plan)).toEqual([]);
    const ours = placedBy(plan);
    const missing = each.placed.filter((pod) => !ours.has(pod));
    if (!each.contended) expect(missing).toEqual([]);
    const same = planOf(reduced(each, plan)).plan;
    const both = placedBy(same);
    const left = each.placed.filter((pod) => !both.has(pod));
    expect(left).toEqual([]);
    const isDearer = same.pricePerHour > each.price + 1e-6;
    expect(isDearer, `${same.pricePerHour} > ${each.price}`).toBe(DEARER.has(each.name));
  });
});
