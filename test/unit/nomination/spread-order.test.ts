import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HOSTNAME, ZONE } from '../../../shared/core/model/labels.ts';
import type { Pod, PodSpec } from '../../../shared/core/model/pod.ts';
import { inSpreadOrder, nominableTogether } from '../../../shared/core/nomination/spread-order.ts';
import { ofApp, spreadOver } from '../../builders/affinity.ts';
import { PLAIN_SPEC } from '../../builders/scheduling.ts';
import { aNode, aPod } from '../launch/builders.ts';

const overZones: PodSpec = { ...PLAIN_SPEC, topologySpread: [spreadOver(ZONE, ofApp('web'))] };

/** Pods whose order is that of their numbers; `zone` is that of their node. */
function arrival(zone: string, numbers: readonly number[], spec = overZones, owner = 'web') {
  const controller = { kind: 'ReplicaSet', name: owner, uid: owner };
  const pods = numbers.map((at) => ({ ...aPod({ name: `${owner}-${at}`, controller }), spec }));
  const name = `${zone}-${numbers.join('-')}`;
  return { node: aNode({ name, labels: {} }), labels: { [ZONE]: zone }, pods };
}

const orderOf = ({ name }: Pod): number => Number(name.split('-').at(-1));

/** Zones in the order in which the pods come. */
function zonesInOrder(arrivals: readonly ReturnType<typeof arrival>[]): string {
  const zones = new Map(arrivals.map(({ node, labels }) => [node.name, labels[ZONE] ?? '']));
  return inSpreadOrder(arrivals, orderOf)
    .flatMap(({ node, pods }) => pods.map((pod) => [orderOf(pod), zones.get(node.name)] as const))
    .sort(([a], [b]) => a - b)
    .map(([, zone]) => zone)
    .join('');
}

describe('pods that are nominated to a node together', () => {
  const of = (numbers: readonly number[], spec?: PodSpec, owner?: string): readonly Pod[] =>
    arrival('a', numbers, spec, owner).pods;
  const overHosts: PodSpec = { ...PLAIN_SPEC, topologySpread: [spreadOver(HOSTNAME, ofApp('a'))] };
  const byTwo: PodSpec = {
    ...PLAIN_SPEC,
    topologySpread: [spreadOver(ZONE, ofApp('web'), { maxSkew: 2 })],
  };

  it.each<[string, readonly Pod[], readonly Pod[], string]>([
    ['are all that need not spread', of([1, 2], PLAIN_SPEC), [], '1 2'],
    ['are all that spread over nodes', of([1, 2], overHosts), [], '1 2'],
    ['are one more than may be ahead', of([1, 2, 3]), [], '1 2'],
    ['are one more than may be two ahead', of([1, 2, 3, 4], byTwo), [], '1 2 3'],
    ['are fewer beside one that is nominated', of([1, 2]), of([3]), '1'],
    ['are none beside two that are nominated', of([1, 2]), of([3, 4]), ''],
    ['are others beside one of another owner', of([1]), of([3], overZones, 'other'), '1'],
  ])('%s', (_, pods, nominated, expected) => {
    expect(nominableTogether(pods, nominated).map(orderOf).join(' ')).toBe(expected);
  });
});

describe('pods that have to spread', () => {
  it.each<[string, readonly ReturnType<typeof arrival>[], string]>([
    ['take turns', [arrival('a', [1, 2]), arrival('b', [3, 4]), arrival('c', [5])], 'cabab'],
    ['begin where most go', [arrival('a', [1]), arrival('b', [2]), arrival('b', [3])], 'bab'],
    ['begin where no two go to one node', [arrival('a', [1]), arrival('b', [2, 3])], 'abb'],
    ['take places of several nodes of a zone', [arrival('a', [1]), arrival('a', [2])], 'aa'],
    [
      'stay where they are if nodes are to differ, not zones',
      [
        arrival('a', [1, 2], {
          ...PLAIN_SPEC,
          topologySpread: [spreadOver(HOSTNAME, ofApp('web'))],
        }),
        arrival('b', [3]),
      ],
      'aab',
    ],
    [
      'stay where they are if that is a wish',
      [
        arrival('a', [1, 2], {
          ...PLAIN_SPEC,
          topologySpread: [spreadOver(ZONE, ofApp('web'), { whenUnsatisfiable: 'ScheduleAnyway' })],
        }),
        arrival('b', [3]),
      ],
      'aab',
    ],
    [
      'are not exchanged with those of others',
      [arrival('a', [1, 2]), arrival('b', [3, 4], overZones, 'other')],
      'aabb',
    ],
  ])('%s', (_, arrivals, expected) => {
    expect(zonesInOrder(arrivals)).toBe(expected);
  });

  it('leave as many places taken on each node, whatever they are', () => {
    const numbers = fc.uniqueArray(fc.nat(), { maxLength: 12 });
    const nodes = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), numbers), { maxLength: 6 });
    fc.assert(
      fc.property(nodes, (drawn) => {
        const arrivals = drawn.map(([zone, own]) => arrival(zone, own));
        const counts = arrivals.map(({ pods }) => pods.length);
        const turned = inSpreadOrder(arrivals, orderOf);
        expect(turned.map(({ pods }) => pods.length)).toEqual(counts);
        const before = new Set(arrivals.flatMap(({ pods }) => pods));
        expect(new Set(turned.flatMap(({ pods }) => pods))).toEqual(before);
      }),
    );
  });
});
