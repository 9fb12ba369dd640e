import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { decodeCase } from '../../shared/api/case/decode.ts';
import { encodeOverlays } from '../../shared/api/case/overlays.ts';
import { resolveOverlays } from '../../shared/core/overlay/resolve.ts';
import { type Json, listAt, objectAt } from '../../shared/sim/json.ts';

interface Recorded {
  readonly problem: Json & { readonly name: string };
  readonly answer: Json;
}

const file = join(import.meta.dirname, 'overlays', 'answers.json.gz');
const recorded: readonly Recorded[] = JSON.parse(gunzipSync(readFileSync(file)).toString());

/** Our answer in the shape of `joiner diagnose --case FILE -o json`. */
function diagnosed(problem: Json): Json {
  const decoded = decodeCase(problem);
  if (!decoded.ok) throw new Error(JSON.stringify(decoded.issues));
  const { snapshot, rejected } = decoded.value;
  const { nodePools, instanceTypes, nodeOverlays } = snapshot;
  const resolution = resolveOverlays(nodePools, instanceTypes, nodeOverlays);
  return JSON.parse(JSON.stringify(encodeOverlays(resolution, rejected)));
}

/** Types by name; Karpenter lists types and offerings in orders of its own. */
function byName(types: unknown): Json {
  const list = Array.isArray(types) ? types : [];
  return Object.fromEntries(
    list.map((type: Json) => [
      type['name'],
      {
        ...type,
        offerings: listAt(type, 'offerings')
          .map((each) => JSON.stringify(each))
          .sort(),
      },
    ]),
  );
}

describe('overlays as Karpenter’s own controller applies them', () => {
  it('has 200 cases in which overlays do something', () => {
    expect(recorded).toHaveLength(200);
  });

  it.each(recorded)('$problem.name', ({ problem, answer }) => {
    const ours = diagnosed(problem);
    expect(Object.keys(objectAt(ours, 'rejected')).sort()).toEqual(
      Object.keys(objectAt(answer, 'rejected')).sort(),
    );
    const theirs = objectAt(answer, 'nodePools');
    expect(Object.keys(objectAt(ours, 'nodePools')).sort()).toEqual(Object.keys(theirs).sort());
    for (const [pool, types] of Object.entries(theirs)) {
      expect(byName(objectAt(ours, 'nodePools')[pool]), pool).toEqual(byName(types));
    }
  });
});
