import * as z from 'zod';
import {
  CAPACITY_TYPE,
  CAPACITY_TYPES,
  normalizeLabelKey,
  ownValue,
  TENANCY,
} from '../core/model/labels.ts';
import type { DisruptionBudget, NodePool } from '../core/model/provisioning.ts';
import { BUDGET_REASONS } from '../core/model/provisioning.ts';
import { allows, contradictingKey, requirementsOf } from '../core/requirements/value-set.ts';
import type { Decoded } from './issue.ts';
import { type DecodedParts, decodeParts, type UnknownFields } from './schema/decode.ts';
import {
  annotationKeyFault,
  conditions,
  duration,
  durationMs,
  durationOrNever,
  durationOrNeverMs,
  eachKey,
  LABEL_VALUE,
  LABEL_VALUE_MAX,
  labelKeyFault,
  NODE_POOL_KEYS,
  nodeClassRef,
  requirement,
  requirementExpression,
  resourceList,
  resourcesOf,
  taint,
  taintOf,
} from './schema/parts.ts';
import { withRules } from './schema/rule.ts';

const budgetShape = z.strictObject({
  nodes: z
    .string()
    .regex(/^((100|[0-9]{1,2})%|[0-9]+)$/, { message: 'must be a count such as 3, or 0% to 100%' })
    .default('10%'),
  schedule: z
    .string()
    .regex(/^(@(annually|yearly|monthly|weekly|daily|midnight|hourly)|\S+( +\S+){4})$/, {
      message: 'must be a cron expression of five fields in UTC, or a macro such as @daily',
    })
    .optional(),
  duration: z
    .string()
    .regex(/^((([0-9]+(h|m))|([0-9]+h[0-9]+m))(0s)?)$/, {
      message: 'must be hours and minutes such as 8h or 1h30m',
    })
    .optional(),
  reasons: z.array(z.enum(BUDGET_REASONS)).max(50).optional(),
});

const budget = withRules(budgetShape, [
  {
    cel: 'has(self.schedule) == has(self.duration)',
    message: "'schedule' must be set with 'duration'",
    check: ({ schedule, duration }) => (schedule === undefined) === (duration === undefined),
  },
]);

const disruption = z.strictObject({
  consolidateAfter: durationOrNever.default('0s'),
  consolidationPolicy: z
    .enum(['WhenEmpty', 'WhenEmptyOrUnderutilized', 'Balanced'])
    .default('WhenEmptyOrUnderutilized'),
  budgets: z
    .array(budget)
    .max(50)
    .default([{ nodes: '10%' }]),
});

const templateSpec = withRules(
  z.strictObject({
    requirements: z.array(requirement(NODE_POOL_KEYS)).max(100),
    taints: z.array(taint).max(100).optional(),
    startupTaints: z.array(taint).max(100).optional(),
    nodeClassRef,
    terminationGracePeriod: duration.optional(),
    expireAfter: durationOrNever.default('720h'),
  }),
  [
    {
      cel: 'self.nodeClassRef.group == oldSelf.nodeClassRef.group',
      message: 'nodeClassRef.group is immutable',
    },
    {
      cel: 'self.nodeClassRef.kind == oldSelf.nodeClassRef.kind',
      message: 'nodeClassRef.kind is immutable',
    },
  ],
);

const labels = z.record(
  z.string().max(316),
  z.string().max(LABEL_VALUE_MAX).regex(LABEL_VALUE, { message: 'must be a label value' }),
);

/** The labels of a template: at most 100, none of a domain that is not the user's. */
export const templateLabels = withRules(
  labels.refine((map) => Object.keys(map).length <= 100, { message: 'has more than 100 entries' }),
  eachKey(NODE_POOL_KEYS),
).meta({ maxProperties: 100 });

const spec = withRules(
  z.strictObject({
    template: z.strictObject({
      metadata: z
        .strictObject({
          labels: templateLabels.optional(),
          annotations: z.record(z.string(), z.string()).optional(),
        })
        .optional(),
      spec: templateSpec,
    }),
    disruption: disruption.default({
      consolidateAfter: '0s',
      consolidationPolicy: 'WhenEmptyOrUnderutilized',
      budgets: [{ nodes: '10%' }],
    }),
    limits: resourceList.optional(),
    weight: z.int().min(1).max(100).optional(),
    replicas: z.int().min(0).optional(),
  }),
  [
    {
      cel: 'has(self.replicas) == has(oldSelf.replicas)',
      message:
        'Cannot transition NodePool between static (replicas set) and dynamic (replicas unset) provisioning modes',
    },
    {
      cel: "!has(self.replicas) || !has(self.limits) || self.limits.all(key, key == 'nodes')",
      message: "only 'limits.nodes' is supported on static NodePools",
      check: ({ replicas, limits = {} }) =>
        replicas === undefined || Object.keys(limits).every((key) => key === 'nodes'),
    },
    {
      cel: '!has(self.replicas) || !has(self.weight)',
      message: "'weight' is not supported on static NodePools",
      check: ({ replicas, weight }) => replicas === undefined || weight === undefined,
    },
  ],
);

const status = z.object({
  conditions,
  nodeClassObservedGeneration: z.int().min(0).optional(),
  nodes: z.int().min(0).default(0),
  resources: resourceList.optional(),
});

/** karpenter.sh/v1 NodePool. https://karpenter.sh/docs/concepts/nodepools/ */
export const NODE_POOL_DEFINITION = {
  apiVersion: 'karpenter.sh/v1',
  kind: 'NodePool',
  spec,
  status,
} as const;

type Spec = z.output<typeof spec>;

/** Reads a NodePool; what only shows at run time is its `invalid`, not an issue. */
export function decodeNodePool(
  object: unknown,
  unknownFields: UnknownFields = 'refuse',
): Decoded<NodePool> {
  return decodeParts(NODE_POOL_DEFINITION, object, unknownFields, nodePoolOf);
}

function nodePoolOf({ metadata, spec, conditions }: DecodedParts<Spec>): NodePool {
  const { template } = spec;
  const requirements = template.spec.requirements.map(requirementExpression);
  return {
    name: metadata.name,
    uid: metadata.uid,
    annotations: metadata.annotations,
    isDeleting: metadata.deletedAtMs !== undefined,
    weight: spec.weight ?? 0,
    limits: resourcesOf(spec.limits, 'down'),
    replicas: spec.replicas,
    template: {
      labels: template.metadata?.labels ?? {},
      annotations: template.metadata?.annotations ?? {},
      requirements,
      taints: (template.spec.taints ?? []).map(taintOf),
      startupTaints: (template.spec.startupTaints ?? []).map(taintOf),
      nodeClassRef: template.spec.nodeClassRef,
      expireAfter: durationOrNeverMs(template.spec.expireAfter),
      terminationGracePeriodMs:
        template.spec.terminationGracePeriod === undefined
          ? undefined
          : durationMs(template.spec.terminationGracePeriod),
    },
    disruption: {
      consolidateAfter: durationOrNeverMs(spec.disruption.consolidateAfter),
      consolidationPolicy: spec.disruption.consolidationPolicy,
      budgets: spec.disruption.budgets.map(budgetOf),
    },
    invalid: runtimeFault(metadata.name, spec),
    conditions,
  };
}

function budgetOf(budget: z.output<typeof budgetShape>): DisruptionBudget {
  return {
    nodes: budget.nodes,
    schedule: budget.schedule,
    durationMs: budget.duration === undefined ? undefined : durationMs(budget.duration),
    reasons: budget.reasons,
  };
}

/** Keys of which every value is known: a pool that asks for none of them can launch nothing. */
const KNOWN_VALUES: Readonly<Record<string, readonly string[]>> = {
  [CAPACITY_TYPE]: CAPACITY_TYPES,
  [TENANCY]: ['default', 'dedicated'],
};

/** Both become values of labels, of which the API server takes no longer ones. */
function nameFaults(name: string, { template }: Spec): readonly string[] {
  const names = { 'metadata.name': name, 'nodeClassRef.name': template.spec.nodeClassRef.name };
  return Object.entries(names).flatMap(([field, text]) =>
    text.length <= LABEL_VALUE_MAX
      ? []
      : [`${field} has more than ${LABEL_VALUE_MAX} characters, which no label value has`],
  );
}

/** Where template and requirements contradict, each node would drift as soon as it is there. */
function metadataFaults({ template }: Spec): readonly string[] {
  const { labels = {}, annotations = {} } = template.metadata ?? {};
  const asked = requirementsOf(template.spec.requirements.map(requirementExpression));
  const refused = contradictingKey(asked);
  const faults = Object.entries(labels).flatMap(([key, value]) => {
    const set = asked.get(normalizeLabelKey(key));
    const isAllowed = set === undefined || allows(set, value);
    return [
      labelKeyFault(key) ?? [],
      isAllowed ? [] : `the requirements do not allow the template's label ${key}=${value}`,
    ].flat();
  });
  return [
    ...(refused === undefined ? [] : [`the requirements on ${refused} contradict each other`]),
    ...faults,
    ...Object.keys(annotations).flatMap((key) => annotationKeyFault(key) ?? []),
  ];
}

/** What CEL leaves open and Karpenter's controller checks: reason NodePoolValidationFailed. */
function runtimeFault(name: string, spec: Spec): string | undefined {
  const { template } = spec;
  const faults = [...nameFaults(name, spec), ...metadataFaults(spec)];
  const seen = new Set<string>();
  for (const { key, effect } of [
    ...(template.spec.taints ?? []),
    ...(template.spec.startupTaints ?? []),
  ]) {
    const id = `${key}:${effect}`;
    if (seen.has(id)) faults.push(`duplicate taint key and effect ${id}`);
    seen.add(id);
  }
  for (const { key, operator, values = [] } of template.spec.requirements) {
    const fault = labelKeyFault(key);
    if (fault !== undefined) faults.push(fault);
    const known = ownValue(KNOWN_VALUES, key);
    if (operator === 'In' && known !== undefined && !values.some((each) => known.includes(each))) {
      faults.push(`none of ${values.join(', ')} is a value of ${key}: ${known.join(', ')}`);
    }
    const malformed = values.find((each) => !LABEL_VALUE.test(each));
    if (malformed !== undefined) faults.push(`"${malformed}" of ${key} is not a label value`);
  }
  return faults.length === 0 ? undefined : faults.join('; ');
}
