import { describe, expect, it } from 'vitest';
import { CAPACITY_TYPE, HOSTNAME, ZONE } from '../../../shared/core/model/labels.ts';
import { DEFAULT_SCHEDULING_SETTINGS } from '../../../shared/core/model/snapshot.ts';
import { firstFit } from '../../../shared/core/scheduling/first-fit/first-fit.ts';
import { ofApp, spreadOver, termOver } from '../../builders/affinity.ts';
import { nodeOf, podOf, podsOf, poolOf, snapshotOf } from '../../builders/scheduling.ts';

const web = ofApp('web');

/** New nodes as `pool type zone pods`, pods left over, and those on nodes that are there. */
function outcome(
  rest: Parameters<typeof snapshotOf>[0],
  settings: Partial<typeof DEFAULT_SCHEDULING_SETTINGS> = {},
) {
  const plan = firstFit(snapshotOf(rest), { ...DEFAULT_SCHEDULING_SETTINGS, ...settings });
  const claims = plan.newNodeClaims.map(
    ({ nodePool, chosen, pods }) => `${nodePool} ${chosen.type} ${chosen.zone} ${pods.length}`,
  );
  const existing = plan.existing.map(({ node, pods }) => `${node} ${pods.length}`);
  return { claims: claims.sort(), existing, left: [...plan.unplaced.keys()] };
}

function inZone(zone: string) {
  return {
    matchExpressions: [{ key: ZONE, operator: 'In' as const, values: [zone] }],
    matchFields: [],
  };
}

describe('Karpenter’s way', () => {
  it('fills one node as long as any instance type holds it, whatever that costs', () => {
    const pods = [
      ...podsOf(6, 'cheap', { cpu: 500 }),
      podOf('dear', { cpu: 500, nodeSelector: { [CAPACITY_TYPE]: 'on-demand' } }),
    ];
    expect(outcome({ pods }).claims).toEqual(['general m.xlarge zone-a 7']);
  });

  it('puts pods on nodes that are there first, and then where fewest are', () => {
    const pods = podsOf(3, 'web', { cpu: 1500 });
    const { claims, existing } = outcome({ pods, nodes: [nodeOf('old', 2, 8)] });
    expect({ claims, existing }).toEqual({
      claims: ['general m.xlarge zone-a 2'],
      existing: ['old 1'],
    });
  });

  it('takes the heaviest NodePool, and of equals the last by name', () => {
    const pods = [podOf('web')];
    const equal = [poolOf('a'), poolOf('b')];
    expect(outcome({ pods, nodePools: equal }).claims).toEqual(['b m.large zone-a 1']);
    const heavier = [poolOf('a', { weight: 5 }), poolOf('b')];
    expect(outcome({ pods, nodePools: heavier }).claims).toEqual(['a m.large zone-a 1']);
  });

  it('keeps to preferences as to rules, and gives them up one at a time', () => {
    const apart = podsOf(3, 'web', {
      preferredPodAntiAffinity: [{ weight: 1, term: termOver(HOSTNAME, web) }],
    });
    expect(outcome({ pods: apart }).claims).toHaveLength(3);
    expect(outcome({ pods: apart }, { preferencePolicy: 'Ignore' }).claims).toHaveLength(1);
    const away = podOf('web', {
      preferredNodeAffinity: [
        { weight: 9, term: inZone('zone-z') },
        { weight: 5, term: inZone('zone-c') },
      ],
    });
    expect(outcome({ pods: [away] }).claims).toEqual(['general m.large zone-c 1']);
  });

  it('tries one alternative of the node affinity after the other', () => {
    const terms = [inZone('zone-z'), inZone('zone-b')];
    const pods = [podOf('web', { requiredNodeAffinity: terms })];
    expect(outcome({ pods }).claims).toEqual(['general m.large zone-b 1']);
  });

  it('spreads over zones, also where that is a wish', () => {
    const soft = spreadOver(ZONE, web, { whenUnsatisfiable: 'ScheduleAnyway' });
    const { claims } = outcome({ pods: podsOf(3, 'web', { topologySpread: [soft] }) });
    expect(claims.map((each) => each.split(' ')[2])).toEqual(['zone-a', 'zone-b', 'zone-c']);
  });

  it('avoids PreferNoSchedule until nothing else is left', () => {
    const taints = [{ key: 'team', value: 'a', effect: 'PreferNoSchedule' as const }];
    const soft = poolOf('soft', { weight: 9, taints });
    const both = { pods: [podOf('web')], nodePools: [soft, poolOf('general')] };
    expect(outcome(both).claims).toEqual(['general m.large zone-a 1']);
    expect(outcome({ ...both, nodePools: [soft] }).claims).toEqual(['soft m.large zone-a 1']);
  });

  it('counts limits by the largest type that a claim may become, and goes on after its launch', () => {
    const pods = podsOf(2, 'web', {
      cpu: 1500,
      podAntiAffinity: [termOver(HOSTNAME, web)],
    });
    const limited = poolOf('limited', { weight: 5, limits: { cpu: 16_000 } });
    // The first claim could be the 4xlarge with all 16 vCPU: the second goes to the lighter pool.
    expect(outcome({ pods, nodePools: [limited, poolOf('general')] }).claims).toEqual([
      'general m.large zone-a 1',
      'limited m.large zone-a 1',
    ]);
    expect(outcome({ pods, nodePools: [limited] }).claims).toHaveLength(2);
  });

  it('leaves over what fits nowhere, and says why', () => {
    expect(outcome({ pods: [podOf('huge', { cpu: 90_000 })] })).toEqual({
      claims: [],
      existing: [],
      left: ['default/huge'],
    });
  });
});
