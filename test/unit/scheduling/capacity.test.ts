import { describe, expect, it } from 'vitest';
import {
  INITIALIZED,
  INSTANCE_TYPE,
  NODE_POOL,
  PLAN,
  REGISTERED,
  RESERVATION_ID,
  RESERVED,
  ZONE,
} from '../../../shared/core/model/labels.ts';
import type { Pod } from '../../../shared/core/model/pod.ts';
import type { ClusterSnapshot } from '../../../shared/core/model/snapshot.ts';
import {
  claimOf,
  FAMILY,
  GI,
  nodeOf,
  planOf,
  podOf,
  podsByZone,
  podsOf,
  typeOf,
} from '../../builders/scheduling.ts';

describe('capacity that is there', () => {
  it('is used before anything is launched', () => {
    const plan = planOf({ pods: podsOf(4, 'a'), nodes: [nodeOf('n', 4, 16)] });
    expect(plan.newNodeClaims).toEqual([]);
    expect(plan.existing).toEqual([
      { node: 'n', pods: ['default/a-0', 'default/a-1', 'default/a-2', 'default/a-3'] },
    ]);
  });

  it('follows what is on a node from one snapshot to the next', () => {
    const node = nodeOf('n', 4, 16);
    const [first, second, third] = [0, 1, 2].map((at) =>
      podOf(`running-${at}`, {}, { nodeName: 'n' }),
    );
    const waiting = podsOf(3, 'a');
    const placedOn = (running: readonly (Pod | undefined)[], nodes = [node]): number => {
      const pods = [...running.filter((each) => each !== undefined), ...waiting];
      return planOf({ pods, nodes }).existing.flatMap((each) => each.pods).length;
    };
    expect(placedOn([first, second])).toBe(2);
    expect(placedOn([first, third])).toBe(2);
    expect(placedOn([first])).toBe(3);
    expect(placedOn([first, second, third])).toBe(1);
    expect(placedOn([first, second, third], [nodeOf('n', 5, 16)])).toBe(2);
  });

  it('counts what a claim that is not launched yet will be', () => {
    const amounts = { cpu: '4', memory: '16Gi', pods: '58' };
    const planned = {
      type: 'm.xlarge',
      zone: 'zone-b',
      capacityType: 'spot',
      allocatable: amounts,
    };
    const nodeClaims = [claimOf('c', { annotations: { [PLAN]: JSON.stringify(planned) } })];
    const pods = podsOf(3, 'a', { nodeSelector: { [ZONE]: 'zone-b' } });
    const plan = planOf({ nodeClaims, pods });
    expect(plan.existing.map((each) => [each.node, each.pods.length])).toEqual([['c', 3]]);
  });

  it('reads a node that is not registered yet by its claim', () => {
    const node = nodeOf('n', 4, 16, {
      labels: { [REGISTERED]: '', [INITIALIZED]: '', [NODE_POOL]: '' },
      taints: [{ key: 'karpenter.sh/unregistered', value: '', effect: 'NoExecute' }],
    });
    const { [NODE_POOL]: _, [REGISTERED]: __, ...own } = node.labels;
    const nodes = [{ ...node, labels: own }];
    const labels = { [NODE_POOL]: 'general', team: 'x' };
    const nodeClaims = [claimOf('c', { labels, providerId: node.providerId, nodeName: 'n' })];
    const pods = [podOf('a', { nodeSelector: { team: 'x' } })];
    expect(planOf({ nodes, nodeClaims, pods }).existing).toHaveLength(1);
    const dedicated = [{ key: 'own', value: '', effect: 'NoSchedule' as const }];
    const tainted = nodeClaims.map((claim) => ({ ...claim, taints: dedicated }));
    expect(planOf({ nodes, nodeClaims: tainted, pods }).existing).toEqual([]);
  });

  it.each([
    ['not reported', {}],
    ['reported as none', { gpu: 0 }],
  ])('counts the devices of a node that starts while they are %s', (_, reported) => {
    const made = nodeOf('n', 4, 16);
    const { [INITIALIZED]: _initialized, ...labels } = made.labels;
    const room = { ...made.allocatable, ...reported };
    const nodes = [{ ...made, labels, capacity: room, allocatable: room }];
    const promised = { ...made.allocatable, gpu: 1 };
    const nodeClaims = [
      claimOf('c', {
        providerId: made.providerId,
        nodeName: 'n',
        capacity: promised,
        allocatable: promised,
      }),
    ];
    const pods = [podOf('a', { requests: { cpu: 100, gpu: 1, pods: 1 } })];
    expect(planOf({ nodes, nodeClaims, pods }).existing).toEqual([
      { node: 'n', pods: ['default/a'] },
    ]);
  });

  it('leaves a node that goes away out, and places its pods anew', () => {
    const running = podOf('a', {}, { nodeName: 'n' });
    const nodes = [nodeOf('n', 4, 16, { deletedAtMs: 1 })];
    const plan = planOf({ nodes, pods: [running] });
    expect(plan.newNodeClaims.flatMap((each) => each.pods)).toEqual(['default/a']);
  });

  it('ignores pods that are not its business', () => {
    const pods = [
      podOf('gated', { hasSchedulingGates: true }),
      podOf('other', {}, { unschedulable: false }),
      podOf('daemon', {}, { controller: { kind: 'DaemonSet', name: 'd', uid: 'd' } }),
      podOf('away', {
        requiredNodeAffinity: [
          {
            matchExpressions: [{ key: NODE_POOL, operator: 'DoesNotExist', values: [] }],
            matchFields: [],
          },
        ],
      }),
    ];
    const plan = planOf({ pods });
    expect([...plan.ignored.keys()].toSorted()).toEqual([
      'default/away',
      'default/daemon',
      'default/gated',
      'default/other',
    ]);
    expect(plan.newNodeClaims).toEqual([]);
  });
});

it('an offering that has more than another in its place is named by its type', () => {
  const slots = { 'example.com/slots': 4 };
  const plain = typeOf('plain', 4, 16, 0.1);
  const capable = typeOf('capable', 4, 16, 0.1);
  const more = capable.offerings.map((each) => ({ ...each, capacityOverride: slots }));
  const types = [plain, { ...capable, offerings: [...capable.offerings, ...more] }];
  const pods = [podOf('a', { requests: { 'example.com/slots': 1, pods: 1 } })];
  const plan = planOf({ types, pods });
  expect(plan.newNodeClaims.map(({ instanceTypes }) => instanceTypes)).toEqual([['capable']]);
});

describe('volumes', () => {
  const claim = {
    namespace: 'default',
    name: 'data',
    storageClassName: 'ebs',
    volumeName: 'pv',
    bindCompleted: true,
    isDeleting: false,
    isLost: false,
  };
  const volume = {
    name: 'pv',
    csiDriver: 'ebs.csi.aws.com',
    csiVolumeHandle: 'vol-1',
    isLocal: false,
    requiredNodeAffinity: [
      {
        matchExpressions: [{ key: ZONE, operator: 'In' as const, values: ['zone-c'] }],
        matchFields: [],
      },
    ],
  };
  const storageClass = {
    name: 'ebs',
    provisioner: 'ebs.csi.aws.com',
    volumeBindingMode: 'WaitForFirstConsumer' as const,
    allowedTopologies: [],
  };
  const withClaim = (name: string) => ({ volumes: [{ kind: 'claim' as const, claimName: name }] });

  it('keep a pod in the zone of its volume', () => {
    const plan = planOf({
      pods: [podOf('a', withClaim('data'))],
      persistentVolumeClaims: [claim],
      persistentVolumes: [volume],
    });
    expect(podsByZone(plan)).toEqual({ 'zone-c': 1 });
  });

  it('say why a pod cannot run', () => {
    const plan = planOf({ pods: [podOf('a', withClaim('none'))] });
    expect(plan.unplaced.get('default/a')?.message).toBe(
      'PersistentVolumeClaim none does not exist',
    );
  });

  it('of a claim without the annotation of a binding that is complete are not there yet', () => {
    const plan = planOf({
      pods: [podOf('a', withClaim('data'))],
      persistentVolumeClaims: [{ ...claim, bindCompleted: false }],
      persistentVolumes: [volume],
    });
    expect(plan.unplaced.get('default/a')?.message).toBe(
      'PersistentVolumeClaim data is not bound: it lacks the annotation pv.kubernetes.io/bind-completed',
    );
  });

  it.each([false, true])('of pods that run count, claims being deleted: %s', (isDeleting) => {
    const other = { ...claim, name: 'other', volumeName: undefined, bindCompleted: false };
    const plan = planOf({
      nodes: [nodeOf('n', 8, 32)],
      csiNodes: [{ name: 'n', attachLimits: { 'ebs.csi.aws.com': 1 } }],
      pods: [podOf('a', withClaim('data'), { nodeName: 'n' }), podOf('b', withClaim('other'))],
      persistentVolumeClaims: [{ ...claim, isDeleting }, other],
      persistentVolumes: [volume],
      storageClasses: [storageClass],
    });
    expect(plan.newNodeClaims.map((each) => each.pods)).toEqual([['default/b']]);
  });

  it('that pods name themselves count against the limit of their driver', () => {
    const attached = (volume: string) => ({
      volumes: [{ kind: 'attached' as const, driver: 'ebs.csi.aws.com', volume }],
    });
    const type = typeOf('a.large', 8, 32, 0.2, { attachLimits: { 'ebs.csi.aws.com': 1 } });
    const pods = [podOf('a', attached('vol-1')), podOf('b', attached('vol-2'))];
    expect(planOf({ types: [type], pods }).newNodeClaims).toHaveLength(2);
  });

  describe('beyond the limit of a type', () => {
    const type = typeOf('a.large', 8, 32, 0.2, { attachLimits: { 'ebs.csi.aws.com': 1 } });
    const pods = ['vol-1', 'vol-2'].map((volume) =>
      podOf(volume, {
        volumes: [{ kind: 'attached' as const, driver: 'ebs.csi.aws.com', volume }],
      }),
    );
    const labels = { [NODE_POOL]: 'general', [INSTANCE_TYPE]: 'a.large' };
    const { capacity, allocatable } = nodeOf('n', 8, 32);

    function launchedBeside(rest: Partial<ClusterSnapshot>): number {
      return planOf({ types: [type], pods, ...rest }).newNodeClaims.length;
    }

    it('go to another node than one that is still to come', () => {
      expect(
        launchedBeside({ nodeClaims: [claimOf('c', { labels, capacity, allocatable })] }),
      ).toBe(1);
    });

    it('go to another node than one that has just come, until its CSINode says more', () => {
      const node = nodeOf('n', 8, 32, { labels: { [INITIALIZED]: '' } });
      const nodeClaims = [claimOf('c', { labels, providerId: node.providerId, nodeName: 'n' })];
      const told = (attachLimits: Readonly<Record<string, number>>) =>
        launchedBeside({ nodes: [node], nodeClaims, csiNodes: [{ name: 'n', attachLimits }] });
      expect(launchedBeside({ nodes: [node], nodeClaims })).toBe(1);
      expect(told({})).toBe(1);
      expect(told({ 'efs.csi.aws.com': 2 })).toBe(1);
      expect(told({ 'ebs.csi.aws.com': 2 })).toBe(0);
    });

    it('go to an initialised node that has no CSINode', () => {
      expect(launchedBeside({ nodes: [nodeOf('n', 8, 32)] })).toBe(0);
    });
  });

  it('never exceed what a new node can attach', () => {
    const names = ['d0', 'd1', 'd2', 'd3', 'd4'];
    const claims = names.map((name) => ({
      ...claim,
      name,
      volumeName: undefined,
      bindCompleted: false,
    }));
    const types = FAMILY.map((type) => ({ ...type, attachLimits: { 'ebs.csi.aws.com': 2 } }));
    const plan = planOf({
      types,
      pods: names.map((name) => podOf(name, { cpu: 100, ...withClaim(name) })),
      persistentVolumeClaims: claims,
      storageClasses: [storageClass],
    });
    expect(plan.newNodeClaims.map((each) => each.pods.length).toSorted()).toEqual([1, 2, 2]);
  });
});

describe('reservations', () => {
  const [base] = typeOf('m.large', 2, 8, 0.1, { zones: ['zone-a'] }).offerings;
  const reservation = { id: 'cr-1', type: 'default' as const, capacity: 2 };
  const types = [
    typeOf('m.large', 2, 8, 0.1, {
      offerings:
        base === undefined
          ? []
          : [base, { ...base, capacityType: RESERVED, price: 0.000001, reservation }],
    }),
  ];

  it('are used up to their capacity', () => {
    const plan = planOf({ types, pods: podsOf(5, 'a', { cpu: 2000 }) });
    const reserved = plan.newNodeClaims.filter((each) => each.chosen.capacityType === RESERVED);
    expect(reserved).toHaveLength(2);
    const [first] = reserved;
    expect(first?.requirements).toContainEqual({
      key: RESERVATION_ID,
      operator: 'In',
      values: ['cr-1'],
    });
  });

  it('that their owner may take back are left to pods that let him', () => {
    const key = 'karpenter.k8s.aws/capacity-reservation-interruptible';
    const reserved = (id: string, interruptible: boolean) =>
      types.flatMap(({ offerings }) =>
        offerings
          .filter(({ capacityType }) => capacityType === RESERVED)
          .map((each) => ({ ...each, reservation: { ...reservation, id, interruptible } })),
      );
    const offerings = [...reserved('cr-lent', true), ...reserved('cr-own', false)];
    const both = typeOf('m.large', 2, 8, 0.1, { offerings });
    const labelled = { ...both, labels: { ...both.labels, [key]: ['false', 'true'] } };
    const ask = (value: string) =>
      planOf({
        types: [labelled],
        pods: podsOf(3, 'a', { cpu: 2000, nodeSelector: { [key]: value } }),
      });
    const idsOf = (value: string) =>
      ask(value).newNodeClaims.map(({ chosen }) => chosen.reservationId);
    expect(idsOf('false')).toEqual(['cr-own', 'cr-own']);
    expect(idsOf('true')).toEqual(['cr-lent', 'cr-lent']);
  });

  it('are left alone where they are switched off', () => {
    const plan = planOf({ types, pods: [podOf('a')] }, { reservedCapacity: false });
    expect(plan.newNodeClaims.map((each) => each.chosen.capacityType)).toEqual(['on-demand']);
  });
});

describe('preferences', () => {
  const wish = (zone: string) => [
    {
      weight: 10,
      term: {
        matchExpressions: [{ key: ZONE, operator: 'In' as const, values: [zone] }],
        matchFields: [],
      },
    },
  ];
  const dearerInB = FAMILY.map((type) => ({
    ...type,
    offerings: type.offerings.map((each) =>
      each.zone === 'zone-b' ? { ...each, price: each.price * 1.05 } : each,
    ),
  }));
  const pods = podsOf(4, 'a', { memory: 2 * GI, preferredNodeAffinity: wish('zone-b') });

  it('for a zone are met when that costs at most a tenth more', () => {
    const plan = planOf({ types: dearerInB, pods });
    expect(podsByZone(plan)).toEqual({ 'zone-b': 4 });
    expect(plan.preferences).toMatchObject({ satisfiedWeight: 40, totalWeight: 40 });
  });

  it('are not met when that is worth less, nor where they are ignored', () => {
    const preferenceWorth = { zone: 0.01, other: 0.01 };
    const cheap = planOf({ types: dearerInB, pods }, { preferenceWorth });
    expect(podsByZone(cheap)['zone-b']).toBeUndefined();
    const plan = planOf({ types: dearerInB, pods }, { preferencePolicy: 'Ignore' });
    expect(podsByZone(plan)['zone-b']).toBeUndefined();
  });
});
