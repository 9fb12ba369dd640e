import { expect, it } from 'vitest';
import type { PodAffinityTerm, PodSpec } from '../../../shared/core/model/pod.ts';
import { RunningTerms } from '../../../shared/core/scheduling/problem/running-terms.ts';
import { PodSelectors } from '../../../shared/core/scheduling/problem/selectors.ts';
import { ofApp, spreadOver, termOver } from '../../builders/affinity.ts';
import { podOf, podsOf } from '../../builders/scheduling.ts';

const ZONE = 'topology.kubernetes.io/zone';
const zoneTerm = (selector: PodAffinityTerm['labelSelector'], rest = {}): PodAffinityTerm => ({
  ...termOver(ZONE, selector),
  ...rest,
});
const everyPod = { matchLabels: {}, matchExpressions: [] };
const notWeb = {
  matchLabels: {},
  matchExpressions: [{ key: 'app', operator: 'NotIn' as const, values: ['web'] }],
};

/** How many terms of a running pod of app `db` decide where a pod of app `web` may go. */
function decide(spec: Partial<PodSpec>, namespace = 'default'): number {
  const namespaces = [
    { name: 'default', labels: {} },
    { name: 'shop', labels: { team: 'shop' } },
  ];
  const selectors = new PodSelectors(namespaces, ['default', 'shop']);
  const running = podOf('db', spec, { nodeName: 'node', labels: { app: 'db' } });
  const web = podOf('web', {}, { namespace, labels: { app: 'web' } });
  const about = new RunningTerms([web, running], [1]).about([web, web], selectors);
  return [...about.values()]
    .flatMap((pod) => [
      ...[pod.spec.topologySpread, pod.spec.podAffinity, pod.spec.podAntiAffinity],
      ...[pod.spec.preferredPodAffinity, pod.spec.preferredPodAntiAffinity],
    ])
    .reduce((sum, terms) => sum + terms.length, 0);
}

it.each<[string, Partial<PodSpec>, number]>([
  ['by a label', { podAntiAffinity: [zoneTerm(ofApp('web'))] }, 1],
  ['by a label that it has not', { podAntiAffinity: [zoneTerm(ofApp('api'))] }, 0],
  ['every pod', { podAntiAffinity: [zoneTerm(everyPod)] }, 1],
  ['no pod', { podAntiAffinity: [zoneTerm(undefined)] }, 0],
  ['all but web', { podAntiAffinity: [zoneTerm(notWeb)] }, 0],
  [
    "by a key whose value is the own pod's",
    { podAntiAffinity: [zoneTerm(everyPod, { matchLabelKeys: ['app'] })] },
    0,
  ],
  [
    'two of three',
    {
      preferredPodAffinity: [{ weight: 1, term: zoneTerm(ofApp('web')) }],
      preferredPodAntiAffinity: [
        { weight: 1, term: zoneTerm(ofApp('api')) },
        { weight: 2, term: zoneTerm(everyPod) },
      ],
    },
    2,
  ],
  [
    'required affinity as a whole',
    { podAffinity: [zoneTerm(ofApp('web')), zoneTerm(everyPod)] },
    2,
  ],
  [
    'required affinity that means pods of both terms',
    { podAffinity: [zoneTerm(ofApp('web')), zoneTerm(ofApp('api'))] },
    0,
  ],
  ['a spread that counts it', { topologySpread: [spreadOver(ZONE, ofApp('web'))] }, 1],
])('a term of a running pod counts where it means a pod to be placed: %s', (_, spec, expected) => {
  expect(decide(spec)).toBe(expected);
});

it('terms of a running pod mean pods of its namespace, or of those that they name', () => {
  const named = { namespaceSelector: { matchLabels: { team: 'shop' }, matchExpressions: [] } };
  expect(decide({ podAntiAffinity: [zoneTerm(everyPod)] }, 'shop')).toBe(0);
  expect(decide({ podAntiAffinity: [zoneTerm(everyPod, named)] }, 'shop')).toBe(1);
});

it('a thousand terms of running pods about others are read once, not for every plan', () => {
  let reads = 0;
  const terms = Array.from({ length: 1_000 }, (_, at) => ({
    ...zoneTerm(ofApp(`other-${at}`)),
    get labelSelector() {
      reads += 1;
      return ofApp(`other-${at}`);
    },
  }));
  const running = podOf('db', { podAntiAffinity: terms }, { nodeName: 'node' });
  const index = new RunningTerms([running], [0]);
  const selectors = new PodSelectors([], ['default']);
  const before = reads;
  for (const web of podsOf(50, 'web', {}, { labels: { app: 'web' } })) {
    index.about([web], selectors);
  }
  expect([before, reads]).toEqual([1_000, 1_000]);
});
