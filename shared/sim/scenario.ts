import { z } from 'zod';
import type { Decoded } from '../api/issue.ts';
import { issuesOf } from '../api/schema/issues.ts';
import { parseDurationMs } from '../core/duration.ts';
import { PODS_MAX } from './kinds.ts';

/** What happens to the simulated world from outside, and when. */

const time = z
  .string()
  .refine(
    (text) => parseDurationMs(text) !== undefined,
    'must be a time since the start such as 90s, 5m or 1h30m',
  )
  .transform((text) => parseDurationMs(text) ?? 0);

const inlineObject = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string() }),
});

const target = z.strictObject({
  kind: z.string(),
  name: z.string(),
  namespace: z.string().default('default'),
});

const offering = {
  instanceType: z.string().optional(),
  zone: z.string().optional(),
  capacityType: z.enum(['spot', 'on-demand']).optional(),
};

const reservation = z
  .strictObject({
    id: z.string().regex(/^cr-[0-9a-z]+$/, 'must be an id such as cr-0123456789abcdef0'),
    instanceType: z.string(),
    zone: z.string(),
    instances: z.int().min(1),
    reservationType: z.enum(['default', 'capacity-block']).default('default'),
    /** For `capacityReservationSelectorTerms` that select by tags. */
    tags: z.record(z.string(), z.string()).default({}),
    for: time.optional(),
  })
  .refine((value) => value.reservationType === 'default' || value.for !== undefined, {
    path: ['for'],
    message: 'is required for a capacity-block, which always has an end',
  });

const step = z
  .strictObject({
    at: time,
    /** Files relative to the scenario file, or whole objects. */
    apply: z
      .array(z.union([z.string(), inlineObject]))
      .min(1)
      .optional(),
    delete: z
      .array(z.union([z.string(), target]))
      .min(1)
      .optional(),
    scale: z
      .strictObject({
        kind: z.enum(['Deployment', 'ReplicaSet', 'StatefulSet', 'NodePool']).default('Deployment'),
        name: z.string(),
        namespace: z.string().default('default'),
        replicas: z.int().min(0).max(PODS_MAX),
      })
      .optional(),
    /** The first node in the order of names that fits what is given. */
    interrupt: z
      .strictObject({ node: z.string().optional(), nodePool: z.string().optional() })
      .optional(),
    unavailable: z.strictObject({ ...offering, for: time.optional() }).optional(),
    /** A capacity reservation or a Capacity Block is created. */
    reserve: reservation.optional(),
    /** A capacity reservation is cancelled, by its id. */
    cancel: z.strictObject({ reservation: z.string() }).optional(),
    price: z
      .strictObject({
        instanceType: z.string(),
        capacityType: z.enum(['spot', 'on-demand']),
        zone: z.string().optional(),
        price: z.number().positive(),
      })
      .optional(),
    /** Resources whose device plugin does not report them on nodes that turn ready from now on. */
    withhold: z.array(z.string()).min(1).optional(),
  })
  .refine((value) => Object.keys(value).length > 1, 'a step needs something to do beside "at"');

export const scenarioSchema = z.strictObject({ steps: z.array(step).min(1) });

export type Scenario = z.infer<typeof scenarioSchema>;
export type ScenarioStep = Scenario['steps'][number];

/** Everything wrong with a scenario, with the path of each field. */
export function decodeScenario(raw: unknown): Decoded<Scenario> {
  const parsed = scenarioSchema.safeParse(raw, { reportInput: true });
  if (parsed.success) return { ok: true, value: parsed.data };
  return { ok: false, issues: issuesOf(parsed.error, scenarioSchema) };
}
