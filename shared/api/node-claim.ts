import * as z from 'zod';
import type { NodeClaim } from '../core/model/provisioning.ts';
import type { Decoded } from './issue.ts';
import { type DecodedParts, decodeParts, type UnknownFields } from './schema/decode.ts';
import {
  conditions,
  duration,
  durationMs,
  durationOrNever,
  durationOrNeverMs,
  NODE_CLAIM_KEYS,
  nodeClassRef,
  requirement,
  requirementExpression,
  resourceList,
  resourcesOf,
  taint,
  taintOf,
} from './schema/parts.ts';
import { withRules } from './schema/rule.ts';

const SPEC_FIELDS = {
  requirements: z.array(requirement(NODE_CLAIM_KEYS)).max(100),
  resources: z.strictObject({ requests: resourceList.optional() }).optional(),
  taints: z.array(taint).max(100).optional(),
  startupTaints: z.array(taint).max(100).optional(),
  nodeClassRef,
  terminationGracePeriod: duration.optional(),
  expireAfter: durationOrNever.default('720h'),
};

const spec = withRules(z.strictObject(SPEC_FIELDS), [
  { cel: 'self == oldSelf', message: 'spec is immutable' },
]);

const status = z.object({
  nodeName: z.string().optional(),
  providerID: z.string().optional(),
  imageID: z.string().optional(),
  capacity: resourceList.optional(),
  allocatable: resourceList.optional(),
  lastPodEventTime: z.iso.datetime().optional(),
  conditions,
});

/** karpenter.sh/v1 NodeClaim. https://karpenter.sh/docs/concepts/nodeclaims/ */
export const NODE_CLAIM_DEFINITION = {
  apiVersion: 'karpenter.sh/v1',
  kind: 'NodeClaim',
  spec,
  status,
} as const;

/** The spec as far as each of its fields can be read; one that cannot never lets a node expire. */
const anySpec = z
  .looseObject({})
  .optional()
  .catch(undefined)
  .transform((fields = {}): z.output<typeof spec> => {
    const read = <Value>(name: keyof typeof SPEC_FIELDS, schema: z.ZodType<Value>) =>
      schema.safeParse(fields[name]).data;
    const { taints, startupTaints, resources, terminationGracePeriod } = SPEC_FIELDS;
    return {
      requirements: read('requirements', SPEC_FIELDS.requirements) ?? [],
      resources: read('resources', resources),
      taints: read('taints', taints),
      startupTaints: read('startupTaints', startupTaints),
      nodeClassRef: read('nodeClassRef', nodeClassRef) ?? { group: '', kind: '', name: '' },
      terminationGracePeriod: read('terminationGracePeriod', terminationGracePeriod),
      expireAfter: read('expireAfter', SPEC_FIELDS.expireAfter) ?? 'Never',
    };
  });

export function decodeNodeClaim(
  object: unknown,
  unknownFields: UnknownFields = 'refuse',
): Decoded<NodeClaim> {
  const decoded = decodeParts(NODE_CLAIM_DEFINITION, object, unknownFields, nodeClaimOf);
  if (decoded.ok || decoded.partial !== undefined) return decoded;
  const [{ path, message } = { path: 'spec', message: '' }] = decoded.issues;
  const definition = { ...NODE_CLAIM_DEFINITION, spec: anySpec };
  const loose = decodeParts(definition, object, 'ignore', nodeClaimOf);
  const claim = loose.ok ? loose.value : loose.partial;
  if (claim === undefined) return decoded;
  return { ...decoded, partial: { ...claim, unreadable: `${path} ${message}` } };
}

function nodeClaimOf(parts: DecodedParts<z.output<typeof spec>>): NodeClaim {
  const { metadata, spec, status, conditions, read } = parts;
  const text = (key: string) => read.text(status[key], `status.${key}`) || undefined;
  return {
    name: metadata.name,
    uid: metadata.uid,
    labels: metadata.labels,
    annotations: metadata.annotations,
    finalizers: metadata.finalizers,
    createdAtMs: metadata.createdAtMs,
    deletedAtMs: metadata.deletedAtMs,
    requirements: spec.requirements.map(requirementExpression),
    requests: resourcesOf(spec.resources?.requests, 'up'),
    taints: (spec.taints ?? []).map(taintOf),
    startupTaints: (spec.startupTaints ?? []).map(taintOf),
    nodeClassRef: spec.nodeClassRef,
    expireAfter: durationOrNeverMs(spec.expireAfter),
    terminationGracePeriodMs:
      spec.terminationGracePeriod === undefined
        ? undefined
        : durationMs(spec.terminationGracePeriod),
    nodeName: text('nodeName'),
    providerId: text('providerID'),
    imageId: text('imageID'),
    capacity: read.resources(status['capacity'], 'status.capacity', 'down'),
    allocatable: read.resources(status['allocatable'], 'status.allocatable', 'down'),
    lastPodEventAtMs: read.time(status['lastPodEventTime'], 'status.lastPodEventTime'),
    conditions,
  };
}
