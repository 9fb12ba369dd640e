import { describe, expect, it } from 'vitest';
import {
  ARCH,
  INSTANCE_TYPE,
  normalizeLabelKey,
  ZONE,
  ZONE_ID,
} from '../../../shared/core/model/labels.ts';
import type { RequirementExpression } from '../../../shared/core/model/requirement.ts';
import {
  daemonSetOf,
  GI,
  nodeOf,
  planOf,
  podOf,
  podsOf,
  poolOf,
  typeOf,
} from '../../builders/scheduling.ts';

const small = typeOf('a.small', 4, 16, 0.2);
const large = typeOf('b.large', 8, 32, 0.13);
const mine = { matchLabels: { app: 'web' }, matchExpressions: [] };

function term(topologyKey: string) {
  return {
    topologyKey,
    labelSelector: mine,
    namespaces: [],
    namespaceSelector: undefined,
    matchLabelKeys: [],
    mismatchLabelKeys: [],
  };
}

function pooled(...requirements: readonly RequirementExpression[]) {
  return [poolOf('general', { requirements })];
}

function asking(name: string, ...matchExpressions: readonly RequirementExpression[]) {
  return podOf(name, { requiredNodeAffinity: [{ matchExpressions, matchFields: [] }] });
}

describe('a limit', () => {
  it.each([
    ['cpu', { cpu: 5000 }],
    ['memory', { memory: 20 * GI }],
  ])('of %s leaves the smaller type, though the larger costs less', (_, limits) => {
    const nodePools = [poolOf('general', { limits })];
    const plan = planOf({ nodePools, types: [small, large], pods: [podOf('a', { cpu: 3000 })] });
    expect(plan.newNodeClaims.map(({ chosen }) => chosen.type)).toEqual(['a.small']);
  });

  it('does not send pods to a lighter pool as long as a smaller type is within it', () => {
    const nodePools = [poolOf('heavy', { weight: 10, limits: { cpu: 5000 } }), poolOf('light')];
    const plan = planOf({ nodePools, types: [small, large], pods: [podOf('a', { cpu: 3000 })] });
    expect(plan.newNodeClaims.map(({ nodePool }) => nodePool)).toEqual(['heavy']);
  });
});

describe('DaemonSets', () => {
  it('keep room of resources that no pod asks for', () => {
    const daemon = podOf('agent', { requests: { memory: 20 * GI, pods: 1 } });
    const daemonSets = [daemonSetOf('agent', daemon.spec)];
    const pods = [podOf('a', { requests: { cpu: 1000, pods: 1 } })];
    const plan = planOf({ daemonSets, types: [typeOf('a.small', 4, 16, 0.1), large], pods });
    expect(plan.newNodeClaims.map(({ chosen }) => chosen.type)).toEqual(['b.large']);
  });
});

describe('the label of the instance type', () => {
  it('keeps pods apart', () => {
    const pods = podsOf(2, 'a', { podAntiAffinity: [term(INSTANCE_TYPE)] });
    const { newNodeClaims } = planOf({ types: [small, large], pods });
    expect(newNodeClaims.map(({ chosen }) => chosen.type).sort()).toEqual(['a.small', 'b.large']);
  });
});

describe('labels that are left open', () => {
  it('may have a value that nobody names', () => {
    const nodePools = pooled({ key: 'team', operator: 'Exists', values: [] });
    const pods = [
      asking('red', { key: 'team', operator: 'In', values: ['red'] }),
      asking('other', { key: 'team', operator: 'NotIn', values: ['red'] }),
    ];
    expect(planOf({ nodePools, pods }).unplaced.size).toBe(0);
  });

  it('may have a number within bounds', () => {
    const nodePools = pooled({ key: 'generation', operator: 'Gt', values: ['3'] });
    const pods = [asking('a', { key: 'generation', operator: 'Gt', values: ['5'] })];
    const [claim] = planOf({ nodePools, pods }).newNodeClaims;
    expect(claim?.labels['generation']).toBe('6');
  });

  it('have no sign, so that a node is launched for who takes others, too, or nobody', () => {
    const nodePools = pooled({ key: 'rack', operator: 'Exists', values: [] });
    const below = asking('below', { key: 'rack', operator: 'Lt', values: ['0'] });
    const above = asking('above', { key: 'rack', operator: 'Gt', values: ['-5'] });
    const plan = planOf({ nodePools, pods: [below, above] });
    expect(plan.newNodeClaims.map(({ labels }) => labels['rack'])).toEqual(['0']);
    expect([...plan.unplaced.keys()]).toEqual(['default/below']);
  });

  it('are said to be absent where a pod wants that', () => {
    const nodePools = pooled({ key: 'team', operator: 'NotIn', values: ['red'] });
    const pods = [asking('a', { key: 'team', operator: 'DoesNotExist', values: [] })];
    const [claim] = planOf({ nodePools, pods }).newNodeClaims;
    const about = claim?.requirements.filter(({ key }) => key === 'team');
    expect(about).toEqual([{ key: 'team', operator: 'DoesNotExist', values: [] }]);
  });

  it('of types and zones stay where a pod wants them absent or something else', () => {
    const key = 'karpenter.k8s.aws/instance-gpu-name';
    const types = [typeOf('g.large', 4, 16, 1, { labels: { [key]: ['t4'] } })];
    const others: readonly RequirementExpression[] = [
      { key, operator: 'NotIn', values: ['a100'] },
      { key: ZONE, operator: 'NotIn', values: ['zone-c'] },
    ];
    const amd = { key: ARCH, operator: 'In', values: ['amd64'] } as const;
    const absent = (name: string) =>
      ({ key: name, operator: 'DoesNotExist', values: [] }) as RequirementExpression;
    const requiredNodeAffinity = [absent(key), absent(ZONE), amd].map((each) => ({
      matchExpressions: [each],
      matchFields: [],
    }));
    const plan = planOf({
      types,
      nodePools: pooled(...others),
      pods: [podOf('a', { requiredNodeAffinity })],
    });
    const operators = plan.newNodeClaims[0]?.requirements.map(({ operator }) => operator);
    expect(operators).not.toContain('DoesNotExist');
  });

  it('have the value that pods nearby have on their nodes', () => {
    const labels = { rack: 'r7', 'karpenter.sh/nodepool': 'general' };
    const nodes = [nodeOf('full', 1, 4, { labels })];
    const pods = [
      podOf('db', {}, { nodeName: 'full' }),
      podOf('a', { podAffinity: [term('rack')] }),
    ];
    const nodePools = pooled({ key: 'rack', operator: 'Exists', values: [] });
    const plan = planOf({ nodePools, nodes, pods });
    expect(plan.newNodeClaims.map(({ labels: { rack } }) => rack)).toEqual(['r7']);
  });

  it('are decided for every type that a claim keeps open', () => {
    const both = typeOf('c.both', 4, 16, 0.21, { labels: { [ARCH]: ['amd64', 'arm64'] } });
    const pods = [podOf('a', { cpu: 3000, nodeSelector: { [ARCH]: 'amd64' } })];
    const [claim] = planOf({ types: [small, both], pods }).newNodeClaims;
    expect(claim?.instanceTypes).toEqual(['a.small', 'c.both']);
    const about = claim?.requirements.filter(({ key }) => key === ARCH);
    expect(about).toEqual([{ key: ARCH, operator: 'In', values: ['amd64'] }]);
  });
});

describe('terms', () => {
  it('are all looked at, however many a pod has', () => {
    const terms = Array.from({ length: 101 }, (_, index) => ({
      matchExpressions: [
        { key: ZONE, operator: 'In' as const, values: [index === 100 ? 'zone-b' : `no-${index}`] },
      ],
      matchFields: [],
    }));
    const { newNodeClaims } = planOf({ pods: [podOf('a', { requiredNodeAffinity: terms })] });
    expect(newNodeClaims.map(({ chosen }) => chosen.zone)).toEqual(['zone-b']);
  });

  it('of affinity let no group start where another of them counts its pods', () => {
    const nodes = [nodeOf('n', 1, 4)];
    const running = podOf('running', {}, { nodeName: 'n' });
    const pods = [running, podOf('a', { podAffinity: [term('rack'), term(ZONE)] })];
    expect([...planOf({ nodes, pods }).unplaced.keys()]).toEqual(['default/a']);
  });

  it('know zones by the name that the CSI driver of EBS has for them', () => {
    expect(normalizeLabelKey('topology.ebs.csi.aws.com/zone')).toBe(ZONE);
  });
});

it('resources may be called like what every object inherits', () => {
  const plan = planOf({ pods: [podOf('a', { requests: { constructor: 1, pods: 1 } })] });
  expect([...plan.unplaced.keys()]).toEqual(['default/a']);
});

describe('a label that nothing describes', () => {
  const keys = ['karpenter.k8s.aws/nitro-sandbox', 'karpenter.k8s.aws/placement-group-id', ZONE_ID];

  it.each(keys)('is absent, well-known or not: no node is launched for who wants %s', (key) => {
    const pods = [
      asking('wants', { key, operator: 'Exists', values: [] }),
      asking('names', { key, operator: 'In', values: ['one'] }),
    ];
    const plan = planOf({ types: [small], pods });
    expect(plan.newNodeClaims).toEqual([]);
    expect([...plan.unplaced.keys()].sort()).toEqual(['default/names', 'default/wants']);
  });

  it.each(keys)('is as those want who rule %s out', (key) => {
    const pods = [
      asking('without', { key, operator: 'DoesNotExist', values: [] }),
      asking('other', { key, operator: 'NotIn', values: ['one'] }),
    ];
    expect(planOf({ types: [small], pods }).unplaced.size).toBe(0);
  });
});

describe('a label that the pool leaves open', () => {
  const key = 'example.com/team';
  const names = Array.from({ length: 100 }, (_, at) => `team-${String(at).padStart(3, '0')}`);

  it('may have more values than are told apart: those that pods name are', () => {
    const nodePools = pooled({ key, operator: 'In', values: names });
    const pods = [
      asking('last', { key, operator: 'In', values: ['team-099'] }),
      asking('any', { key, operator: 'Exists', values: [] }),
    ];
    const plan = planOf({ nodePools, types: [small], pods });
    expect(plan.unplaced.size).toBe(0);
    const claim = plan.newNodeClaims.find(({ pods: own }) => own.includes('default/last'));
    expect(claim?.labels[key]).toBe('team-099');
  });

  it('has some other value where one is ruled out and a pod wants any', () => {
    const nodePools = pooled({ key, operator: 'NotIn', values: ['team-000'] });
    const pods = [asking('any', { key, operator: 'Exists', values: [] })];
    const [claim] = planOf({ nodePools, types: [small], pods }).newNodeClaims;
    expect(claim?.pods).toEqual(['default/any']);
    expect(claim?.labels[key]).not.toBe('team-000');
    expect(claim?.labels[key]).toBeDefined();
  });
});
