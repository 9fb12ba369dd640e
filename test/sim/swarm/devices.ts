import { type Json, objectAt } from '../../../shared/sim/json.ts';
import { NO_DEVICES } from '../../../shared/sim/node-facts.ts';
import { Prng } from '../../../shared/sim/prng.ts';
import { WORLD_START_MS, type World } from '../../../shared/sim/world.ts';
import { deployment } from '../small-world.ts';
import { one } from './one.ts';

const MINUTE = 60_000;
const LAST_MINUTE = 30;
const DEVICE = 'example.com/device';

/** Nodes of these families have devices, which nobody but the overlay knows of. */
function overlayOf(families: readonly string[], count: number): Json {
  const key = 'karpenter.k8s.aws/instance-family';
  return {
    apiVersion: 'karpenter.sh/v1alpha1',
    kind: 'NodeOverlay',
    metadata: { name: 'devices' },
    spec: {
      requirements: [{ key, operator: 'In', values: [...families] }],
      capacity: { [DEVICE]: String(count) },
    },
  };
}

function usersOf(replicas: number): Json {
  const requests = { cpu: '250m', [DEVICE]: '1' };
  const resources = { requests, limits: { [DEVICE]: '1' } };
  const containers = [{ name: 'main', image: 'app', resources }];
  const { spec, ...rest } = deployment('devices', replicas, '0');
  const template = objectAt(spec, 'template');
  const own = { ...template, spec: { containers } };
  return { ...rest, spec: { ...objectAt(spec), template: own } };
}

/**
 * In some worlds pods use devices that a plugin reports minutes after the node is ready, or only
 * once somebody has mended it.
 */
export function addDevices(world: World, seed: number, mark: (what: string) => void): void {
  const random = new Prng(seed, 'devices');
  if (random.next() >= 0.3) return;
  const { store, timeline } = world;
  const share = one(random, [0.3, 0.7, 1]);
  const mendedMs = WORLD_START_MS + LAST_MINUTE * MINUTE;
  const families = one(random, [['c7g'], ['c7g', 'm7g'], ['c6a', 'm6a']]);
  const count = random.between(1, 4);
  store.apply(overlayOf(families, count));
  const lateMs = (): number => {
    const restMs = mendedMs - timeline.nowMs();
    if (random.next() >= share || restMs <= 0) return 0;
    const isBroken = random.next() < 0.15;
    mark(isBroken ? 'device plugin is broken' : 'devices are late');
    return isBroken ? restMs : random.between(1_000, 6 * MINUTE);
  };
  world.devicesOf = ({ type }) => {
    const isOne = families.includes(type.name.split('.')[0] ?? '');
    return isOne ? { has: { [DEVICE]: count }, afterMs: lateMs() } : NO_DEVICES;
  };
  let minute = random.between(0, 4);
  while (minute < LAST_MINUTE) {
    const users = usersOf(random.between(0, 5));
    timeline.at(WORLD_START_MS + minute * MINUTE, () => {
      store.apply(users);
    });
    minute += random.between(3, 10);
  }
}
