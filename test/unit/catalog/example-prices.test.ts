import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { loadCatalog } from '../../../shared/catalog/catalog.ts';
import { instanceTypesFor } from '../../../shared/catalog/instance-types.ts';
import { DEFAULT_LAUNCH_SETTINGS } from '../../../shared/catalog/settings.ts';

const label = (name: string) => `karpenter.k8s.aws/instance-${name}`;

/** What the pool of examples/01-prefer-graviton4 offers its three one-CPU arm64 pods. */
test('the prices that example 01 quotes decide between c7g and c8g', async () => {
  const catalog = await loadCatalog('eu-west-1');
  const types = instanceTypesFor(catalog, { ...DEFAULT_LAUNCH_SETTINGS, zones: catalog.zones });
  const offered = types
    .filter(
      (type) =>
        type.labels['kubernetes.io/arch']?.includes('arm64') &&
        type.labels[label('category')]?.includes('c') &&
        Number(type.labels[label('generation')]?.[0]) > 6 &&
        type.capacity['cpu'] === 4000,
    )
    .flatMap((type) => {
      const onDemand = type.offerings.find((each) => each.capacityType === 'on-demand');
      return onDemand === undefined ? [] : [{ name: type.name, price: onDemand.price }];
    });
  const cheapest = (prices: typeof offered) =>
    prices.toSorted((a, b) => a.price - b.price).at(0)?.name;
  expect(cheapest(offered)).toBe('c7g.xlarge');
  const adjusted = offered.map((each) =>
    each.name.startsWith('c7g.') ? { ...each, price: each.price * 1.5 } : each,
  );
  expect(cheapest(adjusted)).toBe('c8g.xlarge');

  const readme = readFileSync(
    new URL('../../../examples/01-prefer-graviton4/README.md', import.meta.url),
    'utf8',
  );
  for (const { name, price } of offered) {
    if (name === 'c7g.xlarge' || name === 'c8g.xlarge') expect(readme).toContain(`$${price}`);
  }
});
