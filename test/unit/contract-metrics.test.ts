import { expect, it } from 'vitest';
import { METRICS } from '../../shared/contract/metrics.ts';
import { sources, textOf } from '../support/repository.ts';

/** Where metrics are measured, the text of all files. */
const measuring = sources
  .filter((file) => /^(shared\/app|shared\/aws|functions)\//.test(file))
  .map(textOf)
  .join('\n');

it.each(Object.entries(METRICS))('%s is measured', (key, { name }) => {
  const short = name.replace(/^karpenter_|^joiner_/, '');
  const isNamed = [`'${short}'`, `'${name}'`, `, '${key}', `].some((each) =>
    measuring.includes(each),
  );
  expect(isNamed).toBe(true);
});
