import { launchedFor, PodGroups } from '../../shared/core/launch/pod-groups.ts';
import {
  addResources,
  amountOf,
  CPU,
  MEMORY,
  NO_RESOURCES,
} from '../../shared/core/model/resources.ts';
import { readState } from '../../shared/sim/decode.ts';
import type { Json } from '../../shared/sim/json.ts';
import { Prng } from '../../shared/sim/prng.ts';
import { WORLD_START_MS, type World } from '../../shared/sim/world.ts';
import { daemonSet, FAULTS, WORLD_MINUTES } from './admission-faults.ts';
import { deployment, nodeClass, nodePool, smallWorld } from './small-world.ts';

const MINUTE = 60_000;

/** What a random world came to. */
export interface AdmissionResult {
  readonly seed: number;
  /** What its API server does to pods and nodes. */
  readonly faults: readonly string[];
  /** Pods that the Deployments want, and those that somebody has deleted. */
  readonly wanted: number;
  readonly launched: number;
  /** What all launches together may come to, whatever is deleted and made again meanwhile. */
  readonly launchedMax: number;
  /** The most launches for the pods of one Deployment, for each of its pods. */
  readonly launchesPerPod: number;
  /** What docs/decisions/0050 allows: three, and as many tries where things change. */
  readonly launchesMax: number;
  /** Pods that have waited for two minutes and of which nobody has said why. */
  readonly unexplained: readonly string[];
  /** Share of the allocatable CPU of all nodes that pods request; undefined: there is no node. */
  readonly cpuUtilization: number | undefined;
}

function limitRange(random: Prng): Json {
  const cpu = `${random.between(100, 2500)}m`;
  return {
    apiVersion: 'v1',
    kind: 'LimitRange',
    metadata: { name: 'defaults', namespace: random.next() < 0.5 ? 'kube-system' : 'default' },
    spec: { limits: [{ type: 'Container', defaultRequest: { cpu, memory: '64Mi' } }] },
  };
}

function cpuUtilization(world: World): number | undefined {
  const { nodes, pods } = readState(world.store).objects;
  const total = nodes.reduce(
    (sum, { allocatable }) => addResources(sum, allocatable),
    NO_RESOURCES,
  );
  const used = pods
    .filter(({ nodeName, phase }) => nodeName !== undefined && phase === 'Running')
    .reduce((sum, { spec }) => addResources(sum, spec.requests), NO_RESOURCES);
  const share = Math.max(
    amountOf(used, CPU) / amountOf(total, CPU),
    amountOf(used, MEMORY) / amountOf(total, MEMORY),
  );
  return nodes.length === 0 ? undefined : share;
}

/** NodeClaims that were written for pods of each application. */
function countLaunches(world: World): ReadonlyMap<string, number> {
  const launches = new Map<string, number>();
  world.store.onChange(({ kind, object }) => {
    if (kind !== 'created' || object.kind !== 'NodeClaim') return;
    const ids = launchedFor(object.metadata).groups.map((group) => group.id);
    const groups = new PodGroups();
    const { pods } = readState(world.store).objects;
    const apps = pods
      .filter((pod) => groups.of(pod).some(({ id }) => ids.includes(id)))
      .map(({ labels }) => labels['app'] ?? '');
    for (const app of new Set(apps)) launches.set(app, (launches.get(app) ?? 0) + 1);
  });
  return launches;
}

/** Pods run for a while, and then lose their place. */
const MOVING: ReadonlySet<string> = new Set([
  'nodes get a taint late, which evicts pods',
  'nodes get a DaemonSet late',
]);
/** What can be launched, or what pods look like, changes again and again: each is a try, of three. */
const CHANGING: ReadonlySet<string> = new Set([
  'DaemonSets come and go',
  'pods ask for more each time',
]);

/**
 * Of 1,000 worlds the most were 20 for one pod and 32 in all; with no back-off up to 136 in all. A
 * pod that is deleted keeps its room for its grace period, while the next one waits.
 */
const ANY_WORLD = 12;
const FOR_EACH = 4;
const FOR_DELETED = 0.25;

/** Half an hour of a cluster whose admission changes pods and nodes in ways that nobody planned. */
export async function admissionWorld(seed: number): Promise<AdmissionResult> {
  const random = new Prng(seed, 'admission');
  const replicas = random.between(1, 4);
  const others = random.between(0, 4);
  const manifests = [
    nodeClass,
    nodePool(['on-demand']),
    daemonSet({
      requests: { cpu: random.next() < 0.3 ? '0' : `${random.between(50, 500)}m`, memory: '64Mi' },
    }),
    ...(random.next() < 0.5 ? [limitRange(random)] : []),
    deployment('web', replicas, `${random.between(500, 3500)}m`),
    ...(others === 0 ? [] : [deployment('other', others, `${random.between(200, 2000)}m`)]),
  ];
  const tickOffsetMs = random.between(0, 59) * 1000;
  const { world } = await smallWorld(manifests, { seed, tickOffsetMs });
  const names = Object.keys(FAULTS).filter(() => random.next() < 0.3);
  const counted = { pods: 0, jobs: 0 };
  for (const name of names) FAULTS[name]?.(random, world, counted);
  const launches = countLaunches(world);
  await world.run(WORLD_START_MS + WORLD_MINUTES * MINUTE);
  const waiting = readState(world.store).objects.pods.filter(
    ({ nodeName, unschedulable, controller, createdAtMs }) =>
      nodeName === undefined &&
      unschedulable &&
      createdAtMs + 2 * MINUTE < world.timeline.nowMs() &&
      controller?.kind !== 'DaemonSet',
  );
  const pods = { web: replicas + counted.pods, other: others, job: counted.jobs };
  const of = (apps: readonly (keyof typeof pods)[]): number =>
    apps.reduce((sum, app) => sum + (launches.get(app) ?? 0), 0) /
    Math.max(
      1,
      apps.reduce((sum, app) => sum + pods[app], 0),
    );
  // Pods that move between nodes are on those that were launched for others, too.
  const isMoving = names.some((name) => MOVING.has(name));
  return {
    seed,
    faults: names,
    wanted: pods.web + pods.other + pods.job,
    launched: world.launched,
    launchedMax:
      ANY_WORLD + FOR_EACH * (replicas + others + counted.jobs) + FOR_DELETED * counted.pods,
    launchesPerPod: isMoving
      ? of(['web', 'other', 'job'])
      : Math.max(of(['web']), of(['other']), of(['job'])),
    launchesMax: names.some((name) => CHANGING.has(name)) ? 3 + 3 : 3,
    unexplained: waiting
      .map(({ namespace, name }) => `${namespace}/${name}`)
      .filter((pod) => !world.unplaced.has(pod)),
    cpuUtilization: cpuUtilization(world),
  };
}
