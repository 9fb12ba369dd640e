import { describe, expect, it } from 'vitest';
import type { Line } from '../../../cli/doctor/line.ts';
import { checkAdoption, checkHandBack } from '../../../cli/handover/checks.ts';
import { checkSettings } from '../../../cli/handover/settings.ts';
import type { Position } from '../../../cli/handover/walk.ts';
import type { Sign } from '../../../cli/release/alive.ts';
import { aNodeClass } from '../../builders/launches.ts';
import { nodeOverlay } from '../../builders/overlays.ts';
import { claimOf, poolOf, yes } from '../../builders/scheduling.ts';
import { clusterState, karpenter, LEASE, NOW_MS, positionWith, stackWith } from './state.ts';

const ALIVE: Sign = {
  who: 'Joiner',
  lease: 'kube-system/joiner-decide',
  atMs: NOW_MS - 30_000,
  holder: undefined,
  takenBy: new Map(),
};

function adoption(
  change: Partial<Position> = {},
  more: { readonly signs?: readonly Sign[]; readonly unreadable?: readonly string[] } = {},
): readonly string[] {
  const { signs = [ALIVE], unreadable = [] } = more;
  const place = { cluster: 'demo' };
  const checked = {
    position: positionWith(change),
    signs,
    place,
    stack: stackWith(),
    unreadable,
  };
  return checkAdoption(checked).map(said);
}

function said({ status, check, message }: Line): string {
  return `${status} ${check}: ${message}`;
}

it('a cluster in which nothing is in the way', () => {
  const nodeClaims = [claimOf('a', { providerId: 'aws:///a/i-0a', conditions: yes('Launched') })];
  expect(adoption({ state: clusterState({ nodeClaims }) })).toEqual([
    'OK karpenter: 1.14.1, Deployment kube-system/karpenter with 2 replicas',
    'OK leader: karpenter-0 holds the Lease kube-system/karpenter-leader-election',
    "OK settings: Karpenter's gates and settings are Joiner's",
    'OK joiner: its Lease kube-system/joiner-decide was taken 30 s ago',
    'OK objects: 1 NodePool, 1 EC2NodeClass, 1 NodeClaim',
  ]);
});

describe('what is in the way', () => {
  it.each<readonly [string, Partial<Position>, string]>([
    [
      'an old Karpenter',
      { karpenter: karpenter({}, { version: '0.37.0' }) },
      'FAIL karpenter: kube-system/karpenter is 0.37.0: its objects are not v1',
    ],
    [
      'no version',
      { karpenter: karpenter({}, { version: undefined }) },
      'WARN karpenter: kube-system/karpenter does not say its version',
    ],
    [
      'no leader election',
      { karpenter: karpenter({ DISABLE_LEADER_ELECTION: 'true' }) },
      'FAIL leader: Karpenter has no leader election: Joiner does not see that it runs, and both change nodes',
    ],
    [
      'no leader election, as Go spells it, too',
      { karpenter: karpenter({ DISABLE_LEADER_ELECTION: 'True' }) },
      'FAIL leader: Karpenter has no leader election: Joiner does not see that it runs, and both change nodes',
    ],
    [
      'another Lease',
      { karpenter: karpenter({ LEADER_ELECTION_NAME: 'mine' }) },
      'FAIL leader: Karpenter uses the Lease mine: Joiner does not see that it runs, and both change nodes',
    ],
    [
      'nobody is elected',
      { isJoinerPassive: false },
      'WARN leader: no pod of Karpenter has renewed its Lease in the last minute',
    ],
    [
      'GitOps',
      { karpenter: karpenter({}, { writers: ['Argo CD'] }) },
      'WARN gitops: Argo CD applies the Deployment kube-system/karpenter, and would scale it up again',
    ],
    [
      'another cluster name',
      { karpenter: karpenter({ CLUSTER_NAME: 'other' }) },
      'FAIL cluster name: Karpenter tags its instances with the cluster other, Joiner with demo',
    ],
    [
      'settings of a Secret',
      { karpenter: karpenter({}, { unread: ['CLUSTER_NAME'] }) },
      'WARN settings: not compared, because a Secret or ConfigMap holds their values: CLUSTER_NAME',
    ],
    [
      'a Deployment that is not found',
      { karpenter: undefined },
      'WARN karpenter: runs (Lease kube-system), but its Deployment was not found',
    ],
    [
      'no Karpenter',
      { karpenter: undefined, isJoinerPassive: false },
      'OK karpenter: not installed',
    ],
    [
      'a class that Joiner does not support',
      {
        state: clusterState(
          {},
          { nodeClasses: [aNodeClass({ placementGroupSelector: { name: 'a' } })] },
        ),
      },
      'FAIL classes: EC2NodeClass default: spec.placementGroupSelector: placement groups are not supported: Joiner would launch nothing with it',
    ],
    [
      'a class that is not ready',
      { state: clusterState({}, { nodeClasses: [aNodeClass()] }) },
      'WARN classes: EC2NodeClass default is not ready: it has no status',
    ],
    [
      'a launch under way',
      { state: clusterState({ nodeClaims: [claimOf('a')] }) },
      'WARN under way: NodeClaim a is not launched yet',
    ],
    [
      'claims of Auto Mode',
      {
        state: clusterState({
          nodeClaims: [
            claimOf('a', {
              nodeClassRef: { group: 'eks.amazonaws.com', kind: 'NodeClass', name: 'default' },
            }),
          ],
        }),
      },
      'OK objects: 1 NodeClaim of other classes, which nobody changes',
    ],
  ])('%s', (_, change, line) => {
    expect(adoption(change)).toContain(line);
  });

  it.each<readonly [string, readonly Sign[], string]>([
    ['is not deployed', [], 'FAIL joiner: no function has ever taken a Lease'],
    [
      'is not at work',
      [{ ...ALIVE, atMs: NOW_MS - 600_000 }],
      'FAIL joiner: its Lease kube-system/joiner-decide was taken 600 s ago',
    ],
  ])('Joiner %s', (_, signs, line) => {
    expect(adoption({}, { signs })).toContain(line);
  });

  it('an object that cannot be read', () => {
    const unreadable = ['NodePool/a cannot be read: spec.limits'];
    expect(adoption({}, { unreadable })).toContain(
      'FAIL objects: NodePool/a cannot be read: spec.limits',
    );
  });
});

/** What two gates of Karpenter are about. */
const all = clusterState(
  {
    nodePools: [poolOf('a', { replicas: 2 })],
    nodeOverlays: [nodeOverlay('o', { requirements: [], price: '1' })],
  },
  {},
);

describe('settings of Karpenter that are not those of Joiner', () => {
  it.each<
    readonly [
      string,
      Readonly<Record<string, string>>,
      Readonly<Record<string, string>>,
      readonly string[],
    ]
  >([
    [
      "Karpenter's defaults",
      {},
      {},
      [
        'WARN feature gates: NodeOverlay is false in Karpenter and true in Joiner: 1 NodeOverlay',
        'WARN feature gates: StaticCapacity is false in Karpenter and true in Joiner: 1 static NodePool',
      ],
    ],
    [
      'the same gates',
      { FEATURE_GATES: 'NodeOverlay=true,StaticCapacity=true' },
      {},
      ["OK settings: Karpenter's gates and settings are Joiner's"],
    ],
    [
      'the same gates, in other words of Go',
      { FEATURE_GATES: 'NodeOverlay=True,StaticCapacity=1' },
      {},
      ["OK settings: Karpenter's gates and settings are Joiner's"],
    ],
    [
      'gates of Joiner that are off',
      { FEATURE_GATES: 'NodeRepair=true' },
      { FEATURE_GATES: 'NodeOverlay=false,StaticCapacity=false' },
      ['WARN feature gates: NodeRepair is true in Karpenter and false in Joiner: unhealthy nodes'],
    ],
    [
      'gates that only Karpenter has',
      {
        FEATURE_GATES: 'NodeOverlay=true,StaticCapacity=true,PodDeletionCostManagement=true',
        AWS_FEATURE_GATES: 'NodeClassCEL=true,DRAEFA=false',
      },
      {},
      [
        'WARN feature gates: PodDeletionCostManagement is on in Karpenter; Joiner has nothing like it',
        'WARN feature gates: NodeClassCEL is on in Karpenter; Joiner has nothing like it',
      ],
    ],
    [
      'policies and amounts',
      {
        FEATURE_GATES: 'NodeOverlay=true,StaticCapacity=true',
        PREFERENCE_POLICY: 'Ignore',
        VM_MEMORY_OVERHEAD_PERCENT: '0.0750',
        RESERVED_ENIS: '1',
        SCHEDULER_CONFIG: '{}',
      },
      {},
      [
        'WARN settings: PREFERENCE_POLICY is Ignore in Karpenter and Respect in Joiner',
        'WARN settings: RESERVED_ENIS is 1 in Karpenter and 0 in Joiner',
        'WARN settings: SCHEDULER_CONFIG is set in Karpenter; Joiner has no such setting',
      ],
    ],
  ])('%s', (_, env, stack, lines) => {
    expect(checkSettings(karpenter(env), stackWith(stack), all).map(said)).toEqual(lines);
  });
});

describe('advice on gates', () => {
  it.each<readonly [string, string, string, string]>([
    ['all that differ', '', '', 'with -c featureGates=NodeOverlay=false,StaticCapacity=false'],
    [
      'what the stack has otherwise',
      'NodeOverlay=true,NodeRepair=true',
      'NodeRepair=true,SpotToSpotConsolidation=true',
      'with -c featureGates=NodeRepair=true,StaticCapacity=false',
    ],
    [
      'no gate, where all are the defaults then',
      'NodeOverlay=true,StaticCapacity=true',
      'NodeRepair=true',
      'without featureGates',
    ],
  ])('is one option, which has %s', (_, theirs, ours, how) => {
    const stack = ours === '' ? {} : { FEATURE_GATES: ours };
    const lines = checkSettings(karpenter({ FEATURE_GATES: theirs }), stackWith(stack), all);
    const advice = [...new Set(lines.map((line) => line.advice))];
    expect(advice).toEqual([`for what Karpenter does, deploy ${how}`]);
  });
});

describe('before a hand-back', () => {
  const stopped = { isJoinerPassive: false, lease: { ...LEASE, holder: '' } };

  it('Karpenter at 0 replicas, and how many it had', () => {
    const record = {
      to: 'joiner',
      state: 'done',
      startedAt: '',
      pauses: {},
      karpenter: { namespace: 'kube-system', name: 'karpenter', replicas: 2 },
    } as const;
    const position = positionWith({
      ...stopped,
      record,
      karpenter: karpenter({}, { replicas: 0 }),
    });
    expect(checkHandBack({ position }).map(said)).toEqual([
      'OK karpenter: 1.14.1, Deployment kube-system/karpenter with 0 replicas',
      'OK replicas: Karpenter had 2',
    ]);
  });

  it('no Karpenter, and annotations that it does not know', () => {
    const nodePools = [
      poolOf('a', { annotations: { 'joiner.dev/limits-guard': 'cpu=4' } }),
      poolOf('b', { annotations: { 'joiner.dev/pause': 'disrupt from @daily for 6h' } }),
    ];
    const state = clusterState({ nodePools });
    const position = positionWith({ ...stopped, karpenter: undefined, state });
    expect(checkHandBack({ position }).map(said)).toEqual([
      'WARN karpenter: no Deployment of Karpenter is in the cluster',
      'WARN annotations: the annotation joiner.dev/limits-guard of NodePool a means nothing to Karpenter',
      'WARN annotations: the annotation joiner.dev/pause of NodePool b means nothing to Karpenter',
    ]);
  });
});
