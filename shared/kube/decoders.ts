import type { Decoded } from '../api/issue.ts';
import { outdated } from '../api/kubernetes/metadata.ts';
import type { Condition } from '../core/model/cluster.ts';
import type { Resources } from '../core/model/resources.ts';
import { parseResources } from '../core/quantity.ts';
import type { VolumeAttachment } from '../ports/cluster.ts';
import { property, text } from './list.ts';

export function decodeVolumeAttachment(object: unknown): Decoded<VolumeAttachment> {
  const spec = property(object, 'spec');
  const volume = property(property(spec, 'source'), 'persistentVolumeName');
  const value: VolumeAttachment = {
    name: text(property(property(object, 'metadata'), 'name')),
    nodeName: text(property(spec, 'nodeName')),
    persistentVolumeName: typeof volume === 'string' ? volume : undefined,
  };
  return { ok: true, value };
}

/** `status.resources` of a NodePool, rounded down as all capacity is. */
export function decodeUsage(object: unknown): Resources {
  return decodeAmounts(property(property(object, 'status'), 'resources'));
}

/** Quantities that the API server has validated, rounded down. */
function decodeAmounts(list: unknown): Resources {
  const amounts: Record<string, string> = {};
  for (const [name, amount] of Object.entries(record(list))) amounts[name] = String(amount);
  return parseResources(amounts, 'down').resources;
}

const STATUSES: ReadonlyMap<string, Condition['status']> = new Map([
  ['True', 'True'],
  ['False', 'False'],
]);

/** `status.conditions`; a time that is missing is 0. */
export function decodeConditions(object: unknown): readonly Condition[] {
  const conditions = property(property(object, 'status'), 'conditions');
  const generation = Number(property(property(object, 'metadata'), 'generation') ?? 0);
  return (Array.isArray(conditions) ? conditions : []).map(
    (each: unknown): Condition => ({
      ...outdated(Number(property(each, 'observedGeneration') ?? generation), generation),
      type: text(property(each, 'type')),
      status: STATUSES.get(text(property(each, 'status'))) ?? 'Unknown',
      reason: text(property(each, 'reason')),
      message: text(property(each, 'message')),
      lastTransitionAtMs: Date.parse(text(property(each, 'lastTransitionTime'))) || 0,
    }),
  );
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
