import { NODE_POOL } from '../../../shared/core/model/labels.ts';
import { type Json, listAt, textAt } from '../../../shared/sim/json.ts';
import {
  conditionStatus,
  isOfDaemonSet,
  isOver,
  setCondition,
  withSpec,
} from '../../../shared/sim/objects.ts';
import { Prng } from '../../../shared/sim/prng.ts';
import { WORLD_START_MS, type World } from '../../../shared/sim/world.ts';
import { deployment, jobOf, withPodAnnotations } from '../small-world.ts';
import { one } from './one.ts';

const MINUTE = 60_000;
const FIRST_MINUTE = 3;
const LAST_MINUTE = 30;
const PRESSURES = [
  ['MemoryPressure', 'node.kubernetes.io/memory-pressure'],
  ['DiskPressure', 'node.kubernetes.io/disk-pressure'],
] as const;

type Mark = (what: string) => void;

/** In some worlds nodes run out of memory or disk, and Jobs come whose pods may fail. */
export function failPods(world: World, seed: number, mark: Mark): void {
  const random = new Prng(seed, 'failed pods');
  const hasPressure = random.next() < 0.4;
  const hasJobs = random.next() < 0.4;
  if (hasJobs) startJobs(world, random, mark);
  if (hasPressure) pressNodes(world, random, mark);
}

function startJobs(world: World, random: Prng, mark: Mark): void {
  const share = one(random, [0, 0.3, 0.8]);
  world.fails = () => {
    const isFailing = random.next() < share;
    if (isFailing) mark('pod fails');
    return isFailing;
  };
  const count = random.between(2, 10);
  for (let at = 0; at < count; at += 1) {
    const job = drawJob(random, `job-${at}`);
    const minute = random.between(1, LAST_MINUTE);
    world.timeline.at(WORLD_START_MS + minute * MINUTE, () => {
      mark('Job');
      world.store.apply(job);
    });
  }
}

function drawJob(random: Prng, name: string): Json {
  const cpu = one(random, ['250m', '900m', '1900m', '3500m']);
  const parallelism = random.between(1, 5);
  const annotations = {
    'joiner.dev/simulated-duration': one(random, ['20s', '90s', '4m', '15m']),
    ...(random.next() < 0.4 ? { 'karpenter.sh/do-not-disrupt': 'true' } : {}),
  };
  return jobOf(withPodAnnotations(deployment(name, 1, cpu), annotations), {
    parallelism,
    completions: parallelism * random.between(1, 3),
    backoffLimit: random.between(0, 6),
  });
}

/** Now and then a node takes no pods for a while, and ends some of those that it has. */
function pressNodes(world: World, random: Prng, mark: Mark): void {
  const { timeline } = world;
  let atMs = WORLD_START_MS + FIRST_MINUTE * MINUTE;
  while (atMs < WORLD_START_MS + LAST_MINUTE * MINUTE) {
    timeline.at(atMs, () => press(world, random, mark));
    atMs += random.between(10_000, 3 * MINUTE);
  }
}

function press(world: World, random: Prng, mark: Mark): void {
  const { store, timeline, kubelets } = world;
  const [type, key] = one(random, PRESSURES);
  const nodes = store
    .list('Node')
    .filter((each) => conditionStatus(each, 'Ready') === 'True')
    .filter((each) => each.metadata.labels[NODE_POOL] !== undefined)
    .filter((each) => conditionStatus(each, type) !== 'True');
  if (nodes.length === 0) return;
  const { name, uid } = one(random, nodes).metadata;
  const say = (status: 'True' | 'False'): void => {
    const node = store.get('Node', undefined, name);
    if (node?.metadata.uid !== uid) return;
    const taints = listAt(node, 'spec', 'taints').filter((each) => textAt(each, 'key') !== key);
    const own = status === 'True' ? [{ key, effect: 'NoSchedule' }] : [];
    store.update(node, (latest) =>
      setCondition(
        withSpec(latest, { taints: [...taints, ...own] }),
        { type, status, reason: 'Kubelet' },
        timeline.isoNow(),
      ),
    );
  };
  mark('node pressure');
  say('True');
  timeline.after(random.between(5_000, 6 * MINUTE), () => say('False'));
  const pods = store.podsOn(name).filter((each) => !isOver(each) && !isOfDaemonSet(each));
  for (const pod of pods) {
    if (random.next() >= 0.4) continue;
    mark('pod pressed out');
    timeline.after(random.between(1_000, 30_000), () => kubelets.pressOut(pod));
  }
}
