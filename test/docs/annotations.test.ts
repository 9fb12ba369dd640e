import { expect, it } from 'vitest';
import { textOf } from '../support/repository.ts';

const page = textOf('docs/annotations.md');
const names = [...textOf('shared/core/model/labels.ts').matchAll(/'(joiner\.dev\/[a-z-]+)'/g)];

it.each(names.map(([, name]) => name ?? ''))('%s is in docs/annotations.md', (name) => {
  expect(page).toContain(`\`${name}\``);
});
