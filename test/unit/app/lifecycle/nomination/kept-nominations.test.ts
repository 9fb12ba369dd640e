import { describe, expect, it } from 'vitest';
import { KeptNominations } from '../../../../../shared/app/lifecycle/nomination/kept-nominations.ts';
import { KarpenterLease } from '../../../../../shared/app/writes/karpenter-lease.ts';
import { ZONE } from '../../../../../shared/core/model/labels.ts';
import type { Pod, PodSpec } from '../../../../../shared/core/model/pod.ts';
import type { Nominees } from '../../../../../shared/core/nomination/spread-order.ts';
import {
  type ObjectRef,
  PortError,
  type Ports,
  type WaitingPodListener,
} from '../../../../../shared/ports.ts';
import { ofApp, spreadOver } from '../../../../builders/affinity.ts';
import { podOf } from '../../../../builders/scheduling.ts';
import { aNode, aPod } from '../../../launch/builders.ts';
import { waitingWorld, withPorts } from '../../world.ts';

interface Scene {
  readonly kept: KeptNominations;
  readonly ports: Ports;
  /** Who was nominated again, in order. */
  readonly again: readonly string[];
  /** Streams that were opened and not closed since. */
  open(): number;
  /** Nominees of the arrivals get what they are nominated for; the others wait. */
  follow(arrivals: readonly Nominees[], nominees?: readonly Nominees[]): Promise<void>;
  /** The pods are nominated to the node `a`, and then kept or not yet. */
  nominate(...uids: readonly string[]): Promise<void>;
  /** kube-scheduler or somebody else has written: the pod is nominated to that node now. */
  tell(uid: string, nominatedNodeName: string | undefined, isOver?: boolean): void;
  /** kube-scheduler has bound the pod. */
  bind(uid: string, nodeName: string): void;
  breakStream(): void;
}

type Nominate = (pod: ObjectRef) => Promise<'done' | 'gone'>;

/** A run that has asked for rest; `answer` is what becomes of nominating again. */
async function scene(answer: Nominate = async () => 'done'): Promise<Scene> {
  const again: string[] = [];
  const listeners: WaitingPodListener[] = [];
  const world = await waitingWorld([]);
  const ports = withPorts(world.ports, {
    cluster: {
      nominate: async (pod: ObjectRef, nodeName: string) => {
        again.push(nodeName === 'a' ? pod.name : `${pod.name} to ${nodeName}`);
        return await answer(pod);
      },
      followWaitingPods: async (listener: WaitingPodListener, signal: AbortSignal) => {
        listeners.push(listener);
        signal.addEventListener('abort', () => {
          listeners.splice(listeners.indexOf(listener), 1);
        });
        return { rest: async () => undefined, order: async () => ['q', 'p'] };
      },
    },
  });
  const kept = new KeptNominations();
  await kept.rest(ports, 0);
  expect(await kept.order(ports)).toEqual(['q', 'p']);
  const tell = (uid: string, nominatedNodeName: string | undefined, isOver = false): void => {
    const told = { uid, nominatedNodeName, nodeName: undefined, isOver };
    for (const each of [...listeners]) each.onChange(told);
  };
  const bind = (uid: string, nodeName: string): void => {
    const told = { uid, nominatedNodeName: undefined, nodeName, isOver: true };
    for (const each of [...listeners]) each.onChange(told);
  };
  const follow = async (arrivals: readonly Nominees[], nominees = arrivals): Promise<void> => {
    await kept.follow(ports, arrivals, nominees);
    for (const { node, pods } of nominees) for (const { uid } of pods) tell(uid, node.name);
  };
  const nominate = async (...uids: readonly string[]): Promise<void> => {
    const pods = uids.map((name) => aPod({ name, uid: name, nodeName: undefined }));
    await follow([{ node: aNode({ name: 'a' }), pods }]);
  };
  const breakStream = () => listeners[0]?.onEnd();
  const open = () => listeners.length;
  return { kept, ports, again, open, follow, nominate, tell, bind, breakStream };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

/** Pods of one ReplicaSet and its equal. */
function mates(set: string, spec: Partial<PodSpec>, ...names: readonly string[]): readonly Pod[] {
  const controller = { kind: 'ReplicaSet', name: set, uid: set };
  const first = podOf(set, spec);
  return names.map((name) => ({ ...first, name, uid: name, controller }));
}

const on = (name: string, pods: readonly Pod[]): Nominees => ({ node: aNode({ name }), pods });

describe('places are exchanged', () => {
  it('with an equal pod that has taken one, which is told at once', async () => {
    const { kept, again, follow, tell, bind } = await scene();
    const [p, q, r] = mates('set', {}, 'p', 'q', 'r') as [Pod, Pod, Pod];
    await follow([on('a', [p]), on('b', [q]), on('c', [r])]);
    await kept.keep();
    bind('q', 'a');
    await settled();
    expect(again).toEqual(['p to b']);
    // What was written before the exchange may be told after it.
    tell('p', 'a');
    tell('p', undefined);
    tell('p', 'b');
    tell('p', undefined);
    await settled();
    expect(again).toEqual(['p to b', 'p to b']);
    bind('r', 'c');
    bind('p', 'b');
    await settled();
    expect(again).toHaveLength(2);
  });

  it('by the one of several that has lost its nomination', async () => {
    const { kept, again, follow, tell, bind } = await scene();
    const [p, q, r] = mates('set', {}, 'p', 'q', 'r') as [Pod, Pod, Pod];
    await follow([on('a', [p, r]), on('b', [q])]);
    await kept.keep();
    tell('r', undefined);
    await settled();
    bind('q', 'a');
    await settled();
    expect(again).toEqual(['r', 'r to b']);
  });

  it('not with others, nor where a pod is gone', async () => {
    const { kept, again, follow, tell, bind } = await scene();
    const [p, r] = mates('set', {}, 'p', 'r') as [Pod, Pod];
    const [other] = mates('other', {}, 'other') as [Pod];
    await follow([on('a', [p]), on('b', [r]), on('c', [other])]);
    await kept.keep();
    bind('other', 'a');
    tell('r', undefined, true);
    await settled();
    expect(again).toEqual([]);
  });

  it('or given, where another of a spread has kept the pod from its node', async () => {
    const { kept, again, follow, bind } = await scene();
    const spread = { topologySpread: [spreadOver(ZONE, ofApp('set'))] };
    const pods = mates('set', spread, 'p', 'q', 'r', 's');
    await follow([on('a', pods)], [on('a', pods.slice(0, 2))]);
    await kept.keep();
    expect(again).toEqual([]);
    bind('p', 'a');
    await settled();
    expect(again).toEqual(['r']);
    bind('s', 'elsewhere');
    bind('q', 'a');
    await settled();
    expect(again).toEqual(['r']);
  });

  it('or given where that pod was bound before all nodes were open, or went elsewhere', async () => {
    const spread = { topologySpread: [spreadOver(ZONE, ofApp('set'))] };
    const pods = mates('set', spread, 'p', 'q', 'r', 's');
    const { kept, again, follow, tell, bind } = await scene();
    await follow([on('a', pods)], [on('a', pods.slice(0, 2))]);
    bind('p', 'a');
    await kept.keep();
    await settled();
    expect(again).toEqual(['r']);
    tell('q', 'preempted');
    await settled();
    expect(again).toEqual(['r', 's']);
  });

  it('only when the equals of a pod of a spread have nodes: its place may be taken', async () => {
    const spread = { topologySpread: [spreadOver(ZONE, ofApp('set'))] };
    const { kept, again, follow, tell, bind } = await scene();
    const [p, q, r] = mates('set', spread, 'p', 'q', 'r') as [Pod, Pod, Pod];
    await follow([on('a', [p]), on('b', [q]), on('c', [r])]);
    await kept.keep();
    tell('p', undefined);
    await settled();
    bind('q', 'b');
    await settled();
    expect(again).toEqual([]);
    bind('r', 'c');
    await settled();
    expect(again).toEqual(['p']);
  });

  it('also for pods that an earlier pass has nominated', async () => {
    const { kept, again, follow, tell } = await scene();
    const [p] = mates('set', {}, 'p') as [Pod];
    await follow([on('a', [{ ...p, nominatedNodeName: 'a' }])], []);
    expect(kept.isNominated(p)).toBe(true);
    await kept.keep();
    tell('p', undefined);
    await settled();
    expect(again).toEqual(['p']);
  });
});

describe('nominations are kept', () => {
  it('from before the nodes open', async () => {
    const { kept, again, nominate, tell } = await scene();
    await nominate('p', 'q');
    tell('p', undefined);
    await settled();
    expect(again).toEqual([]);
    await kept.keep();
    expect(again).toEqual(['p']);
    tell('q', undefined);
    await settled();
    expect(again).toEqual(['p', 'q']);
  });

  it('three times, and not for pods that never had theirs or got it back', async () => {
    const { kept, again, nominate, tell } = await scene();
    await nominate('p', 'q');
    tell('q', undefined);
    tell('q', 'a');
    tell('other', undefined);
    await kept.keep();
    expect(again).toEqual([]);
    for (let time = 0; time < 5; time += 1) {
      tell('p', undefined);
      await settled();
      tell('p', 'a');
    }
    expect(again).toEqual(['p', 'p', 'p']);
  });

  it('not against a preemption or a later plan', async () => {
    const { kept, again, nominate, tell } = await scene();
    await nominate('p', 'q');
    await kept.keep();
    tell('p', 'c');
    tell('p', undefined);
    await settled();
    expect(again).toEqual([]);
  });

  it('only for nodes that open and stay', async () => {
    const { kept, again, nominate, tell } = await scene();
    await nominate('p', 'q');
    await kept.keep();
    kept.keepOnly((name) => name !== 'a', 0);
    tell('p', undefined);
    await settled();
    expect(again).toEqual([]);
  });

  it('until the pods have nodes: then nobody listens, unless a pass counts on it', async () => {
    const { kept, again, nominate, tell, open, ports } = await scene();
    await nominate('p', 'q');
    await kept.keep();
    tell('p', 'a', true);
    expect(open()).toBe(1);
    await kept.rest(ports, 0);
    tell('q', undefined, true);
    expect(open()).toBe(1);
    await nominate('r');
    await kept.keep();
    tell('r', undefined);
    await settled();
    expect(again).toEqual(['r']);
    tell('r', undefined, true);
    expect(open()).toBe(0);
  });

  it('by a stream that ends with its pass where that has opened nothing', async () => {
    const { kept, open, ports } = await scene();
    expect(open()).toBe(1);
    kept.passed();
    expect(open()).toBe(0);
    await kept.rest(ports, 0);
    expect(open()).toBe(1);
  });

  it('by a stream that is opened again after it has broken', async () => {
    const { kept, breakStream, open, ports } = await scene();
    breakStream();
    expect(open()).toBe(0);
    await kept.rest(ports, 0);
    expect(open()).toBe(1);
  });

  it('for the others where one is refused, which is said', async () => {
    const { kept, again, nominate, tell } = await scene(async ({ name }) => {
      if (name === 'p') throw new PortError('unauthorised', '403', 'forbidden');
      return 'done';
    });
    await nominate('p', 'q');
    await kept.keep();
    for (const uid of ['p', 'q', 'p']) tell(uid, undefined);
    await settled();
    expect(again).toEqual(['p', 'q']);
    expect(kept.takeFailures()).toMatchObject([{ object: 'Node/a' }]);
    expect(kept.takeFailures()).toEqual([]);
  });

  it('a few at a time, and none after the end, which waits for those that are under way', async () => {
    const answers: (() => void)[] = [];
    const { kept, again, nominate, tell, open } = await scene(async () => {
      await new Promise<void>((resolve) => answers.push(resolve));
      return 'done';
    });
    const uids = Array.from({ length: 30 }, (_, at) => `u-${at}`);
    await nominate(...uids);
    await kept.keep();
    for (const uid of uids) tell(uid, undefined);
    await settled();
    expect(again).toHaveLength(8);
    let isOver = false;
    const end = kept.close().then(() => {
      isOver = true;
    });
    await settled();
    expect([isOver, open()]).toEqual([false, 0]);
    for (const each of answers) each();
    await end;
    expect(again).toHaveLength(8);
  });

  it('not while Karpenter runs, nor for ever', async () => {
    const { kept, again, nominate, tell, ports, open } = await scene();
    await nominate('p', 'q');
    await kept.keep();
    const state = await ports.cluster.read();
    const nowMs = ports.clock.nowMs();
    const karpenter = new KarpenterLease(ports, { ...state, karpenterRenewedAtMs: nowMs }, nowMs);
    await kept.rest(karpenter.guarded(ports), 0);
    await kept.keep();
    tell('p', undefined);
    await settled();
    const later = { ...ports, clock: { ...ports.clock, nowMs: () => nowMs + 15_000 } };
    await kept.rest(later, 0);
    await kept.keep();
    tell('q', undefined);
    await settled();
    expect(again).toEqual([]);
    await nominate('r');
    await kept.keep();
    kept.keepOnly(() => true, nowMs + 14_999);
    expect(open()).toBe(1);
    kept.keepOnly(() => true, nowMs + 15_000);
    expect(open()).toBe(0);
  });

  it('by nobody where pods cannot be followed, which is said', async () => {
    const { ports } = await waitingWorld([]);
    const followWaitingPods = async (): Promise<never> => {
      throw new PortError('unauthorised', '403', 'watch pods: forbidden');
    };
    const refusing = withPorts(ports, { cluster: { followWaitingPods } });
    const kept = new KeptNominations();
    const rest = kept.rest(refusing, 0);
    await expect(rest).rejects.toThrow('watch pods: forbidden');
    const follow = kept.follow(refusing, [{ node: aNode(), pods: [aPod()] }], []);
    await expect(follow).rejects.toThrow('watch pods: forbidden');
    await kept.keep();
  });
});
