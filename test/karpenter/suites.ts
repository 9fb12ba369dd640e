/** Karpenter's suites, and with what of Joiner's each is run. */

/** The release whose suites are run; what Joiner is compared with in docs/compatibility.md. */
export const KARPENTER = 'v1.14.1';

/**
 * What of Joiner's stands in Karpenter's place. `validation` is `solver`, and pods that Karpenter's
 * provisioner would sort out beforehand reach it, too.
 */
export type Part = 'crds' | 'overlays' | 'solver' | 'validation';

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

export const SUITES: readonly UnitSuite[] = UNIT_SUITES;
