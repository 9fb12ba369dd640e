import {
  ARCH,
  CAPACITY_TYPE,
  INSTANCE_LABELS,
  INSTANCE_TYPE,
  ON_DEMAND,
  OS,
} from '../../shared/core/model/labels.ts';
import type { Json } from '../../shared/sim/json.ts';
import { metadataOf, nodeMetadata } from './metadata.ts';
import { classOfProvider } from './node-template.ts';
import type { ProvisionerSpec } from './old-pools.ts';
import { type ClassPart, type Note, type PoolPart, present } from './part.ts';
import { CLASS_GROUP, CLASS_KIND, currentKeys, durationText, expiryNote, filled } from './pool.ts';
import type { Identity } from './selectors.ts';

const ORIGINS = [
  ['spec.template.spec.requirements', 'spec.requirements'],
  ['spec.template.spec.taints', 'spec.taints'],
  ['spec.template.spec.startupTaints', 'spec.startupTaints'],
  ['spec.template.spec.nodeClassRef', 'spec.providerRef'],
  ['spec.template.metadata.labels', 'spec.labels'],
  ['spec.template.metadata.annotations', 'spec.annotations'],
  ['spec.limits', 'spec.limits.resources'],
] as const;

/**
 * What the webhook of v1alpha5 wrote into a Provisioner that did not say it. Karpenter's v1beta1
 * migration guide, "Defaults Dropped".
 */
const DEFAULTS = [
  { key: OS, operator: 'In', values: ['linux'], unless: [OS] },
  { key: ARCH, operator: 'In', values: ['amd64'], unless: [ARCH] },
  { key: CAPACITY_TYPE, operator: 'In', values: [ON_DEMAND], unless: [CAPACITY_TYPE] },
  ...[
    { key: INSTANCE_LABELS.category, operator: 'In', values: ['c', 'm', 'r'] },
    { key: INSTANCE_LABELS.generation, operator: 'Gt', values: ['2'] },
  ].map((each) => ({
    ...each,
    unless: [
      INSTANCE_TYPE,
      INSTANCE_LABELS.family,
      INSTANCE_LABELS.category,
      INSTANCE_LABELS.generation,
    ] as readonly string[],
  })),
];

function requirementsOf({ requirements = [] }: ProvisionerSpec): {
  readonly requirements: readonly Json[];
  readonly notes: readonly Note[];
} {
  const given = currentKeys(requirements);
  const keys = new Set(given.map(({ key }) => key));
  const added = DEFAULTS.filter(({ unless }) => !unless.some((key) => keys.has(key)));
  const notes = added.map(({ key, operator, values }) => ({
    field: 'spec.requirements',
    message: `${key} ${operator} ${values.join(', ')} is written out: v1alpha5 took it where nothing was said, v1 does not`,
  }));
  const written = added.map(({ key, operator, values }) => ({ key, operator, values }));
  return { requirements: [...given, ...written], notes };
}

function disruptionOf({ consolidation, ttlSecondsAfterEmpty }: ProvisionerSpec): {
  readonly disruption: Json;
  readonly notes: readonly Note[];
} {
  if (consolidation?.enabled === true) {
    const disruption = { consolidationPolicy: 'WhenEmptyOrUnderutilized', consolidateAfter: '0s' };
    return { disruption, notes: [] };
  }
  const empty = { consolidationPolicy: 'WhenEmpty' };
  if (ttlSecondsAfterEmpty !== undefined) {
    const consolidateAfter = durationText(ttlSecondsAfterEmpty);
    return { disruption: { ...empty, consolidateAfter }, notes: [] };
  }
  const message =
    'not given, nor ttlSecondsAfterEmpty: consolidateAfter: Never is written out, since v1 consolidates where nothing is said';
  return {
    disruption: { ...empty, consolidateAfter: 'Never' },
    notes: [{ field: 'spec.consolidation', message }],
  };
}

function expiryOf({ ttlSecondsUntilExpired: seconds }: ProvisionerSpec): {
  readonly expireAfter: string;
  readonly notes: readonly Note[];
} {
  const field = 'spec.ttlSecondsUntilExpired';
  if (seconds === undefined) {
    const message = 'not given: expireAfter: Never is written out, since v1 takes 720h';
    return { expireAfter: 'Never', notes: [{ field, message }] };
  }
  const expireAfter = durationText(seconds);
  return { expireAfter, notes: expiryNote(field, String(seconds), expireAfter) };
}

/** Budgets came with v1beta1, and drift was behind a gate before it. */
const DISRUPTION_NOTE = {
  field: 'spec',
  message:
    'v1 also replaces nodes that have drifted, and lets 10% of the nodes go at once; spec.disruption.budgets of the NodePool says otherwise',
};

function kubeletOf({ kubeletConfiguration }: ProvisionerSpec): {
  readonly kubelet: Json | undefined;
  readonly notes: readonly Note[];
} {
  const { containerRuntime, ...kubelet } = kubeletConfiguration ?? {};
  if (containerRuntime !== 'dockerd') return { kubelet: filled(present(kubelet)), notes: [] };
  const message = `"${containerRuntime}": left out: nodes run containerd and nothing else`;
  const note = { field: 'spec.kubeletConfiguration.containerRuntime', message };
  return { kubelet: filled(present(kubelet)), notes: [note] };
}

/** karpenter.sh/v1alpha5 Provisioner; `className` is that of its inline provider. */
export function poolOfProvisioner(
  object: Json,
  spec: ProvisionerSpec,
  className: string,
): PoolPart {
  const { requirements, notes } = requirementsOf(spec);
  const { disruption, notes: disruptionNotes } = disruptionOf(spec);
  const { expireAfter, notes: expiryNotes } = expiryOf(spec);
  const { kubelet, notes: kubeletNotes } = kubeletOf(spec);
  const fields = { labels: 'spec.labels', annotations: 'spec.annotations' };
  const nodes = nodeMetadata(spec.labels, spec.annotations, fields);
  return {
    metadata: metadataOf(object),
    spec: {
      template: {
        ...present({ metadata: nodes.metadata }),
        spec: present({
          requirements,
          taints: filled(spec.taints),
          startupTaints: filled(spec.startupTaints),
          expireAfter,
        }),
      },
      disruption,
      ...present({ limits: filled(spec.limits?.resources), weight: spec.weight }),
    },
    nodeClassRef: {
      group: CLASS_GROUP,
      kind: CLASS_KIND,
      name: spec.providerRef?.name ?? className,
    },
    kubelet,
    kubeletField: 'spec.kubeletConfiguration',
    notes: [
      ...notes,
      ...nodes.notes,
      ...kubeletNotes,
      ...disruptionNotes,
      ...expiryNotes,
      DISRUPTION_NOTE,
    ],
    origins: ORIGINS,
  };
}

/** The EC2NodeClass that stands for a Provisioner's own `provider`. */
export function inlineClass(
  spec: ProvisionerSpec,
  className: string,
  identity: Identity,
): ClassPart | undefined {
  if (spec.provider === undefined) return undefined;
  const part = classOfProvider({ name: className }, spec.provider, identity, 'spec.provider');
  const message = `becomes EC2NodeClass/${className}`;
  return { ...part, notes: [{ field: 'spec.provider', message }, ...part.notes] };
}
