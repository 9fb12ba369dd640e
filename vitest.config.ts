import { defineConfig } from 'vitest/config';

/** One project per kind of test; CONTRIBUTING.md says when to write which. */
const project = (name: string, extra: object = {}) => ({
  test: { name, include: [`test/${name}/**/*.test.ts`], ...extra },
});

export default defineConfig({
  test: {
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
        testTimeout: 120_000,
        hookTimeout: 600_000,
        maxWorkers: 3,
        sequence: { groupOrder: 1 },
      }),
    ],
    // A busy machine makes a test slow, not wrong: only one that hangs is to fail.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    maxWorkers: '100%',
  },
});
