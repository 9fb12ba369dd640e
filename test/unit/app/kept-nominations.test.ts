import { describe, expect, it } from 'vitest';
import { KeptNominations } from '../../../shared/app/kept-nominations.ts';
import {
  type ObjectRef,
  PortError,
  type Ports,
  type WaitingPodListener,
} from '../../../shared/ports.ts';
import { aNode, aPod } from '../launch/builders.ts';
import { waitingWorld, withPorts } from './world.ts';

const pods = ['p', 'q'].map((name) => aPod({ name, uid: name, nodeName: undefined }));
const nominees = [{ node: aNode({ name: 'a' }), pods }];

interface Scene {
  readonly kept: KeptNominations;
  readonly cluster: Ports['cluster'];
  /** Who was nominated again, in order. */
  readonly again: readonly string[];
  /** Streams that were opened and not closed since. */
  open(): number;
  /** kube-scheduler or somebody else has written: the pod is nominated to that node now. */
  tell(uid: string, nominatedNodeName: string | undefined, isOver?: boolean): void;
  breakStream(): void;
}

/** Two pods that were nominated to the node `a`; `refuse`: to nominate them again. */
async function scene(refuse = false): Promise<Scene> {
  const again: string[] = [];
  const listeners: WaitingPodListener[] = [];
  const { ports } = await waitingWorld([]);
  const wrapped = withPorts(ports, {
    cluster: {
      nominate: async ({ name }: ObjectRef) => {
        again.push(name);
        if (refuse) throw new PortError('unauthorised', '403', 'forbidden');
        return 'done';
      },
      followWaitingPods: async (listener: WaitingPodListener, signal: AbortSignal) => {
        listeners.push(listener);
        signal.addEventListener('abort', () => {
          listeners.splice(listeners.indexOf(listener), 1);
        });
        return { quiet: async () => ['q', 'p'] };
      },
    },
  });
  const { cluster } = wrapped;
  const kept = new KeptNominations();
  expect(await kept.quiet(cluster)).toEqual(['q', 'p']);
  kept.follow(nominees);
  const tell = (uid: string, nominatedNodeName: string | undefined, isOver = false): void => {
    for (const each of listeners) each.told({ uid, nominatedNodeName, isOver });
  };
  for (const { uid } of pods) tell(uid, 'a');
  const breakStream = () => listeners[0]?.over();
  return { kept, cluster, again, open: () => listeners.length, tell, breakStream };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('nominations are kept', () => {
  it('from before the nodes open', async () => {
    const { kept, again, tell } = await scene();
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
    const { kept, again, tell } = await scene();
    tell('q', undefined);
    tell('q', 'a');
    tell('other', undefined);
    await kept.keep();
    expect(again).toEqual([]);
    for (let time = 0; time < 5; time += 1) {
      tell('p', undefined);
      tell('p', 'a');
    }
    await settled();
    expect(again).toEqual(['p', 'p', 'p']);
  });

  it('until the pods have nodes: then nobody listens, and the next nodes have a stream', async () => {
    const { kept, again, tell, open, cluster } = await scene();
    await kept.keep();
    tell('p', 'a', true);
    expect(open()).toBe(1);
    tell('q', undefined, true);
    expect(open()).toBe(0);
    expect(again).toEqual([]);
    await kept.quiet(cluster);
    expect(open()).toBe(1);
    kept.close();
    expect(open()).toBe(0);
  });

  it('by a stream that is opened again after it has broken', async () => {
    const { kept, breakStream, open, cluster } = await scene();
    breakStream();
    expect(open()).toBe(0);
    await kept.quiet(cluster);
    expect(open()).toBe(1);
  });

  it('no longer once one is refused', async () => {
    const { kept, again, tell, open } = await scene(true);
    await kept.keep();
    tell('p', undefined);
    await settled();
    expect(open()).toBe(0);
    tell('q', undefined);
    await settled();
    expect(again).toEqual(['p']);
  });

  it('by nobody where pods cannot be followed, which is said', async () => {
    const { ports } = await waitingWorld([]);
    const followWaitingPods = async (): Promise<never> => {
      throw new PortError('unauthorised', '403', 'watch pods: forbidden');
    };
    const { cluster } = withPorts(ports, { cluster: { followWaitingPods } });
    const kept = new KeptNominations();
    await expect(kept.quiet(cluster)).rejects.toThrow('watch pods: forbidden');
    kept.follow(nominees);
    await kept.keep();
  });
});
