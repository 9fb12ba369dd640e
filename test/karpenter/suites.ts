/** Karpenter's suites, and with what of Joiner's each is run. */
import type { Part } from './edits.ts';
import { AWS, CORE, type Module } from './module.ts';

/** A suite of unit tests on an API server. */
export interface UnitSuite {
  readonly kind: 'unit';
  readonly name: string;
  /** For the table of results. */
  readonly title: string;
  /** Below `pkg/` of Karpenter's module. */
  readonly folder: string;
  readonly part: Part;
  /** What CI runs of it: all, cases that match, or nothing. */
  readonly ci: boolean | RegExp;
  /** Of the test program, beside what all have. */
  readonly environment?: Readonly<Record<string, string>>;
}

const TITLES: Readonly<Record<Part, string>> = {
  crds: 'our CRDs',
  overlays: 'our evaluation of NodeOverlays',
  solver: 'our solver',
  validation: "our solver, without Karpenter's checks of pods before it",
};

function unit(
  name: string,
  folder: string,
  part: Part,
  ci: UnitSuite['ci'],
  more: Pick<Partial<UnitSuite>, 'title' | 'environment'> = {},
): UnitSuite {
  const title = `\`${folder}\`, ${TITLES[part]}`;
  return { kind: 'unit', name, title, folder, part, ci, ...more };
}

const SCHEDULING = 'controllers/provisioning/scheduling';
const NODE_OVERLAY = 'controllers/nodeoverlay';

/** Two minutes of containers that have little in common; what is left out is more of their kinds. */
const SCHEDULING_IN_CI = new RegExp(
  [
    'Custom Constraints',
    'Preferential Fallback',
    'Binpacking',
    'In-Flight Nodes',
    'Existing Nodes',
    'VolumeUsage',
    'Deleting Nodes',
    'Reserved Instance Types',
    'Offering Overrides',
    'Topology Zonal',
    'Topology CapacityType',
  ].join('|'),
);

export const UNIT_SUITES: readonly UnitSuite[] = [
  unit('v1', 'apis/v1', 'crds', true),
  unit('v1alpha1', 'apis/v1alpha1', 'crds', true),
  unit('v1beta1', 'apis/autoscaling/v1beta1', 'crds', true),
  unit('nodeoverlay', NODE_OVERLAY, 'overlays', true),
  unit('nodeoverlay-mirrored', NODE_OVERLAY, 'overlays', false, {
    title: `the same, names of overlays swapped: the last in the alphabet is the first`,
    environment: { JOINER_MIRROR: '1' },
  }),
  unit('provisioning', 'controllers/provisioning', 'solver', true),
  unit('provisioning-validation', 'controllers/provisioning', 'validation', false),
  unit('scheduling', SCHEDULING, 'solver', SCHEDULING_IN_CI),
  unit('scheduling-validation', SCHEDULING, 'validation', false),
  unit('disruption', 'controllers/disruption', 'solver', false, {
    title: "`controllers/disruption`, its simulations with our solver; the rest is Karpenter's",
  }),
];

/** A suite against a running Joiner. */
export interface EndToEndSuite {
  readonly kind: 'end-to-end';
  readonly name: string;
  /** For the table of results. */
  readonly title: string;
  readonly module: Module;
  /** In the module. */
  readonly folder: string;
  /** Those of the folder's cases that are the suite. */
  readonly cases: RegExp;
  /** Of `manifests/`; AWS's suites make their own. */
  readonly nodePool?: string;
  /** For one case. */
  readonly minutesMax: number;
}

const ALL = /^/;
/** The suite runs twice, with `MIN_VALUES_POLICY` of Karpenter's Deployment, which is not there. */
const NOT_STRICT = /^(?!.*MinValuesPolicyStrict)/;
/** Containers of `integration` about what Joiner decides, not about images and networks. */
const IN_INTEGRATION = /^(Validation|Repair|Subnets|SecurityGroups|Tags|Kubelet)/;

function aws(name: string, folder: string, cases: RegExp, title: string): EndToEndSuite {
  return {
    kind: 'end-to-end',
    name: `aws-${name}`,
    title: `AWS's \`${folder}\`${title}`,
    module: AWS,
    folder: `test/suites/${folder}`,
    cases,
    minutesMax: 20,
  };
}

function core(
  name: string,
  folder: string,
  cases: RegExp,
  more: Pick<EndToEndSuite, 'title' | 'nodePool' | 'minutesMax'>,
): EndToEndSuite {
  const place = { module: CORE, folder: `test/suites/${folder}` } as const;
  return { kind: 'end-to-end', name, ...place, cases, ...more };
}

export const END_TO_END_SUITES: readonly EndToEndSuite[] = [
  core('regression', 'regression', /^(?!CapacityBuffer)/, {
    title: '`regression` without capacity buffers',
    nodePool: 'nodepool.yaml',
    minutesMax: 20,
  }),
  core('capacity-buffers', 'regression', /^CapacityBuffer/, {
    title: 'capacity buffers of `regression`',
    nodePool: 'nodepool-2-cpu.yaml',
    minutesMax: 20,
  }),
  core('performance', 'performance', ALL, {
    title: '`performance` with a fifth of its pods, its own thresholds',
    nodePool: 'nodepool.yaml',
    minutesMax: 40,
  }),
  aws('interruption', 'interruption', ALL, ''),
  aws('consolidation', 'consolidation', NOT_STRICT, ', once: a setting is its other half'),
  aws('drift', 'drift', ALL, ''),
  aws('integration', 'integration', IN_INTEGRATION, ', what needs no containers'),
  aws('scheduling', 'scheduling-strict', ALL, ''),
];

export type Suite = UnitSuite | EndToEndSuite;

export const SUITES: readonly Suite[] = [...UNIT_SUITES, ...END_TO_END_SUITES];
