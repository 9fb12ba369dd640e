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

/** By name; without a name `npm run mutation` takes all, in this order. */
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
  launch: {
    mutate: ['shared/core/launch/**/*.ts'],
    suites: ['test/unit/launch/**/*.test.ts'],
  },
  interruption: {
    mutate: ['shared/core/interruption/**/*.ts'],
    suites: ['test/unit/interruption/**/*.test.ts', 'test/property/interruptions.test.ts'],
  },
  lifecycle: {
    mutate: ['shared/core/lifecycle/**/*.ts'],
    suites: ['test/unit/lifecycle/**/*.test.ts'],
  },
  disruption: {
    mutate: ['shared/core/disruption/**/*.ts'],
    suites: ['test/unit/disruption/**/*.test.ts'],
  },
};
