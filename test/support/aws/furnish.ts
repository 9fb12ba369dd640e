import { instanceTypesFor } from '../../../shared/catalog/instance-types.ts';
import { DEFAULT_LAUNCH_SETTINGS } from '../../../shared/catalog/settings.ts';
import { catalogIn } from './catalogs.ts';
import { type Account, poolKey } from './model/account.ts';

/** Of the alias al2023, by architecture. */
export const IMAGES = { x86_64: 'ami-0123456789abcdef0', arm64: 'ami-0123456789abcdef1' } as const;

/** Prices, and images and aliases of a Kubernetes release, so that nothing has to be looked up elsewhere. */
export async function furnish(account: Account, kubernetes = '1.33'): Promise<void> {
  account.useClock(() => Date.now());
  const catalog = await catalogIn(account.region);
  const types = instanceTypesFor(catalog, { ...DEFAULT_LAUNCH_SETTINGS, zones: catalog.zones });
  for (const { name, offerings, capacity } of types) {
    account.vcpus.set(name, (capacity['cpu'] ?? 2_000) / 1_000);
    for (const { zone, capacityType, price } of offerings) {
      account.prices.set(poolKey(name, zone, capacityType), price);
    }
  }
  for (const [arch, id] of Object.entries(IMAGES)) {
    for (const variant of ['standard', 'nvidia', 'neuron']) {
      const folder = `/aws/service/eks/optimized-ami/${kubernetes}/amazon-linux-2023/${arch}/${variant}`;
      account.parameters.set(`${folder}/recommended/image_id`, id);
    }
  }
  account.images = Object.entries(IMAGES).map(([arch, id]) => ({
    ImageId: id,
    Name: `amazon-eks-node-al2023-${arch}-standard-${kubernetes}`,
    Architecture: arch as keyof typeof IMAGES,
    CreationDate: '2026-01-01T00:00:00.000Z',
    State: 'available',
    OwnerId: '602401143452',
  }));
}
