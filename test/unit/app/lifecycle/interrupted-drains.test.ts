import { describe, expect, it } from 'vitest';
import { lifecycle } from '../../../../shared/app/lifecycle/lifecycle.ts';
import {
  DISRUPTED_TAINT_KEY,
  INTERRUPTED,
  type Labels,
} from '../../../../shared/core/model/labels.ts';
import type { NodeClaim } from '../../../../shared/core/model/provisioning.ts';
import { type ObjectRef, PortError, type Ports } from '../../../../shared/ports.ts';
import { readState } from '../../../../shared/sim/decode.ts';
import type { World } from '../../../../shared/sim/world.ts';
import { runningWorld, settings, spread, withPorts } from '../world.ts';

interface Warned {
  readonly world: World;
  readonly claim: NodeClaim;
  /** What was asked of the cluster, in order. */
  readonly calls: string[];
  readonly ports: (more?: Partial<Ports['cluster']>) => Ports;
}

/** Three nodes with a pod each, of which one is deleted because EC2 takes it away. */
async function warned(mark: Labels = { [INTERRUPTED]: 'spot_interrupted' }): Promise<Warned> {
  const world = await runningWorld([spread('web', 3)]);
  const { cluster } = world.ports;
  const [claim] = readState(world.store).objects.nodeClaims;
  if (claim === undefined) throw new Error('the world has no claim');
  const ref: ObjectRef = { kind: 'NodeClaim', name: claim.name, uid: claim.uid };
  await cluster.patchNodeClaim(ref, { annotations: mark, labels: mark });
  await cluster.delete(ref);
  const calls: string[] = [];
  const ports = (more: Partial<Ports['cluster']> = {}): Ports =>
    withPorts(world.ports, {
      cluster: {
        read: async () => {
          calls.push('read all');
          return await cluster.read();
        },
        readNode: async (name) => {
          calls.push(`read ${name}`);
          return await cluster.readNode(name);
        },
        patchNode: async (node, patch) => {
          if (patch.taints?.some(({ key }) => key === DISRUPTED_TAINT_KEY)) {
            calls.push(`taint ${node.name}`);
          }
          return await cluster.patchNode(node, patch);
        },
        evict: async (pod) => {
          calls.push('evict');
          return await cluster.evict(pod);
        },
        ...more,
      },
    });
  return { world, claim, calls, ports };
}

describe('a node that EC2 takes away', () => {
  it('is drained before the rest of the cluster is read', async () => {
    const { claim, calls, ports } = await warned();
    const { evictions, failures } = await lifecycle(ports(), settings);
    const node = claim.nodeName ?? '';
    expect(calls).toEqual([`read ${node}`, `taint ${node}`, 'evict', 'read all']);
    expect([evictions, failures]).toEqual([1, []]);
  });

  it('is drained like any other where the process knows the cluster', async () => {
    const { claim, calls, ports } = await warned();
    await lifecycle(ports({ isWarm: () => true }), settings);
    expect(calls).toEqual(['read all', `taint ${claim.nodeName}`, 'evict']);
  });

  it('is left alone while Karpenter runs', async () => {
    const { world, calls, ports } = await warned();
    const { cluster } = world.ports;
    const karpenterRenewedAtMs = world.timeline.nowMs();
    const read = async () => ({ ...(await cluster.read()), karpenterRenewedAtMs });
    const readClaims = async (key?: string) => ({
      ...(await cluster.readClaims(key)),
      karpenterRenewedAtMs,
    });
    await lifecycle(ports({ read, readClaims }), settings);
    expect(calls).toEqual([]);
  });

  it('holds nothing up where it cannot be read', async () => {
    const { claim, calls, ports } = await warned();
    const readNode = async (): Promise<never> => {
      throw new PortError('unknown', '500', 'later');
    };
    const { failures } = await lifecycle(ports({ readNode }), settings);
    expect(failures).toEqual([{ object: `NodeClaim/${claim.name}`, message: '500: later' }]);
    expect(calls).toEqual(['read all', `taint ${claim.nodeName}`, 'evict']);
  });
});

it('a node that somebody else deletes waits for everything to be read', async () => {
  const { claim, calls, ports } = await warned({});
  await lifecycle(ports(), settings);
  expect(calls).toEqual(['read all', `taint ${claim.nodeName}`, 'evict']);
});
