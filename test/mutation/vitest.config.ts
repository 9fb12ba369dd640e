import { defineConfig } from 'vitest/config';

/** The suites that `npm run mutation` has chosen for the folder under test; see targets.ts. */
const suites: string[] = JSON.parse(process.env['JOINER_MUTATION_SUITES'] ?? '[]');

export default defineConfig({
  test: {
    include: suites,
    // Each run has a worker of its own: within one, modules are loaded once for all suites.
    isolate: false,
    testTimeout: 30_000,
  },
});
