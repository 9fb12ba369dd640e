import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** One project per kind of test; CONTRIBUTING.md says when to write which. */
const project = (name: string, extra: object = {}) => ({
  test: { name, include: [`test/${name}/**/*.test.ts`], ...extra },
});

/** Files that take minutes, the longest first: one that begins last is all that the end waits for. */
const LONG = [
  'e2e/chaos',
  'sim/crash',
  'e2e/health',
  'e2e/request-budgets',
  'e2e/pauses',
  'e2e/faults',
  'e2e/handover',
  'e2e/crash',
  'e2e/disruption',
  'package/package',
  'e2e/consolidation',
  'e2e/workloads',
  'e2e/install',
  'e2e/shadow',
  'docs/run',
  'sim/standalone-claims',
  'e2e/scale',
];

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ moduleId }: TestSpecification): number => {
      const at = LONG.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`));
      return at < 0 ? LONG.length : at;
    };
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => rankOf(a) - rankOf(b));
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongFirst },
    projects: [
      { test: { name: 'tidy', include: ['test/tidy.test.ts'] } },
      // The plugin for Headlamp, where it is installed, has a React of its own.
      { ...project('unit'), resolve: { dedupe: ['react'] } },
      project('property'),
      project('parity'),
      project('scenarios'),
      project('sim'),
      project('contract'),
      project('cli'),
      project('infra'),
      project('package'),
      project('docs'),
      // They wait for control planes and nodes more than they work, and go beside each other.
      project('e2e', {
        testTimeout: 600_000,
        hookTimeout: 600_000,
        expect: { poll: { timeout: 120_000 } },
        maxWorkers: 4,
        isolate: true,
        sequence: { groupOrder: 1 },
      }),
    ],
    // A busy machine makes a test slow, not wrong: only one that hangs is to fail.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    maxWorkers: '100%',
    // Files of a worker share its modules: to load them for each file took a third of the units' time.
    isolate: false,
  },
});
