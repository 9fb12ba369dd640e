import { describe, expect, it } from 'vitest';
import { lifecycle } from '../../../../../shared/app/lifecycle/lifecycle.ts';
import { LifecycleMemory } from '../../../../../shared/app/lifecycle/memory.ts';
import {
  registerNodes,
  TOGETHER_MAX,
} from '../../../../../shared/app/lifecycle/nomination/register-nodes.ts';
import type { Failure } from '../../../../../shared/app/writes/attempt.ts';
import { ZONE } from '../../../../../shared/core/model/labels.ts';
import type { Pod } from '../../../../../shared/core/model/pod.ts';
import {
  type ClusterState,
  type MetadataPatch,
  type NodePatch,
  type ObjectRef,
  PortError,
} from '../../../../../shared/ports.ts';
import { ofApp, spreadOver, termOver } from '../../../../builders/affinity.ts';
import { claimOf, nodeOf, podOf } from '../../../../builders/scheduling.ts';
import { runningWorld, settings, spread, waitingWorld, withPorts } from '../../world.ts';

const PLANNED = 'joiner.dev/planned-pods';
const later = new PortError('throttled', '429', 'later');

function openingOf(name: string, zone: string, pods: readonly Pod[]) {
  const annotations = { [PLANNED]: ['other', ...pods.map(({ uid }) => uid)].join(',') };
  const labels = { [ZONE]: zone };
  const node = { ...nodeOf(name, 4, 16, { zone }), taints: [] };
  const action = { kind: 'register', node, pods, labels, annotations: {}, taints: [] } as const;
  return { claim: claimOf(name, { annotations }), action };
}

type TestOpening = ReturnType<typeof openingOf>;

/** kube-scheduler tries the pods in the order of the nodes. */
async function byNode(openings: readonly TestOpening[]): Promise<readonly string[]> {
  return openings.flatMap(({ action }) => action.pods.map(({ uid }) => uid));
}

/** It tries pods of these names in their order. */
function ordered(...names: readonly string[]): () => Promise<readonly string[]> {
  return async () => names.map((name) => podOf(name).uid);
}

/**
 * What is written when these open; nodes named `taken` have other taints by then, and claims named
 * `refused` may not be changed.
 */
async function written(
  openings: readonly TestOpening[],
  order: () => Promise<readonly string[]> = () => byNode(openings),
) {
  const calls: string[] = [];
  const { ports } = await waitingWorld([]);
  const state = await ports.cluster.read();
  const cluster = {
    patchNodeClaim: async ({ name }: ObjectRef, patch: MetadataPatch) => {
      calls.push(`${name} is for ${patch.annotations?.[PLANNED]}`);
      if (name === 'refused') throw new PortError('unknown', '500', 'a webhook refuses');
      return 'done' as const;
    },
    patchNode: async ({ name }: ObjectRef, patch: NodePatch) => {
      calls.push(`${patch.taints === undefined ? 'prepare' : 'open'} ${name}`);
      return name === 'taken' && patch.taints !== undefined ? 'conflict' : 'done';
    },
    nominate: async ({ name }: ObjectRef, node: string) => {
      calls.push(`nominate ${name} to ${node}`);
      return 'done' as const;
    },
    followWaitingPods: async () => ({
      rest: async () => undefined,
      order,
    }),
  };
  const failures: Failure[] = [];
  const opened = await registerNodes(
    {
      ports: withPorts(ports, { cluster }),
      nowMs: 0,
      failures,
      acted: false,
      state,
      memory: new LifecycleMemory(),
    },
    openings,
  );
  return { calls, failures, opened: [...opened].map(({ name }) => name) };
}

/** Three pods of one ReplicaSet that spread over zones. */
function spreading(): readonly [Pod, Pod, Pod] {
  const spec = podOf('x', { topologySpread: [spreadOver(ZONE, ofApp('web'))] }).spec;
  const controller = { kind: 'ReplicaSet', name: 'web', uid: 'web' };
  const pod = (name: string): Pod => ({ ...podOf(name, {}, { uid: name, controller }), spec });
  return [pod('p0'), pod('p1'), pod('p2')];
}

/** A world with a node and its claim, and what joins it: ready, and closed. */
async function joiningWorld() {
  const { ports } = await runningWorld([spread('web', 1)]);
  const state = await ports.cluster.read();
  const [claim] = state.objects.nodeClaims;
  const [node] = state.objects.nodes;
  if (claim === undefined || node === undefined) throw new Error('no node');
  const effect = 'NoExecute' as const;
  const taints = [{ key: 'karpenter.sh/unregistered', value: '', effect }];
  const ready = { ...node.conditions[0], type: 'Ready', status: 'True' } as const;
  const joined = (name: string) => {
    const providerId = `aws:///us-east-1a/i-${name}`;
    const conditions = claim.conditions.filter(({ type }) => type === 'Launched');
    const own = { name, uid: name, labels: {}, providerId, taints, conditions: [ready] };
    return {
      claim: { ...claim, name, uid: `claim-${name}`, providerId, conditions },
      node: { ...node, ...own },
    };
  };
  return { ports, state, claim, node, joined };
}

describe('nodes that open', () => {
  it('are prepared, then have their pods nominated, then open', async () => {
    const { calls, opened } = await written([
      openingOf('a', 'zone-a', [podOf('p')]),
      openingOf('taken', 'zone-a', []),
    ]);
    const steps = ['prepare a', 'prepare taken', 'nominate p to a', 'open a', 'open taken'];
    expect(calls).toEqual(steps);
    expect(opened).toEqual(['a']);
  });

  it('are at most 20 in a pass, those of groups first', async () => {
    const alone = Array.from({ length: 24 }, (_, at) => openingOf(`a-${at}`, 'zone-a', []));
    const group = podOf('group', { podAffinity: [termOver(ZONE, ofApp('group'))] });
    const { opened } = await written([...alone, openingOf('z', 'zone-a', [group])]);
    expect(opened).toHaveLength(TOGETHER_MAX);
    expect(opened[0]).toBe('z');
  });

  it.each<[string, () => Promise<readonly string[]>, readonly string[]]>([
    ['that of the pod that is tried first', ordered('p', 'r', 'q', 'g'), ['few', 'many']],
    ['likewise, whatever else it has', ordered('q', 'p', 'r', 'g'), ['many', 'few']],
    ['that with most pods, the order unknown', () => Promise.reject(later), ['many', 'few']],
  ])(
    'are first one that a group has to follow its first pod to, then %s',
    async (_, order, then) => {
      const group = podOf('g', { podAffinity: [termOver(ZONE, ofApp('group'))] });
      const { opened } = await written(
        [
          openingOf('empty', 'zone-a', []),
          openingOf('few', 'zone-a', [podOf('p')]),
          openingOf('many', 'zone-a', [podOf('q'), podOf('r')]),
          openingOf('group', 'zone-a', [group]),
        ],
        order,
      );
      expect(opened).toEqual(['group', ...then, 'empty']);
    },
  );

  it('do so though their claim may not say that pods were exchanged', async () => {
    const [p0, p1, p2] = spreading();
    const { calls, failures, opened } = await written([
      openingOf('a', 'zone-a', [p0, p1]),
      openingOf('refused', 'zone-b', [p2]),
    ]);
    expect(opened).toEqual(['a', 'refused']);
    const nominated = calls.filter((each) => each.startsWith('nominate'));
    expect(nominated).toEqual(['nominate p1 to a', 'nominate p2 to a']);
    const message = '500: a webhook refuses';
    expect(failures).toEqual([{ object: 'NodeClaim/refused', message }]);
  });

  it('exchange pods that have to spread, and the claims say so before', async () => {
    const [p0, p1, p2] = spreading();
    const { calls } = await written([
      openingOf('a', 'zone-a', [p0, p1]),
      openingOf('b', 'zone-b', [p2]),
    ]);
    expect(calls.filter((each) => !each.startsWith('open'))).toEqual([
      'prepare a',
      'prepare b',
      'a is for other,p1,p2',
      'b is for other,p0',
      'nominate p0 to b',
      // Where zone b has its pod, zone a may get two: one beside the other is not ahead.
      'nominate p1 to a',
      'nominate p2 to a',
    ]);
  });

  it('are also those that have joined while kube-scheduler came to rest', async () => {
    const { ports, state, joined } = await joiningWorld();
    const [early, late] = [joined('early'), joined('late')];
    let reads = 0;
    const opened: string[] = [];
    const cluster = {
      read: async () => {
        reads += 1;
        const nodes = reads === 1 ? [early.node] : [early.node, late.node];
        const nodeClaims = [early.claim, late.claim];
        const objects = { ...state.objects, nodes, nodeClaims } as ClusterState['objects'];
        return { ...state, objects };
      },
      patchNode: async ({ name }: ObjectRef, patch: NodePatch) => {
        if (patch.taints !== undefined) opened.push(name);
        return 'done' as const;
      },
    };
    await lifecycle(withPorts(ports, { cluster }), settings);
    expect(opened).toEqual(['early', 'late']);
    expect(reads).toBe(2);
  });
});

describe('a drain', () => {
  it('begins before nodes open, also in a warm process', async () => {
    const { ports, state, claim, node, joined } = await joiningWorld();
    const joining = joined('a-joining');
    const nodeClaims = [joining.claim, { ...claim, deletedAtMs: ports.clock.nowMs() }];
    const nodes = [node, joining.node];
    const objects = { ...state.objects, nodes, nodeClaims } as ClusterState['objects'];
    const calls: string[] = [];
    const note = (what: string) => async () => {
      calls.push(what);
      return 'done' as const;
    };
    const cluster = {
      read: async () => ({ ...state, objects }),
      isWarm: () => true,
      patchNode: note('node'),
      evict: note('evict'),
      delete: note('delete'),
    };
    const compute = { list: () => Promise.reject(new PortError('throttled', '503', 'slow down')) };
    await lifecycle(withPorts(ports, { cluster, compute }), settings);
    expect(calls).toContain('evict');
    expect(calls.indexOf('evict')).toBeLessThan(calls.lastIndexOf('node'));
  });

  it.each([false, true])('begins on a node that changes all the time: %s', async (isBusy) => {
    const { ports } = await runningWorld([spread('web', 1)]);
    const [claim] = (await ports.cluster.read()).objects.nodeClaims;
    if (claim === undefined) throw new Error('no claim');
    await ports.cluster.delete({ kind: 'NodeClaim', name: claim.name, uid: claim.uid });
    // As a kubelet does that has pulled another image, between the read and the write.
    const read = async (): Promise<ClusterState> => {
      const state = await ports.cluster.read();
      for (const { name } of isBusy ? state.objects.nodes : []) {
        await ports.cluster.patchNode({ kind: 'Node', name }, { labels: { busy: 'true' } });
      }
      return state;
    };
    const busy = withPorts(ports, { cluster: { read, isWarm: () => true } });
    expect((await lifecycle(busy, settings)).evictions).toBe(1);
  });
});
