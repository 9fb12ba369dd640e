import type { NodeClaim } from '../../shared/core/model/provisioning.ts';
import type { PauseScope, Ports } from '../../shared/ports.ts';
import { readState } from '../../shared/sim/decode.ts';
import type { Json } from '../../shared/sim/json.ts';
import type { Scenario } from '../../shared/sim/scenario.ts';
import { WORLD_START_MS, type World } from '../../shared/sim/world.ts';
import { reading, withPorts } from '../unit/app/world.ts';
import { violations } from './invariants.ts';
import { deployment, nodeClass, nodePool, smallWorld } from './small-world.ts';

export const MINUTE = 60_000;
/** When the new state is asked for: by then all nodes are up. */
export const CHANGE = 3 * MINUTE;

export type Paused = Partial<Record<PauseScope, number>>;

/** The cluster as it is, with these pauses. */
function pausedBy(paused: () => Paused): (ports: Ports) => Ports {
  return (ports) => {
    const read = reading(ports, (state) => ({ ...state, pausedUntilMs: paused() }));
    return withPorts(ports, { cluster: { read } });
  };
}

const NEW_IMAGE = 'al2023@v20260101';

export function object(json: Json): Scenario['steps'][number] {
  return { at: CHANGE, apply: [json as never] };
}

export function classOf(alias: string): Json {
  return {
    ...nodeClass,
    spec: { ...(nodeClass['spec'] as Json), amiSelectorTerms: [{ alias }] },
  };
}

export const newClass = classOf(NEW_IMAGE);

/** One pod each, so that as many nodes are there as pods. */
export const apart: Json = {
  affinity: {
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        {
          topologyKey: 'kubernetes.io/hostname',
          labelSelector: { matchLabels: { app: 'web' } },
        },
      ],
    },
  },
};

export function poolWith(labels: Readonly<Record<string, string>>, disruption?: Json): Json {
  const pool = nodePool(['on-demand'], disruption === undefined ? {} : { disruption });
  const spec = pool['spec'] as { readonly template: Json };
  return { ...pool, spec: { ...spec, template: { ...spec.template, metadata: { labels } } } };
}

interface Run {
  readonly world: World;
  /** The most nodes at any moment that were kept from new pods. */
  readonly disruptedMost: number;
  /** What must hold at every moment and did not. */
  readonly broken: readonly string[];
}

export async function run(
  manifests: readonly Json[],
  minutes: number,
  steps: Scenario['steps'],
  options: {
    readonly paused?: (world: World) => Paused;
    readonly wrap?: (ports: Ports) => Ports;
    readonly before?: (world: World) => void;
    readonly watch?: (world: World) => () => readonly string[];
  } = {},
): Promise<Run> {
  let world: World | undefined;
  const { paused, wrap } = options;
  const made = await smallWorld(manifests, {
    scenario: { steps },
    ...(paused === undefined
      ? wrap === undefined
        ? {}
        : { wrap }
      : { wrap: pausedBy(() => (world === undefined ? {} : paused(world))) }),
  });
  world = made.world;
  options.before?.(world);
  const broken: string[] = [];
  const watch = options.watch?.(world);
  const seen = { most: 0 };
  const current = world;
  world.afterEachStep(() => {
    broken.push(...violations(current), ...(watch?.() ?? []));
    const tainted = readState(current.store).objects.nodes.filter((node) =>
      node.taints.some(({ key }) => key === 'karpenter.sh/disrupted'),
    );
    seen.most = Math.max(seen.most, tainted.length);
  });
  await world.run(WORLD_START_MS + minutes * MINUTE);
  return { world, disruptedMost: seen.most, broken };
}

export function claimsOf(world: World): readonly NodeClaim[] {
  return readState(world.store).objects.nodeClaims;
}

export function runningPods(world: World): number {
  return readState(world.store).objects.pods.filter(({ phase }) => phase === 'Running').length;
}

export function imagesOf(world: World): ReadonlySet<string | undefined> {
  return new Set(claimsOf(world).map(({ imageId }) => imageId));
}

export function entries(world: World, kind: string) {
  return world.journal.entries.filter((each) => each.kind === kind);
}

export function ageOfJournal(world: World, kind: string): readonly number[] {
  return entries(world, kind).map(({ at }) => at * 1000);
}

export const six = [nodeClass, nodePool(['on-demand']), deployment('web', 6, '1', apart)];

/** Whether the image is none that a node had at first. */
export function isNew(image: string, world: World): boolean {
  const first = readState(world.store).objects.nodeClaims.find(
    ({ createdAtMs }) => createdAtMs < WORLD_START_MS + CHANGE,
  );
  return first?.imageId !== undefined && first.imageId !== image;
}
