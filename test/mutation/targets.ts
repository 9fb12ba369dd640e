/** What `npm run mutation` can put to the test. */
export interface Target {
  /** The files to mutate, as globs. */
  readonly mutate: readonly string[];
  /**
   * The suites that must notice, as globs. Only quick ones: a mutant that only a slow suite kills
   * counts as a survivor, so the score is a lower bound.
   */
  readonly suites: readonly string[];
}

/** Files of a core folder, and the suites of the same names or of more. */
function inFolder(folder: string, names: string, ...more: readonly string[]): Target {
  return {
    mutate: [`shared/core/${folder}/${names}.ts`],
    suites: [names, ...more].map((each) => `test/unit/${folder}/${each}.test.ts`),
  };
}

/**
 * By name; `/` parts the targets of one folder. Few suites each: a mutant of a constant runs with all
 * of them.
 */
export const TARGETS: Readonly<Record<string, Target>> = {
  requirements: {
    mutate: ['shared/core/requirements/**/*.ts'],
    suites: ['test/unit/requirements/**/*.test.ts', 'test/parity/algebra.test.ts'],
  },
  quantity: {
    mutate: ['shared/core/quantity.ts'],
    suites: ['test/unit/quantity.test.ts', 'test/parity/algebra.test.ts'],
  },
  overlay: {
    mutate: ['shared/core/overlay/**/*.ts'],
    suites: [
      'test/unit/overlay/**/*.test.ts',
      'test/property/overlays.test.ts',
      'test/parity/overlays.test.ts',
    ],
  },
  'launch/bars': inFolder('launch', '{faults,bars,halted-pools,subnet-choice}'),
  'launch/bootstrap': inFolder(
    'launch',
    '{kubelet,kubelet-fields,node-bootstrap,cluster-facts,node-class-problems,block-devices}',
  ),
  'launch/images': inFolder('launch', '{image-families/*,image-selection}'),
  'launch/hashes': inFolder(
    'launch',
    '{sha256,canonical-text,drift-hash,template-hash,profile-roles}',
  ),
  'launch/requests': inFolder('launch', '{overrides,launch-request,fleet-group,node-classes}'),
  'launch/groups': inFolder('launch', '{pod-groups,group-pods,unmet,unused-launches}'),
  'launch/outcomes': inFolder('launch', '{launch-outcomes,launch-backoff}', 'launch-outcome-texts'),
  interruption: {
    mutate: ['shared/core/interruption/**/*.ts'],
    suites: ['test/unit/interruption/**/*.test.ts', 'test/property/interruptions.test.ts'],
  },
  lifecycle: {
    mutate: ['shared/core/lifecycle/**/*.ts'],
    suites: ['test/unit/lifecycle/**/*.test.ts'],
  },
  disruption: {
    mutate: ['shared/core/disruption/*.ts'],
    suites: ['test/unit/disruption/*.test.ts'],
  },
  'disruption/consolidation': inFolder('disruption', 'consolidation/*'),
};

/** The targets of a name or a folder; undefined: there is none. */
export function targetsOf(name: string): readonly string[] | undefined {
  const found = Object.keys(TARGETS).filter((each) => each === name || each.startsWith(`${name}/`));
  return found.length === 0 ? undefined : found;
}

/** Of `shared/core`: each file of these is in one target. */
export const FOLDERS: readonly string[] = [
  'requirements',
  'overlay',
  'launch',
  'interruption',
  'lifecycle',
  'disruption',
];
