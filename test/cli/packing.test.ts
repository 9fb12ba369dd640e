import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Frame, History } from '../../cli/packing/film.ts';
import type { PackedNode, Packing, PodCount } from '../../cli/packing/packing.ts';
import { joiner } from './run.ts';

/** What commands print of where pods are, which pages are made from. */

const ROOT = join(import.meta.dirname, '..', '..');

async function printed(command: string, ...args: readonly string[]) {
  const { exitCode, stdout } = await joiner(command, ...args, '-o', 'json');
  expect(exitCode).toBe(0);
  return JSON.parse(stdout);
}

function podsOn(counts: readonly PodCount[]): number {
  return counts.reduce((sum, [, count]) => sum + count, 0);
}

/** Pods by the node's index after all frames. */
function atEnd(frames: readonly Frame[]): ReadonlyMap<number, number> {
  const pods = new Map<number, number>();
  for (const frame of frames) for (const [node, own] of frame.pods) pods.set(node, podsOn(own));
  return pods;
}

describe('simulate -o json', () => {
  const example = join(ROOT, 'examples/07-spread-and-spot');
  const run = () =>
    printed('simulate', example, '--scenario', `${example}/scenario.yaml`, '--duration', '7m');
  const first = run();

  it('says which pods were on which node, and when', async () => {
    const state = await first;
    const { nodes, workloads }: Packing = state.packing;
    const { frames, seconds }: History = state.history;
    const ends = atEnd(frames);
    const alive = nodes.filter(({ life }) => life?.gone === null);
    expect(seconds).toBe(420);
    expect(workloads.map(({ name }) => name)).toContain('shop');
    expect(alive.map(({ nodeClaim }) => nodeClaim).sort()).toEqual(
      state.nodeClaims.map((claim: { name: string }) => claim.name),
    );
    for (const claim of state.nodeClaims) {
      const at = nodes.findIndex(({ nodeClaim }) => nodeClaim === claim.name);
      expect(ends.get(at)).toBe(claim.pods.length);
      expect(podsOn(nodes[at]?.pods ?? [])).toBe(claim.pods.length);
    }
    expect(frames.at(-1)).toMatchObject({ pricePerHour: state.totals.pricePerHour, pending: 0 });
  });

  it('has the offerings that each node was chosen from, and the runner-up', async () => {
    const { packing } = await first;
    const { ladders, nodes }: Packing = packing;
    for (const { ladder, instanceType, zone, capacityType, runnerUp, why } of nodes) {
      const offers = ladders[ladder ?? -1]?.offers ?? [];
      expect(offers).toContainEqual(
        expect.objectContaining({ type: instanceType, zone, capacityType }),
      );
      expect(offers.map(({ type }) => type)).toContain(runnerUp?.type);
      expect(why).toContain(`${instanceType} ${capacityType} in ${zone}`);
    }
    const gone = nodes.find(({ life }) => life?.gone !== null);
    expect(gone?.life).toMatchObject({ draining: 300, gone: expect.any(Number) });
  });

  it('is the same twice', async () => {
    const [one, two] = [await first, await run()];
    expect(one.packing).toEqual(two.packing);
    expect(one.history).toEqual(two.history);
  });
});

describe('solve', () => {
  it('has the nodes of its plan, with room for what they request', async () => {
    const plan = await printed('solve', join(ROOT, 'examples/09-solve/case.json'));
    const { nodes, workloads }: Packing = plan.packing;
    expect(workloads.map(({ namespace, name }) => `${namespace}/${name}`).sort()).toEqual([
      'default/db-*',
      'default/web-*',
    ]);
    expect(nodes.map((node: PackedNode) => [node.state, podsOn(node.pods)])).toEqual(
      plan.newNodeClaims.map(({ pods }: { pods: string[] }) => ['new', pods.length]),
    );
  });
});

describe('compare -o json', () => {
  it('has the nodes of both ways', async () => {
    const found = await printed('compare', join(ROOT, 'bench/compare/mixed'));
    for (const way of ['joinersWay', 'karpentersWay'] as const) {
      const { nodes }: Packing = found.packings[way];
      expect(nodes).toHaveLength(found[way].nodes);
      const sum = nodes.reduce((all, { listPrice }) => all + (listPrice ?? 0), 0);
      expect(sum).toBeCloseTo(found[way].usdPerHour, 9);
      expect(nodes.reduce((all, { pods }) => all + podsOn(pods), 0)).toBe(found[way].podsPlaced);
      // DaemonSets of EKS run on the nodes of both.
      for (const { reserved } of nodes) expect(reserved).toEqual({ cpu: '330m', memory: '376Mi' });
    }
    expect(found.packings.now).toBeNull();
  });
});
