import { describe, expect, it } from 'vitest';
import { choiceOf } from '../../../cli/explain/pod.ts';
import { sentence } from '../../../shared/core/explain/reason.ts';
import { HOSTNAME, ZONE } from '../../../shared/core/model/labels.ts';
import { type Pod, podKey } from '../../../shared/core/model/pod.ts';
import { DEFAULT_SCHEDULING_SETTINGS } from '../../../shared/core/model/snapshot.ts';
import { ofApp, spreadOver, termOver } from '../../builders/affinity.ts';
import { nodeOf, planOf, podOf, poolOf, snapshotOf } from '../../builders/scheduling.ts';

/** It launches nothing, so that pods go to nodes that are there, or nowhere. */
const full = poolOf('general', { limits: { cpu: 0 } });

const closed = { taints: [{ key: 'maintenance', value: '', effect: 'NoSchedule' as const }] };
const running = (name: string, app: string, spec: Parameters<typeof podOf>[1] = {}) =>
  podOf(name, spec, { nodeName: 'one', phase: 'Running', unschedulable: false, labels: { app } });
const port = { hostPorts: [{ ip: '0.0.0.0', port: 80, protocol: 'TCP' }] };
const apart = { podAntiAffinity: [termOver(HOSTNAME, ofApp('web'))] };

interface Case {
  readonly pod?: Parameters<typeof podOf>[1];
  readonly nodes?: readonly ReturnType<typeof nodeOf>[];
  readonly others?: readonly Pod[];
}

const ONE = nodeOf('one', 4, 16);

function existing({ pod = {}, nodes = [ONE], others = [] }: Case): readonly string[] {
  const waiting = podOf('waits', pod, { labels: { app: 'web' } });
  const snapshot = snapshotOf({ nodePools: [full], nodes, pods: [waiting, ...others] });
  const found = choiceOf(snapshot, DEFAULT_SCHEDULING_SETTINGS, waiting).existing;
  expect(found.nodes).toBe(nodes.length);
  return found.obstacles.map(({ nodes: of, why }) => `${of}: ${sentence(why)}`);
}

/** Whether the plan puts it on a node that is there. */
function isPlaced({ pod = {}, nodes = [ONE], others = [] }: Case): boolean {
  const waiting = podOf('waits', pod, { labels: { app: 'web' } });
  const plan = planOf({ nodePools: [full], nodes, pods: [waiting, ...others] });
  return plan.existing.some(({ pods }) => pods.includes(podKey(waiting)));
}

describe('what keeps a pod from the nodes that are there', () => {
  it.each<readonly [string, Case, readonly string[]]>([
    ['nothing', {}, []],
    ['its request', { pod: { cpu: 5000 } }, ['1: cpu 5']],
    [
      'a taint',
      { nodes: [nodeOf('one', 4, 16, closed)] },
      ['1: its taint maintenance:NoSchedule, which the pod does not tolerate'],
    ],
    ['a label', { pod: { nodeSelector: { disk: 'fast' } } }, ['1: disk In [fast]']],
    ['a zone', { pod: { nodeSelector: { [ZONE]: 'zone-b' } } }, [`1: ${ZONE} In [zone-b]`]],
    [
      'a port',
      { pod: port, others: [running('a', 'a', port)] },
      ['1: host ports, which pods there use'],
    ],
    [
      'its anti-affinity',
      { pod: apart, others: [running('a', 'web')] },
      ['1: pod anti-affinity by node'],
    ],
    ['that of others', { others: [running('a', 'a', apart)] }, ['1: anti-affinity of other pods']],
    [
      'its affinity',
      {
        pod: { podAffinity: [termOver(HOSTNAME, ofApp('db'))] },
        nodes: [ONE, nodeOf('two', 4, 16, closed)],
        others: [running('a', 'web')],
      },
      [
        '2: pod affinity by node',
        '1: its taint maintenance:NoSchedule, which the pod does not tolerate',
      ],
    ],
    [
      'a spread over zones',
      {
        pod: { topologySpread: [spreadOver(ZONE, ofApp('web'))] },
        nodes: [ONE, nodeOf('two', 4, 16, { zone: 'zone-b', ...closed })],
        others: [running('a', 'web'), running('b', 'web')],
      },
      [
        '1: its taint maintenance:NoSchedule, which the pod does not tolerate',
        `1: spread by ${ZONE}`,
      ],
    ],
    [
      'several things',
      { pod: { cpu: 5000, nodeSelector: { disk: 'fast' } }, nodes: [ONE, nodeOf('two', 8, 32)] },
      ['2: disk In [fast]', '1: cpu 5'],
    ],
  ])('%s', (_, given, expected) => {
    expect(existing(given)).toEqual(expected);
    expect(isPlaced(given)).toBe(expected.length === 0);
  });
});
