import { describe, expect, it } from 'vitest';
import { missing } from '../../../shared/core/missing.ts';
import { TENANCY, ZONE } from '../../../shared/core/model/labels.ts';
import type { Pod, PodSpec } from '../../../shared/core/model/pod.ts';
import { effectiveDaemonSets } from '../../../shared/core/scheduling/problem/daemon-sets.ts';
import {
  daemonSetOf,
  GI,
  nodeOf,
  planOf,
  podOf,
  poolOf,
  typeOf,
} from '../../builders/scheduling.ts';

const template = podOf('template', { cpu: 100, memory: GI }).spec;
const controller = { kind: 'DaemonSet', name: 'agent', uid: 'agent' };

function agentPod(name: string, cpu: number, rest: Partial<Pod> = {}): Pod {
  const own = { namespace: 'kube-system', controller, nodeName: 'n', createdAtMs: 1 };
  return podOf(name, { cpu, memory: GI }, { ...own, ...rest });
}

function cpuOf(pods: readonly Pod[], templateGeneration?: string): number | undefined {
  const daemonSets = [daemonSetOf('agent', template, { templateGeneration })];
  return effectiveDaemonSets({ daemonSets, pods })[0]?.podSpec.requests['cpu'];
}

const generation = (number: string) => ({ labels: { 'pod-template-generation': number } });

describe('what a DaemonSet takes of each node', () => {
  it.each<[string, readonly Pod[], string | undefined, number]>([
    ['the template, without a pod', [], undefined, 100],
    ['its pod, where that is larger', [agentPod('a', 2000)], undefined, 2000],
    ['the template, where its pod is smaller', [agentPod('a', 50)], undefined, 100],
    [
      'the newest of its pods',
      [agentPod('new', 300, { createdAtMs: 3 }), agentPod('old', 900, { createdAtMs: 2 })],
      undefined,
      300,
    ],
    [
      'not a pod that is being deleted',
      [agentPod('new', 300, { createdAtMs: 3, deletedAtMs: 4 }), agentPod('old', 200)],
      undefined,
      200,
    ],
    ['not a pod that has failed', [agentPod('a', 300, { phase: 'Failed' })], undefined, 100],
    ['a pod that waits for its node', [agentPod('a', 300, { nodeName: undefined })], '1', 300],
    ['not a pod of an earlier template', [agentPod('a', 2000, generation('1'))], '2', 100],
    ['a pod of the current template', [agentPod('a', 2000, generation('2'))], '2', 2000],
    [
      'not a pod of another DaemonSet',
      [agentPod('a', 2000, { controller: { ...controller, uid: 'other' } })],
      undefined,
      100,
    ],
    [
      'not a pod of another namespace that names it as its owner',
      [agentPod('a', 1_000_000, { namespace: 'tenant', createdAtMs: 3 })],
      undefined,
      100,
    ],
  ])('is %s', (_, pods, templateGeneration, cpu) => {
    expect(cpuOf(pods, templateGeneration)).toBe(cpu);
    expect(cpuOf([...pods].reverse(), templateGeneration)).toBe(cpu);
  });

  it('holds for host ports, too', () => {
    const port = { ip: '0.0.0.0', port: 9100, protocol: 'TCP' };
    const pod = { ...agentPod('a', 100), spec: podOf('a', { hostPorts: [port] }).spec };
    const daemonSets = [daemonSetOf('agent', template)];
    const [found] = effectiveDaemonSets({ daemonSets, pods: [pod] });
    expect(found?.podSpec.hostPorts).toEqual([port]);
  });

  it('leaves its room on new nodes and on those that it has not come to yet', () => {
    const types = [typeOf('m.large', 2, 8, 0.1), typeOf('m.xlarge', 4, 16, 0.2)];
    const nodes = [nodeOf('full', 2, 8), nodeOf('fresh', 2, 8)];
    const plan = planOf({
      types,
      nodes,
      daemonSets: [daemonSetOf('agent', template)],
      pods: [agentPod('agent-1', 2000, { nodeName: 'full' }), podOf('web', { cpu: 1900 })],
    });
    const [claim] = plan.newNodeClaims;
    const places = [...plan.existing.map(({ node }) => node), claim?.chosen.type];
    expect(places).not.toContain('m.large');
    if (claim !== undefined) expect(claim.requests['cpu']).toBe(3900);
  });

  it('closes the zone in which it alone is too large for a type of the claim', () => {
    const inA = { key: ZONE, operator: 'In', values: ['zone-a'] } as const;
    const podSpec = {
      ...template,
      requests: { cpu: 3000 },
      requiredNodeAffinity: [{ matchExpressions: [inA], matchFields: [] }],
    };
    const daemonSets = [daemonSetOf('agent', podSpec)];
    const plan = planOf({ daemonSets, pods: [podOf('web')] });
    const [{ instanceTypes, requirements } = missing(0)] = plan.newNodeClaims;
    expect(instanceTypes).toContain('m.large');
    expect(requirements).toContainEqual({ ...inA, values: ['zone-b', 'zone-c'] });
  });

  it('is left out where a label keeps it away, which the node then has', () => {
    const key = 'example.com/team';
    const affinity = [
      { matchExpressions: [{ key, operator: 'NotIn', values: ['a'] }], matchFields: [] } as const,
    ];
    const daemonSets = [
      daemonSetOf('agent', {
        ...template,
        requests: { cpu: 1500 },
        requiredNodeAffinity: affinity,
      }),
    ];
    const teams = { key, operator: 'In', values: ['a', 'b'] } as const;
    const nodePools = [poolOf('general', { requirements: [teams] })];
    const plan = planOf({ nodePools, daemonSets, pods: [podOf('web', { cpu: 1900 })] });
    expect(plan.newNodeClaims).toMatchObject([
      { chosen: { type: 'm.large' }, labels: { [key]: 'a' } },
    ]);
    expect(plan.newNodeClaims[0]?.requirements).toContainEqual({ ...teams, values: ['a'] });
  });

  it('counts where only a tenancy that no pod asks for would keep it away', () => {
    const tenancies = { [TENANCY]: ['default', 'dedicated'] };
    const types = [
      typeOf('small', 2, 8, 0.1, { labels: tenancies }),
      typeOf('large', 4, 16, 0.2, { labels: tenancies }),
    ];
    const tenancyIs = (operator: 'In' | 'NotIn' | 'Exists', ...values: readonly string[]) => [
      { matchExpressions: [{ key: TENANCY, operator, values }], matchFields: [] },
    ];
    const chosenFor = (agent: PodSpec['requiredNodeAffinity'], spec: Partial<PodSpec> = {}) => {
      const podSpec = { ...template, requests: { cpu: 1500 }, requiredNodeAffinity: agent };
      const pods = [podOf('web', { cpu: 1900, ...spec })];
      const plan = planOf({ types, daemonSets: [daemonSetOf('agent', podSpec)], pods });
      return plan.newNodeClaims.map(({ chosen, labels }) => [chosen.type, labels[TENANCY]]);
    };
    expect(chosenFor(tenancyIs('NotIn', 'dedicated'))).toEqual([['large', undefined]]);
    expect(chosenFor(tenancyIs('In', 'default'))).toEqual([['large', undefined]]);
    expect(chosenFor(tenancyIs('In', 'dedicated'))).toEqual([['small', undefined]]);
    // A pod that takes any tenancy gets the cheaper one.
    const any = { requiredNodeAffinity: tenancyIs('Exists') };
    expect(chosenFor(tenancyIs('In', 'dedicated'), any)).toEqual([['small', 'default']]);
  });
});
