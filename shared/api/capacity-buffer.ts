import * as z from 'zod';
import type { Condition } from '../core/model/cluster.ts';
import type { Resources } from '../core/model/resources.ts';
import type { Decoded } from './issue.ts';
import type { Fields, Reader } from './read.ts';
import { decodeParts, type UnknownFields } from './schema/decode.ts';
import { conditions, objectName as name, resourceList, resourcesOf } from './schema/parts.ts';
import { withRules } from './schema/rule.ts';

const ACTIVE_CAPACITY = 'buffer.x-k8s.io/active-capacity';

/** The kinds of which a buffer's pods can be made; others are named by its condition. */
export const SCALABLE_KINDS = ['Deployment', 'StatefulSet', 'ReplicaSet'] as const;
export type ScalableKind = (typeof SCALABLE_KINDS)[number];

const spec = withRules(
  z.strictObject({
    provisioningStrategy: z.enum([ACTIVE_CAPACITY]).default(ACTIVE_CAPACITY),
    podTemplateRef: z.strictObject({ name }).optional(),
    scalableRef: z
      .strictObject({ apiGroup: z.string().optional(), kind: z.string().min(1), name })
      .optional(),
    replicas: z.int().min(0).optional(),
    percentage: z.int().min(0).optional(),
    limits: resourceList.optional(),
  }),
  [
    {
      cel: 'has(self.podTemplateRef) != has(self.scalableRef)',
      message: "must specify exactly one of ['podTemplateRef', 'scalableRef']",
      check: ({ podTemplateRef, scalableRef }) =>
        (podTemplateRef === undefined) !== (scalableRef === undefined),
    },
    {
      cel: '!has(self.podTemplateRef) || has(self.replicas) || has(self.limits)',
      message: "'replicas' or 'limits' must be set with 'podTemplateRef'",
      check: ({ podTemplateRef, replicas, limits }) =>
        podTemplateRef === undefined || replicas !== undefined || limits !== undefined,
    },
    {
      cel: '!has(self.percentage) || has(self.scalableRef)',
      message: "'percentage' must be set with 'scalableRef'",
      check: ({ percentage, scalableRef }) => percentage === undefined || scalableRef !== undefined,
    },
  ],
);

const status = z.object({
  podTemplateRef: z.object({ name: z.string() }).optional(),
  replicas: z.int().optional(),
  podTemplateGeneration: z.int().optional(),
  provisioningStrategy: z.string().optional(),
  conditions,
});

/** autoscaling.x-k8s.io/v1beta1 CapacityBuffer. */
export const CAPACITY_BUFFER_DEFINITION = {
  apiVersion: 'autoscaling.x-k8s.io/v1beta1',
  kind: 'CapacityBuffer',
  spec,
  status,
} as const;

/** What a CapacityBuffer's pods are made from, by name. */
export type BufferReference =
  | { readonly kind: 'PodTemplate'; readonly name: string }
  | { readonly kind: 'ScalableRef'; readonly workload: ScalableKind; readonly name: string }
  | { readonly kind: 'Unsupported'; readonly name: string; readonly message: string };

/** A CapacityBuffer whose target has only been named so far. */
export interface NamedBuffer {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
  readonly provisioningStrategy: string;
  readonly replicas: number | undefined;
  /** Of the replicas of the scalable target. */
  readonly percentage: number | undefined;
  readonly limits: Resources;
  readonly target: BufferReference;
  /** But for the conditions. */
  readonly status: BufferStatus;
  readonly conditions: readonly Condition[];
}

interface BufferStatus {
  readonly replicas: number | undefined;
  readonly podTemplate: string | undefined;
  readonly podTemplateGeneration: number | undefined;
  readonly provisioningStrategy: string | undefined;
}

export function decodeCapacityBuffer(
  object: unknown,
  unknownFields: UnknownFields = 'refuse',
): Decoded<NamedBuffer> {
  return decodeParts(CAPACITY_BUFFER_DEFINITION, object, unknownFields, (parts) => {
    const { metadata, spec, status, conditions, generation, read } = parts;
    return {
      namespace: metadata.namespace,
      name: metadata.name,
      uid: metadata.uid,
      generation,
      provisioningStrategy: spec.provisioningStrategy,
      replicas: spec.replicas,
      percentage: spec.percentage,
      limits: resourcesOf(spec.limits, 'down'),
      target: targetOf(spec),
      status: statusOf(read, status),
      conditions,
    };
  });
}

function statusOf(read: Reader, status: Fields): BufferStatus {
  const { podTemplateRef, replicas, podTemplateGeneration, provisioningStrategy } = status;
  const template = read.fields(podTemplateRef, 'status.podTemplateRef');
  return {
    replicas: read.integer(replicas, 'status.replicas'),
    podTemplate: read.text(template['name'], 'status.podTemplateRef.name'),
    podTemplateGeneration: read.integer(podTemplateGeneration, 'status.podTemplateGeneration'),
    provisioningStrategy: read.text(provisioningStrategy, 'status.provisioningStrategy'),
  };
}

function targetOf({ podTemplateRef, scalableRef }: z.output<typeof spec>): BufferReference {
  if (scalableRef === undefined) {
    return { kind: 'PodTemplate', name: podTemplateRef?.name ?? '' };
  }
  const { apiGroup = '', kind, name } = scalableRef;
  const workload = SCALABLE_KINDS.find((each) => each === kind);
  if (workload !== undefined && ['', 'apps'].includes(apiGroup)) {
    return { kind: 'ScalableRef', workload, name };
  }
  const asked = apiGroup === '' ? kind : `${kind}.${apiGroup}`;
  const message = `${asked} is not supported: only ${SCALABLE_KINDS.join(', ')} of apps are`;
  return { kind: 'Unsupported', name, message };
}
