import { RESOURCES } from '../../shared/api/resources.ts';
import { NODE_POOL } from '../../shared/core/model/labels.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { heldForMs } from '../../shared/kube/leases.ts';
import type { ClusterState } from '../../shared/ports.ts';
import { pauseData, writePauses } from '../pauses.ts';
import { counted, someOf } from '../words.ts';
import { nodesBefore, nodesSince, unansweredLaunches, unstampedByKarpenter } from './claims.ts';
import { cleaningsOf } from './clean.ts';
import { scaleKarpenter } from './karpenter.ts';
import { HeldKarpenterLease, isOwnHolder } from './lease.ts';
import { RECORD_CONFIG_MAP } from './record.ts';
import { begunRecord, checkRoom, recordOf, sinceText, whyNotSame } from './to-joiner.ts';
import {
  arePaused,
  doesKarpenterRun,
  noteRecord,
  type Position,
  positionOf,
  type Step,
  Stopped,
  until,
  type Walk,
} from './walk.ts';

/** The chart's default. */
const REPLICAS = 2;

/** Leases under which Joiner's functions write. */
const WRITERS = ['decide', 'launch', 'lifecycle', 'nodeclass'];
/** A function looks at Karpenter's Lease again before a write when its last look is a second old. */
const NOTICED_MS = 3_000;

function isUnderWay({ record }: Position): boolean {
  return record?.to === 'karpenter' && record.state === 'under-way';
}

/** Nothing to hand back: Karpenter runs, and no hand-over is recorded. */
function hasKarpenterTheCluster(position: Position): boolean {
  return position.record === undefined && doesKarpenterRun(position);
}

async function pause(walk: Walk): Promise<string> {
  const position = await positionOf(walk);
  checkRoom(position);
  await noteRecord(walk, begunRecord(position, 'karpenter'), {});
  await writePauses(walk.client, pauseData(['disrupt']));
  return 'Joiner starts no further disruption; launches continue';
}

async function settle(walk: Walk): Promise<string> {
  const advice = 'joiner explain nodeclaim NAME says what the launch waits for';
  const answered = (position: Position): string | undefined => {
    const open = doesKarpenterRun(position) ? [] : unansweredLaunches(position.state);
    return open.length === 0 ? undefined : `EC2 has not answered for NodeClaim ${someOf(open)}`;
  };
  await until(walk, answered, advice);
  await writePauses(walk.client, pauseData(['launch', 'disrupt']));
  return 'no launch is under way';
}

/** Undefined: no function is inside a pass that began before the Lease was taken. */
async function whyNotIdle(client: KubeClient, sinceMs: number): Promise<string | undefined> {
  const nowMs = client.timing.nowMs();
  const seconds = Math.ceil((NOTICED_MS - (nowMs - sinceMs)) / 1000);
  if (seconds > 0) return 'the functions have yet to see who holds the Lease of Karpenter';
  const held = await Promise.all(WRITERS.map((name) => heldForMs(client, name)));
  const busy = WRITERS.filter((_, at) => (held[at] ?? -1) > nowMs - sinceMs);
  return busy.length === 0
    ? undefined
    : `a function of Joiner is at work (Lease joiner-${busy[0]})`;
}

async function hold(walk: Walk): Promise<string> {
  const { client } = walk;
  const first = await positionOf(walk);
  const namespace =
    first.karpenter?.namespace ??
    first.record?.karpenter?.namespace ??
    first.lease?.namespace ??
    'kube-system';
  const advice = 'see who holds it: kubectl get leases -A | grep karpenter-leader-election';
  await until(
    walk,
    async (position) => {
      if (doesKarpenterRun(position)) return undefined;
      walk.lease ??= await HeldKarpenterLease.take(client, namespace);
      if (walk.lease !== undefined) return undefined;
      return `the Lease of Karpenter is held by ${position.lease?.holder ?? 'nobody'}`;
    },
    advice,
  );
  if (walk.lease === undefined) return 'Karpenter holds its Lease';
  const sinceMs = client.timing.nowMs();
  await until(walk, () => whyNotIdle(client, sinceMs), advice);
  const { state } = await positionOf(walk);
  const open = unansweredLaunches(state);
  if (open.length > 0) {
    await walk.lease.leaveToJoiner();
    walk.lease = undefined;
    await writePauses(client, { ...pauseData(['disrupt']), 'pause.launch': null });
    throw new Stopped(
      `NodeClaim ${someOf(open)} was launched at the last moment`,
      'run the command again: Joiner writes down the instance meanwhile',
    );
  }
  return 'Joiner only reads, and Karpenter waits';
}

/** Writes under the Lease; throws where another has taken it. */
export async function clean(walk: Walk): Promise<string> {
  const position = await positionOf(walk);
  if (doesKarpenterRun(position)) return 'Karpenter has the objects already';
  checkRoom(position);
  let count = 0;
  for (const { object, what, carryOut } of await cleaningsOf(
    walk.client,
    walk.writer,
    position.state,
  )) {
    if (walk.lease?.isHeld() !== true) {
      throw new Stopped('the Lease of Karpenter was lost', 'run the command again');
    }
    const result = await carryOut();
    if (result === 'conflict') {
      throw new Stopped(`${object} changes all the time: ${what} stays`, 'run the command again');
    }
    count += 1;
  }
  const { state } = await positionOf(walk);
  await noteRecord(walk, recordOf(position), { nodes: nodesBefore(state) });
  return `removed: ${counted(count, 'mark')} of Joiner`;
}

function wantedReplicas({ record }: Position, walk: Pick<Walk, 'replicas'>): number {
  return walk.replicas ?? record?.karpenter?.replicas ?? REPLICAS;
}

async function start(walk: Walk): Promise<string> {
  const position = await positionOf(walk);
  const { karpenter } = position;
  if (doesKarpenterRun(position)) return 'Karpenter runs';
  if (karpenter !== undefined && karpenter.replicas === 0 && !walk.isByHand) {
    await scaleKarpenter(walk.client, karpenter, wantedReplicas(position, walk));
  }
  if (karpenter === undefined) walk.say('Karpenter is not installed: install it now');
  const { pods } = await until(
    walk,
    (each) =>
      each.pods.some(({ isReady }) => isReady) ? undefined : 'no pod of Karpenter is ready',
    'install Karpenter or scale its Deployment up, and run the command again',
  );
  await walk.lease?.leaveToKarpenter();
  walk.lease = undefined;
  return `${counted(pods.length, 'pod')} of Karpenter`;
}

async function elect(walk: Walk): Promise<string> {
  const { karpenter, lease } = await until(
    walk,
    (position) =>
      position.lease !== undefined && !isOwnHolder(position.lease) && position.isJoinerPassive
        ? undefined
        : 'no pod of Karpenter has taken the Lease',
    'kubectl logs of the pods says why; joiner hand-back --undo gives the cluster to Joiner again',
  );
  const who = karpenter === undefined ? 'Karpenter' : `Karpenter ${karpenter.version ?? ''}`.trim();
  return `${who} is active: ${lease?.holder ?? ''}`;
}

/**
 * Karpenter stamps claims only when it first sees a pool or class without a hash of its own. Where
 * a hash of ours came between, it is made to look again.
 */
async function askForStamps(walk: Walk, { state }: Position): Promise<void> {
  const left = unstampedByKarpenter(state);
  const pools = new Set(left.map(({ labels }) => labels[NODE_POOL]));
  const classes = new Set(left.map(({ nodeClassRef }) => nodeClassRef.name));
  const onlyLeft: ClusterState = {
    ...state,
    nodeClasses: state.nodeClasses.filter(({ name }) => classes.has(name)),
    objects: {
      ...state.objects,
      nodePools: state.objects.nodePools.filter(({ name }) => pools.has(name)),
      nodeClaims: [],
      nodes: [],
    },
  };
  const found = await cleaningsOf(walk.client, walk.writer, onlyLeft);
  for (const { object, carryOut } of found) {
    if (!object.startsWith('Pod/')) await carryOut();
  }
}

/** Karpenter stamps within a moment of its start. */
const STAMPED_MS = 20_000;

async function verify(walk: Walk): Promise<string> {
  const { client } = walk;
  let askedAtMs = client.timing.nowMs();
  const after = await until(
    walk,
    async (position) => {
      const left = unstampedByKarpenter(position.state);
      if (left.length === 0) return undefined;
      if (client.timing.nowMs() - askedAtMs >= STAMPED_MS && doesKarpenterRun(position)) {
        await askForStamps(walk, position);
        askedAtMs = client.timing.nowMs();
      }
      const names = someOf(left.map(({ name }) => name));
      return `Karpenter has yet to write its hashes on ${counted(left.length, 'NodeClaim')} (${names})`;
    },
    'kubectl logs of Karpenter says what keeps it; joiner hand-back --undo gives the cluster to Joiner',
  );
  if (after.record?.nodes === undefined) return 'no node was changed';
  const since = nodesSince(after.record.nodes, after.state);
  const fault = whyNotSame(since, walk.acceptsDrift);
  if (fault === undefined) return sinceText(since);
  throw new Stopped(
    fault,
    'joiner hand-back --undo gives the cluster to Joiner again; --accept-drift goes on',
  );
}

async function finish(walk: Walk): Promise<string> {
  const record = recordOf(await positionOf(walk));
  await writePauses(walk.client, record.pauses);
  await walk.client.delete(RESOURCES.configMaps, RECORD_CONFIG_MAP, {});
  return 'Karpenter has the cluster; Joiner only reads';
}

function scaleCommands(position: Position): readonly string[] {
  const { karpenter, record } = position;
  const known = karpenter ?? record?.karpenter;
  if (known === undefined) {
    return ['helm upgrade --install karpenter oci://public.ecr.aws/karpenter/karpenter …'];
  }
  const replicas = wantedReplicas(position, { replicas: undefined });
  const { namespace, name } = known;
  return [`kubectl -n ${namespace} scale deployment ${name} --replicas ${replicas}`];
}

/** From Joiner, or from an adoption that is given up, to Karpenter. */
export const TO_KARPENTER: readonly Step[] = [
  {
    name: 'pause',
    what: 'Joiner starts no further disruption',
    commands: () => ['joiner pause disrupt'],
    isDone: (position) =>
      (isUnderWay(position) && arePaused(position, ['disrupt'])) ||
      hasKarpenterTheCluster(position),
    take: pause,
  },
  {
    name: 'settle',
    what: 'every launch that EC2 was asked for gets its instance, then launches are paused',
    commands: () => ['joiner pause launch'],
    isDone: doesKarpenterRun,
    take: settle,
  },
  {
    name: 'hold',
    what: 'this command holds the Lease of Karpenter: Joiner only reads, and Karpenter waits',
    commands: () => [],
    isDone: doesKarpenterRun,
    take: hold,
  },
  {
    name: 'clean',
    what: 'hashes and annotations of Joiner that Karpenter would misinterpret are removed',
    commands: () => [],
    isDone: doesKarpenterRun,
    take: clean,
  },
  {
    name: 'start',
    what: 'Karpenter is scaled up and gets its Lease',
    commands: scaleCommands,
    isDone: doesKarpenterRun,
    take: start,
  },
  {
    name: 'elect',
    what: 'a pod of Karpenter holds the Lease',
    commands: ({ karpenter }) =>
      karpenter === undefined
        ? []
        : [`kubectl -n ${karpenter.namespace} get lease karpenter-leader-election`],
    isDone: doesKarpenterRun,
    take: elect,
  },
  {
    name: 'verify',
    what: 'Karpenter has written its own hashes, and every node is as before',
    commands: () => ['kubectl get nodeclaims -o wide'],
    isDone: hasKarpenterTheCluster,
    take: verify,
  },
  {
    name: 'finish',
    what: 'the pauses become what they were before, and the record is deleted',
    commands: () => ['joiner resume'],
    isDone: hasKarpenterTheCluster,
    take: finish,
  },
];
