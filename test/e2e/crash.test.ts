import { expect, it } from 'vitest';
import { RESOURCES } from '../../shared/api/resources.ts';
import { property, text } from '../../shared/kube/list.ts';
import type { LoopFunction } from '../support/closed-loop/functions.ts';
import { type Kill, runDoomed } from '../support/closed-loop/kill.ts';
import { deployment, nodeClass, nodePool } from '../support/closed-loop/manifests.ts';
import { queueRecord, spotWarning } from '../support/closed-loop/messages.ts';
import {
  claimsOf,
  conditionOf,
  instanceIdOfNode,
  isDeleting,
  nameOf,
  nodeNameOfPod,
  nodesOf,
  ourNodes,
  podsOf,
  runningPods,
  unschedulablePods,
} from '../support/closed-loop/questions.ts';
import {
  type ClosedLoop,
  describeClosedLoop,
  launched,
  liveInstances,
} from '../support/closed-loop/world.ts';

/** A Lease of somebody who died is free after this. */
const LEASE_MS = 17_000;
/** A drain lasts as long at least, and a second for what the API server leaves off. */
const DRAIN_MS = 7_000;
const UNREGISTERED = 'karpenter.sh/unregistered';
const LAUNCH = { namespace: 'kube-system', name: 'joiner-launch' };

const pool = nodePool('general', [
  { key: 'kubernetes.io/arch', operator: 'In', values: ['amd64'] },
  { key: 'karpenter.sh/capacity-type', operator: 'In', values: ['spot'] },
  { key: 'karpenter.k8s.aws/instance-family', operator: 'In', values: ['c6a', 'm6a'] },
]);

/** Ends the instance once its node is drained. */
const ENDING = /^TerminateInstances/;

type Point = readonly [call: RegExp, when: Kill['when']];

const claimPatch = /^PATCH .*\/nodeclaims\/[^/?]+\?/;
const claimStatus = /^PATCH .*\/nodeclaims\/[^/?]+\/status/;
const nodePatch = /^PATCH \/api\/v1\/nodes\//;

/** Round by round, where each function dies: `lifecycle` while a node opens, or while one drains. */
const ROUNDS: readonly {
  readonly provision: Point;
  readonly opening?: Point;
  readonly interrupt: Point;
  readonly draining?: Point;
}[] = [
  {
    provision: [/^POST .*\/nodeclaims\?/, 'before'],
    interrupt: [/^DescribeInstances/, 'after'],
    draining: [nodePatch, 'after'],
  },
  {
    provision: [/^POST .*\/nodeclaims\?/, 'after'],
    opening: [nodePatch, 'after'],
    interrupt: [claimPatch, 'before'],
  },
  {
    provision: [claimPatch, 'after'],
    interrupt: [claimPatch, 'after'],
    draining: [/\/eviction\?/, 'after'],
  },
  {
    provision: [/^CreateFleet/, 'before'],
    opening: [/^PATCH .*\/pods\/.*\/status/, 'after'],
    interrupt: [/^POST .*\/events\?/, 'after'],
  },
  {
    provision: [/^CreateFleet/, 'after'],
    interrupt: [/^DELETE .*\/nodeclaims\//, 'before'],
    draining: [ENDING, 'before'],
  },
  {
    provision: [claimStatus, 'before'],
    opening: [claimStatus, 'before'],
    interrupt: [/^DELETE .*\/nodeclaims\//, 'after'],
  },
  {
    provision: [/^PutEvents/, 'before'],
    interrupt: [/^PutEvents/, 'before'],
    draining: [ENDING, 'after'],
  },
  {
    provision: [claimStatus, 'after'],
    opening: [claimStatus, 'after'],
    interrupt: [/^DELETE .*\/nodeclaims\//, 'after'],
    draining: [claimPatch, 'before'],
  },
  {
    provision: [/^PATCH .*\/leases\/joiner-decide/, 'after'],
    interrupt: [claimPatch, 'after'],
    draining: [/^PATCH .*\/leases\/joiner-lifecycle/, 'after'],
  },
  {
    provision: [/^PATCH .*\/leases\/joiner-launch/, 'before'],
    interrupt: [/^DELETE .*\/nodeclaims\//, 'before'],
  },
  {
    provision: [/^PATCH .*\/leases\/joiner-launch/, 'after'],
    interrupt: [/^DELETE .*\/nodeclaims\//, 'after'],
  },
];

/** `JOINER_CRASHES=all`, as at night, tries every round; else every third. */
const TRIED = ROUNDS.filter((_, at) => process.env['JOINER_CRASHES'] === 'all' || at % 3 === 0);

/** One pod a node. */
function apart(name: string, replicas: number): object {
  const labelSelector = { matchLabels: { app: name } };
  const term = { topologyKey: 'kubernetes.io/hostname', labelSelector };
  return deployment(name, replicas, '1', {
    affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } },
  });
}

function instanceIdOfClaim(claim: unknown): string | undefined {
  const id = text(property(property(claim, 'status'), 'providerID'));
  return id.split('/').at(-1) || undefined;
}

function liveIds(loop: ClosedLoop): readonly string[] {
  return liveInstances(loop)
    .map(({ id }) => id)
    .sort();
}

/** Every instance has a claim, and every claim that is to stay has an instance. */
async function expectNothingLeaked(loop: ClosedLoop): Promise<void> {
  const claims = await claimsOf(loop);
  const live = liveIds(loop);
  expect(claims.map(instanceIdOfClaim)).toEqual(expect.arrayContaining([...live]));
  expect(live).toEqual(
    expect.arrayContaining(claims.filter((each) => !isDeleting(each)).map(instanceIdOfClaim)),
  );
}

/** Until every pod runs on a node of its own; then claims, nodes and instances are the same. */
async function settle(loop: ClosedLoop, app: string, pods: number): Promise<void> {
  await loop.until(`${pods} pods of ${app} run`, async () => {
    const isRunning = (await runningPods(loop, app)) === pods;
    if (!isRunning || (await nodesOf(loop, app)).size !== pods) return false;
    const claims = await claimsOf(loop);
    return !claims.some(isDeleting) && (await ourNodes(loop)).length === claims.length;
  });
  expect((await claimsOf(loop)).map(instanceIdOfClaim).sort()).toEqual(liveIds(loop));
}

/** So far that the next pass ends the node: its pods have gone, and its taint is old enough. */
async function beginDrain(loop: ClosedLoop, node: unknown): Promise<void> {
  const id = instanceIdOfNode(node);
  const isDraining = async (): Promise<boolean> => {
    await loop.invoke('lifecycle');
    const claim = (await claimsOf(loop)).find((each) => instanceIdOfClaim(each) === id);
    const left = (await podsOf(loop, 'web')).filter((pod) => nodeNameOfPod(pod) === nameOf(node));
    return conditionOf(claim, 'Drained') !== undefined && left.length === 0;
  };
  await expect.poll(isDraining).toBe(true);
  loop.clock.pass(DRAIN_MS);
}

async function untilUnschedulable(loop: ClosedLoop, count: number): Promise<void> {
  await expect.poll(() => unschedulablePods(loop)).toBe(count);
}

function stopping({ account }: ClosedLoop['cloud'], instance: string): object {
  const body = spotWarning(account, instance);
  return { Records: [queueRecord('m', body)] };
}

/** Another provision takes over, and the node that it launches has joined. */
async function untilNodeMayOpen(loop: ClosedLoop): Promise<void> {
  await loop.invoke('provision');
  const isReadyAndClosed = (node: unknown): boolean => {
    const taints = property(property(node, 'spec'), 'taints');
    const keys = (Array.isArray(taints) ? taints : []).map((taint) => property(taint, 'key'));
    return conditionOf(node, 'Ready')?.status === 'True' && keys.includes(UNREGISTERED);
  };
  const closed = async () => (await loop.list(RESOURCES.nodes)).filter(isReadyAndClosed);
  await expect.poll(closed).toHaveLength(1);
}

/** A provision that holds the Lease for launches, and whose fleet request EC2 has not handled yet. */
async function heldUp(loop: ClosedLoop): Promise<() => Promise<unknown>> {
  const { server } = loop.cloud;
  const release = server.hold('CreateFleet');
  const running = loop.invoke('provision', {}, 60_000);
  await expect.poll(() => server.heldCalls('CreateFleet')).toBe(1);
  return async () => {
    release();
    return await running;
  };
}

await describeClosedLoop(
  'crashes and races on a real control plane',
  (loop) => {
    it('provision, lifecycle and interrupt killed at calls of theirs: nothing leaks, nothing twice', async () => {
      await loop.apply([nodeClass, pool, apart('web', 2)]);
      await settle(loop, 'web', 2);
      let kills = 0;
      const kill = async (name: LoopFunction, point: Point | undefined, event = {}) => {
        if (point === undefined) return;
        const [call, when] = point;
        const death = await runDoomed({ name, event, call, when, offsetMs: loop.clock.offsetMs });
        expect(death, `${name} at ${call}`).toEqual({ kind: 'killed' });
        kills += 1;
        loop.clock.pass(LEASE_MS);
      };
      for (const [round, { provision, opening, interrupt, draining }] of TRIED.entries()) {
        const before = launched(loop);
        const pods = 3 + round;
        await loop.apply([apart('web', pods)]);
        await untilUnschedulable(loop, 1);
        await kill('provision', provision);
        if (opening !== undefined) await untilNodeMayOpen(loop);
        await kill('lifecycle', opening);
        const [node] = (await nodesOf(loop, 'web')).values();
        const event = stopping(loop.cloud, instanceIdOfNode(node));
        await kill('interrupt', interrupt, event);
        // What was not handled comes again, as from the queue.
        await loop.invoke('interrupt', event);
        if (draining?.[0] === ENDING) await beginDrain(loop, node);
        await kill('lifecycle', draining);
        await loop.tick();
        await expectNothingLeaked(loop);
        expect(launched(loop) - before).toBeLessThanOrEqual(2);
        await settle(loop, 'web', pods);
        expect(launched(loop) - before).toBe(2);
      }
      expect(kills).toBe(TRIED.flatMap((each) => Object.values(each)).length);
    });

    it('three provisions at once: one writes, the others leave it to it', async () => {
      const before = launched(loop);
      await loop.apply([apart('race', 2)]);
      await untilUnschedulable(loop, 2);
      await Promise.all([1, 2, 3].map(() => loop.invoke('provision')));
      expect(launched(loop) - before).toBe(2);
      await settle(loop, 'race', 2);
      expect(launched(loop) - before).toBe(2);
    });

    it('an event that is delivered twice at once is worked on once', async () => {
      const before = launched(loop);
      await loop.apply([apart('twice', 2)]);
      await untilUnschedulable(loop, 2);
      const same = [1, 2].map(() => loop.invoke('provision', {}, undefined, 'the-same-request'));
      await Promise.all(same);
      expect(launched(loop) - before).toBe(2);
      await settle(loop, 'twice', 2);
    });

    it('what comes up during a launch is planned meanwhile, and launched by the same run', async () => {
      const before = launched(loop);
      await loop.apply([apart('first', 1)]);
      await untilUnschedulable(loop, 1);
      const first = await heldUp(loop);
      await loop.apply([apart('second', 1)]);
      await untilUnschedulable(loop, 2);
      const claims = (await claimsOf(loop)).length;
      expect(await loop.invoke('provision')).toEqual({ outcome: 'held by another' });
      // EC2 has not answered the first yet: planning does not wait for it.
      expect(await claimsOf(loop)).toHaveLength(claims + 1);
      expect(launched(loop) - before).toBe(0);
      expect(await first()).toEqual({ outcome: 'done' });
      expect(launched(loop) - before).toBe(2);
      await settle(loop, 'second', 1);
    });

    it('a run that lost its Lease writes no more, and the next one takes over what it launched', async () => {
      const before = launched(loop);
      await loop.apply([apart('third', 1)]);
      await untilUnschedulable(loop, 1);
      const first = await heldUp(loop);
      const holder = (holderIdentity: string | null) =>
        loop.admin().patch(RESOURCES.leases, LAUNCH, {
          kind: 'merge',
          value: { spec: { holderIdentity } },
        });
      await holder('somebody-else');
      loop.clock.pass(6_000);
      expect(await first()).toEqual({ outcome: 'held by another' });
      const waiting = (await claimsOf(loop)).filter(
        (claim) => property(property(claim, 'status'), 'providerID') === undefined,
      );
      expect(waiting).toHaveLength(1);
      await holder(null);
      await settle(loop, 'third', 1);
      expect(launched(loop) - before).toBe(1);
    });
  },
  // Calls are killed one after the other: what AWS takes for each is not what this is about.
  { strangers: true, aws: 'instant' },
);
