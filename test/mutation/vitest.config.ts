import { defineConfig } from 'vitest/config';

/** The suites that `npm run mutation` has chosen for the folder under test; see targets.ts. */
const suites = (process.env['JOINER_MUTATION_SUITES'] ?? '')
  .split(',')
  .filter((each) => each !== '');

export default defineConfig({
  test: {
    include: suites,
    // A shrunk counterexample takes long, and a mutant is dead at the first failure.
    testTimeout: 30_000,
  },
});
