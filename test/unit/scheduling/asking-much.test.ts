import { expect, it } from 'vitest';
import type { PodSpec } from '../../../shared/core/model/pod.ts';
import { ofApp, termOver } from '../../builders/affinity.ts';
import { FAMILY, planOf, podOf, poolOf } from '../../builders/scheduling.ts';

const MANY = 1000;
const keys = Array.from({ length: MANY }, (_, at) => `key-${String(at).padStart(4, '0')}`);
const nodePools = Array.from({ length: 10 }, (_, at) =>
  poolOf(`pool-${at}`, { labels: { at: `${at}` } }),
);

/** The types, and how often their labels were looked up. */
function counted() {
  let looks = 0;
  const types = FAMILY.map((type) => {
    const labels = new Proxy(type.labels, {
      getOwnPropertyDescriptor: (target, key) => {
        looks += 1;
        return Reflect.getOwnPropertyDescriptor(target, key);
      },
    });
    return { ...type, labels };
  });
  return { types, looks: () => looks };
}

const asking = (operator: 'NotIn' | 'In', rest: Partial<PodSpec> = {}): Partial<PodSpec> => ({
  requiredNodeAffinity: [
    { matchExpressions: keys.map((key) => ({ key, operator, values: ['v'] })), matchFields: [] },
  ],
  ...rest,
});
const anyOf: Partial<PodSpec> = {
  requiredNodeAffinity: keys.map((key) => ({
    matchExpressions: [{ key, operator: 'Exists', values: [] }],
    matchFields: [],
  })),
};

it.each<[string, Partial<PodSpec> & { readonly cpu?: number }, number]>([
  ['labels that nodes may not have', asking('NotIn'), 0],
  ['labels that nodes may not have, and too much', { cpu: 1e9, ...asking('NotIn') }, 1],
  ['labels that no node has', asking('In'), 1],
  ['any of labels that no node has', anyOf, 1],
])('a pod asks for a thousand %s: each is looked up a few times for a type', (_, spec, left) => {
  const { types, looks } = counted();
  const plan = planOf({ types, nodePools, pods: [podOf('evil', spec)] });
  expect(plan.unplaced.size).toBe(left);
  expect(looks() / (types.length * MANY)).toBeLessThan(20);
});

it.each<[string, Partial<PodSpec>]>([
  ['labels', { nodeSelector: Object.fromEntries(keys.map((key) => [key, 'v'])) }],
  ['resources', { requests: Object.fromEntries(keys.map((key) => [`x.io/${key}`, 1])) }],
  ['other pods', { podAffinity: keys.map((key) => termOver(key, ofApp('none'))) }],
])('of a thousand %s that no node has fifty are named for a NodePool', (_, spec) => {
  const [why] = [...planOf({ nodePools, pods: [podOf('evil', spec)] }).unplaced.values()];
  const pools = why?.reasons.flatMap((each) =>
    each.code === 'pod-unplaced' ? each.parameters.nodePools : [],
  );
  expect(pools?.map(({ stages }) => stages.length)).toEqual(nodePools.map(() => 50));
});

it('pods with a thousand host ports each: a port is read a few times', () => {
  let reads = 0;
  const portsOf = (at: number) =>
    keys.map((_, port) => ({
      ip: `10.0.0.${at}`,
      protocol: 'TCP',
      get port() {
        reads += 1;
        return port + 1;
      },
    }));
  const pods = [0, 1, 2, 3].map((at) => podOf(`media-${at}`, { hostPorts: portsOf(at) }));
  expect(planOf({ pods }).unplaced.size).toBe(0);
  expect(reads / (pods.length * MANY)).toBeLessThan(200);
});

it.each<[string, (own: readonly string[]) => Partial<PodSpec>]>([
  ['labels', (own) => ({ nodeSelector: Object.fromEntries(own.map((key) => [key, 'v'])) })],
  ['places', (own) => ({ podAffinity: own.map((key) => termOver(key, ofApp('none'))) })],
])(
  'of many pods with %s that no node has, one launch of each NodePool is looked at for the reason',
  (_, specOf) => {
    const { types, looks } = counted();
    const many = [1, 2, 3, 4].flatMap((at) =>
      types.map((type) => ({ ...type, name: `${type.name}.${at}` })),
    );
    const pods = Array.from({ length: 20 }, (_, at) =>
      podOf(`evil-${at}`, specOf(keys.slice(at * 40, at * 40 + 40))),
    );
    expect(planOf({ types: many, nodePools, pods }).unplaced.size).toBe(pods.length);
    expect(looks() / (many.length * pods.length * 40)).toBeLessThan(10);
  },
);
