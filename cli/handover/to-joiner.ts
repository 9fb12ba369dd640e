import { PAUSE_SCOPES } from '../../shared/api/pauses.ts';
import { pauseData, writePauses } from '../pauses.ts';
import { aliveMs, lastSigns } from '../release/alive.ts';
import { counted, someOf } from '../words.ts';
import {
  liveClaims,
  type NodesSince,
  nodesBefore,
  nodesSince,
  unfinished,
  unstampedByJoiner,
} from './claims.ts';
import { deploymentName, scaleKarpenter } from './karpenter.ts';
import { type HandoverRecord, type Side, whyNoRoom } from './record.ts';
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

/** The record of a hand-over to this side, begun now or continued. */
export function begunRecord(position: Position, to: Side): HandoverRecord {
  const { record, pauses, karpenter, nowMs } = position;
  const isUnderWay = record?.state === 'under-way';
  const found =
    karpenter === undefined || karpenter.replicas === 0
      ? {}
      : {
          karpenter: {
            namespace: karpenter.namespace,
            name: karpenter.name,
            replicas: karpenter.replicas,
          },
        };
  const known = record?.karpenter === undefined ? {} : { karpenter: record.karpenter };
  const isSame = isUnderWay && record.to === to;
  return {
    to,
    state: 'under-way',
    startedAt: isSame ? record.startedAt : new Date(nowMs).toISOString(),
    pauses: isUnderWay ? record.pauses : pauses,
    ...known,
    ...found,
    ...(isSame && record.nodes !== undefined ? { nodes: record.nodes } : {}),
  };
}

/**
 * Throws {@link Stopped} where the record has no room for the nodes: it is written when the old
 * controller has stopped, which is too late to find that out.
 */
export function checkRoom({ state }: Position): void {
  const fault = whyNoRoom(nodesBefore(state));
  if (fault === undefined) return;
  throw new Stopped(
    fault,
    'hand the cluster over when it has fewer nodes; this step changed nothing',
  );
}

/** The record; its step has written it before. */
export function recordOf({ record }: Position): HandoverRecord {
  if (record !== undefined) return record;
  throw new Stopped(
    'the record of the hand-over is gone, and with it the pauses from before',
    'run the command again, then joiner resume what was not paused before',
  );
}

function isUnderWay({ record }: Position): boolean {
  return record?.to === 'joiner' && record.state === 'under-way';
}

/** A Karpenter that something has started again takes it back as soon as it is elected. */
function hasJoinerTheCluster(position: Position): boolean {
  const { record, isJoinerPassive, karpenter, pods } = position;
  const isStopped = (karpenter === undefined || karpenter.replicas === 0) && pods.length === 0;
  return record?.to === 'joiner' && record.state === 'done' && !isJoinerPassive && isStopped;
}

async function pause(walk: Walk): Promise<string> {
  const position = await positionOf(walk);
  checkRoom(position);
  await noteRecord(walk, begunRecord(position, 'joiner'), {});
  await writePauses(walk.client, pauseData(PAUSE_SCOPES));
  return 'Joiner launches, disrupts and terminates nothing until the hand-over is done';
}

async function settle(walk: Walk): Promise<string> {
  if (!walk.settles) return 'skipped: Joiner completes what Karpenter has begun';
  await until(
    walk,
    (position) => {
      if (!doesKarpenterRun(position)) return undefined;
      const [first, ...more] = unfinished(position.state);
      if (first === undefined) return undefined;
      return more.length === 0 ? first : `${first}, and ${counted(more.length, 'other')}`;
    },
    'run the command again, or with a longer --wait; --no-settle goes on without waiting',
  );
  return 'Karpenter has no launch or disruption under way';
}

function whyStillThere(position: Position, walk: Walk): string | undefined {
  const { karpenter, pods, isJoinerPassive, lease } = position;
  if (karpenter !== undefined && karpenter.replicas > 0) {
    const name = deploymentName(karpenter);
    if (walk.isByHand) return `the Deployment ${name} has ${karpenter.replicas} replicas`;
    const by = karpenter.writers.length === 0 ? '' : `; ${karpenter.writers.join(', ')} applies it`;
    return `something has set the replicas of ${name} to ${karpenter.replicas} again${by}`;
  }
  if (pods.length > 0)
    return `Pod ${someOf(pods.map(({ name }) => name))} of Karpenter is not gone yet`;
  if (!isJoinerPassive) return undefined;
  return `the Lease of Karpenter is held by ${lease?.holder ?? ''}: Joiner waits until it is a minute old`;
}

async function stop(walk: Walk): Promise<string> {
  const position = await positionOf(walk);
  const { karpenter } = position;
  if (karpenter === undefined && doesKarpenterRun(position) && !walk.isByHand) {
    throw new Stopped(
      'Karpenter runs, but its Deployment was not found',
      'name it with --karpenter NAMESPACE/NAME, or stop it yourself and use --by-hand',
    );
  }
  checkRoom(position);
  if (karpenter !== undefined && karpenter.replicas > 0) {
    await noteRecord(walk, begunRecord(position, 'joiner'), {});
    if (!walk.isByHand) await scaleKarpenter(walk.client, karpenter, 0);
  }
  const advice =
    'stop Karpenter: kubectl scale, and where a GitOps program applies the Deployment, replicas: 0 there';
  const after = await until(walk, (each) => whyStillThere(each, walk), advice);
  const record = recordOf(after);
  if (record.nodes === undefined) {
    await noteRecord(walk, record, { nodes: nodesBefore(after.state) });
  }
  const nodes = liveClaims(after.state).length;
  return `Karpenter is stopped; it had ${counted(nodes, 'node')}`;
}

/** Undefined: Joiner's functions run, and all nodes have its hashes. */
async function whyNotTakenOver(walk: Walk, position: Position): Promise<string | undefined> {
  const { nowMs, state } = position;
  const signs = await lastSigns(walk.client, nowMs);
  const isAlive = signs.some(({ who, atMs }) => who === 'Joiner' && nowMs - atMs < aliveMs(who));
  if (!isAlive) return 'no function of Joiner has taken a Lease in the last 5 minutes';
  const left = unstampedByJoiner(state, nowMs);
  if (left.length === 0) return undefined;
  return `Joiner has yet to write its hashes on ${counted(left.length, 'NodeClaim')} (${someOf(left)})`;
}

async function takeOver(walk: Walk): Promise<string> {
  const { state } = await until(
    walk,
    (position) => whyNotTakenOver(walk, position),
    'joiner doctor says what keeps the functions; joiner hand-back undoes the hand-over',
  );
  return `Joiner has its hashes on ${counted(liveClaims(state).length, 'NodeClaim')}`;
}

/** Why the hand-over is not as it should be, undefined: it is. */
export function whyNotSame(since: NodesSince, acceptsDrift: boolean): string | undefined {
  const { relaunched, drifted } = since;
  const faults = [
    ...(relaunched.length === 0 ? [] : [`launched again: ${someOf(relaunched)}`]),
    ...(drifted.length === 0 || acceptsDrift ? [] : [`drifted: ${someOf(drifted)}`]),
  ];
  return faults.length === 0 ? undefined : faults.join('; ');
}

/** What happened to the nodes meanwhile, in a sentence. */
export function sinceText(since: NodesSince): string {
  const { kept, gone, added } = since;
  const notes = [
    ...(gone.length === 0 ? [] : [`${someOf(gone)} went meanwhile`]),
    ...(added.length === 0 ? [] : [`${someOf(added)} came meanwhile`]),
  ];
  return [`as before: ${counted(kept, 'node')}`, ...notes].join('; ');
}

async function verify(walk: Walk): Promise<string> {
  const { record, state } = await positionOf(walk);
  const since = nodesSince(record?.nodes ?? [], state);
  const fault = whyNotSame(since, walk.acceptsDrift);
  if (fault !== undefined) {
    throw new Stopped(
      fault,
      'joiner plan shows what Joiner would replace; --accept-drift goes on, joiner hand-back undoes all',
    );
  }
  return sinceText(since);
}

async function resume(walk: Walk): Promise<string> {
  const record = recordOf(await positionOf(walk));
  await writePauses(walk.client, record.pauses);
  const { nodes: _, ...rest } = record;
  await noteRecord(walk, rest, { state: 'done', pauses: {} });
  const paused = Object.entries(record.pauses).filter(([, value]) => value !== null);
  if (paused.length === 0) return 'Joiner has the cluster';
  return `Joiner has the cluster; paused as before: ${paused.map(([key]) => key).join(', ')}`;
}

function scaleCommands({ karpenter, record }: Position): readonly string[] {
  const { namespace, name } = karpenter ??
    record?.karpenter ?? { namespace: 'kube-system', name: 'karpenter' };
  return [`kubectl -n ${namespace} scale deployment ${name} --replicas 0`];
}

/** From Karpenter, or from a hand-back that is given up, to Joiner. */
export const TO_JOINER: readonly Step[] = [
  {
    name: 'pause',
    what: 'Joiner is paused, so that it changes no node while the controllers change',
    commands: () => ['joiner pause all'],
    isDone: (position) =>
      (isUnderWay(position) && arePaused(position, PAUSE_SCOPES)) || hasJoinerTheCluster(position),
    take: pause,
  },
  {
    name: 'settle',
    what: 'Karpenter finishes the launches and disruptions that it has begun',
    commands: () => ['kubectl get nodeclaims -w'],
    isDone: (position) => !doesKarpenterRun(position),
    take: settle,
  },
  {
    name: 'stop',
    what: 'Karpenter is scaled to 0 and its Lease lapses',
    commands: scaleCommands,
    isDone: (position) =>
      hasJoinerTheCluster(position) ||
      (isUnderWay(position) &&
        position.record?.nodes !== undefined &&
        !position.isJoinerPassive &&
        position.pods.length === 0),
    take: stop,
  },
  {
    name: 'take-over',
    what: 'Joiner becomes active and writes its own hashes on the NodeClaims',
    commands: () => ['kubectl get nodeclaims -o yaml | grep nodepool-hash-version'],
    isDone: hasJoinerTheCluster,
    take: takeOver,
  },
  {
    name: 'verify',
    what: 'every node is compared with what it was before',
    commands: () => ['joiner plan'],
    isDone: hasJoinerTheCluster,
    take: verify,
  },
  {
    name: 'resume',
    what: 'the pauses become what they were before',
    commands: () => ['joiner resume'],
    isDone: hasJoinerTheCluster,
    take: resume,
  },
];
