import { describe, expect, it } from 'vitest';
import {
  claimNameOf,
  dependsOnOtherPods,
  hardDomainSpreads,
  isBufferPod,
  isLive,
  isOver,
  type Pod,
  type PodSpec,
  podKey,
} from '../../../shared/core/model/pod.ts';
import { ofApp, spreadOver, termOver } from '../../builders/affinity.ts';
import { PLAIN_SPEC, podOf } from '../../builders/scheduling.ts';

const ZONE = 'topology.kubernetes.io/zone';
const HOSTNAME = 'kubernetes.io/hostname';
const web = ofApp('web');

it('is named by namespace and name', () => {
  expect(podKey({ namespace: 'a', name: 'b' })).toBe('a/b');
});

it.each<[Partial<Pod>, { over: boolean; live: boolean }]>([
  [{ phase: 'Running' }, { over: false, live: true }],
  [{ phase: 'Pending' }, { over: false, live: true }],
  [
    { phase: 'Running', deletedAtMs: 1 },
    { over: false, live: false },
  ],
  [{ phase: 'Succeeded' }, { over: true, live: false }],
  [{ phase: 'Failed' }, { over: true, live: false }],
  [{ phase: 'Unknown' }, { over: false, live: true }],
])('%j', (rest, { over, live }) => {
  expect(isOver(podOf('p', {}, rest))).toBe(over);
  expect(isLive(podOf('p', {}, rest))).toBe(live);
});

it('stands for room of a CapacityBuffer where its annotation says so', () => {
  const saying = (value: string) =>
    podOf('p', {}, { annotations: { 'karpenter.sh/capacity-buffer-fake-pod': value } });
  expect([saying('true'), saying('no'), podOf('p')].map(isBufferPod)).toEqual([true, false, false]);
});

it('has a volume by its claim’s name, or by its own and the volume’s', () => {
  const pod = { name: 'db-0' };
  expect(claimNameOf(pod, { kind: 'claim', claimName: 'data' })).toBe('data');
  const volume = { kind: 'ephemeral', volumeName: 'tmp', storageClassName: undefined } as const;
  expect(claimNameOf(pod, volume)).toBe('db-0-tmp');
});

describe('rules about other pods', () => {
  const soft = spreadOver(ZONE, web, { whenUnsatisfiable: 'ScheduleAnyway' });
  it.each<[string, Partial<PodSpec>, boolean]>([
    ['none', {}, false],
    ['affinity', { podAffinity: [termOver(ZONE, web)] }, true],
    ['affinity by node', { podAffinity: [termOver(HOSTNAME, web)] }, true],
    ['anti-affinity by zone', { podAntiAffinity: [termOver(ZONE, web)] }, true],
    ['anti-affinity by node', { podAntiAffinity: [termOver(HOSTNAME, web)] }, false],
    [
      'anti-affinity by both',
      { podAntiAffinity: [termOver(HOSTNAME, web), termOver(ZONE, web)] },
      true,
    ],
    ['a spread over zones', { topologySpread: [spreadOver(ZONE, web)] }, true],
    ['a spread over nodes', { topologySpread: [spreadOver(HOSTNAME, web)] }, false],
    ['a spread that is a wish', { topologySpread: [soft] }, false],
  ])('%s: decide where it may go: %s', (_, spec, expected) => {
    expect(dependsOnOtherPods({ ...PLAIN_SPEC, ...spec })).toBe(expected);
  });

  it('that kube-scheduler holds to are spreads over more than nodes', () => {
    const hard = spreadOver(ZONE, web);
    const topologySpread = [soft, spreadOver(HOSTNAME, web), hard];
    expect(hardDomainSpreads({ ...PLAIN_SPEC, topologySpread })).toEqual([hard]);
  });
});
