import { describe, expect, it } from 'vitest';
import type { ClaimSurroundings, LifecycleAction } from '../../../shared/core/lifecycle/actions.ts';
import {
  decideClaim,
  reasonUnregistered,
  unregisteredClaim,
} from '../../../shared/core/lifecycle/claim.ts';
import type { Condition } from '../../../shared/core/model/cluster.ts';
import type { NodeClaim } from '../../../shared/core/model/provisioning.ts';
import type { Taint } from '../../../shared/core/model/taint.ts';
import { yes } from '../../builders/scheduling.ts';
import { aNode, aNodeClaim, aPod } from '../launch/builders.ts';

/** Whole actions, to the last word; what follows what is in claim.test.ts. */
const MINUTE = 60_000;
const providerId = 'aws:///us-east-1a/i-0123456789abcdef0';
const launched = { providerId, conditions: yes('Launched') };
const registered = { providerId, conditions: yes('Launched', 'Registered') };
const ready = {
  providerId,
  annotations: { 'karpenter.k8s.aws/tagged': 'true' },
  conditions: yes('Launched', 'Registered', 'Initialized'),
};

function around(changes: Partial<ClaimSurroundings> = {}): ClaimSurroundings {
  const base = { nowMs: MINUTE, nodes: [], pods: [], awaiting: [], instance: 'present' } as const;
  return { ...base, blockingAttachments: [], isAwaited: false, ...changes };
}

function actionsOf(
  claim: Partial<NodeClaim>,
  surroundings: Partial<ClaimSurroundings> = {},
): readonly LifecycleAction[] {
  return decideClaim(aNodeClaim(claim), around(surroundings)).actions;
}

/** What the claim is told, by type. */
function said(
  claim: Partial<NodeClaim>,
  surroundings: Partial<ClaimSurroundings> = {},
): Readonly<Record<string, string>> {
  const set = actionsOf(claim, surroundings).flatMap((each) =>
    each.kind === 'conditions' ? each.set : [],
  );
  return Object.fromEntries(
    set.map(({ type, status, reason, message }) => [type, `${status} ${reason}: ${message}`]),
  );
}

const taint = (key: string, effect: Taint['effect'] = 'NoSchedule', value = ''): Taint => ({
  key,
  value,
  effect,
});
const UNREGISTERED = taint('karpenter.sh/unregistered', 'NoExecute');

describe('what a claim says', () => {
  it('until its node joins', () => {
    const waits = 'The node has not joined the cluster yet';
    expect(said(launched)).toEqual({
      Registered: `Unknown NodeNotFound: ${waits}`,
      Ready: `Unknown NodeNotFound: Registered=Unknown: ${waits}`,
    });
  });

  it('of two nodes', () => {
    const two = { nodes: [aNode(), aNode({ name: 'b' })] };
    expect(said(launched, two)['Registered']).toBe(
      'False MultipleNodesFound: Several nodes have the provider id of this NodeClaim',
    );
  });

  it('of a node that is not ready', () => {
    const nodes = [aNode({ conditions: [], taints: [UNREGISTERED] })];
    expect(said(launched, { nodes, nowMs: 0 })['Registered']).toBe(
      'Unknown NodeNotReady: The node has joined the cluster and is not Ready yet',
    );
  });

  it('of a node that opens with another', () => {
    const awaitedNode = aNodeClaim({ name: 'other' });
    const nodes = [aNode({ taints: [UNREGISTERED] })];
    expect(said(launched, { nodes, nowMs: 0, awaitedNode })['Registered']).toBe(
      'Unknown OtherNodeNotReady: The node becomes schedulable together with the node of NodeClaim other',
    );
  });

  it.each<[string, Partial<NodeClaim>, Parameters<typeof aNode>[0], string]>([
    ['NodeNotReady: Node status is not Ready', {}, { conditions: [] }, ''],
    [
      'StartupTaintsExist: Startup taint boot exists',
      { startupTaints: [taint('x'), taint('boot', 'NoExecute')] },
      { taints: [taint('team'), taint('boot', 'NoExecute')] },
      '',
    ],
    [
      'KnownEphemeralTaintsExist: Taint node.kubernetes.io/not-ready exists',
      {},
      { taints: [taint('team'), taint('node.kubernetes.io/not-ready')] },
      '',
    ],
    [
      'ResourceNotRegistered: Resource a is not there yet',
      { requests: { b: 1, a: 1, zero: 0, cpu: 1 } },
      { allocatable: { b: 0, cpu: 1 } },
      '',
    ],
  ])('of a node that is not initialised: %s', (text, claim, node) => {
    expect(said({ ...registered, ...claim }, { nodes: [aNode(node)] })['Initialized']).toBe(
      `Unknown ${text}`,
    );
  });

  it('of a node that is initialised with a startup taint of another effect', () => {
    const claim = { ...registered, startupTaints: [taint('boot', 'NoExecute')] };
    const nodes = [aNode({ taints: [taint('boot')] })];
    expect(said(claim, { nodes })).toMatchObject({ Initialized: 'True Initialized: ' });
  });

  it('of a node that is initialised without a resource of which nothing is requested', () => {
    const claim = { ...registered, requests: { gpu: 0 } };
    const nodes = [aNode({ allocatable: { gpu: 0 } })];
    expect(said(claim, { nodes })).toMatchObject({ Initialized: 'True Initialized: ' });
  });

  it('once, and again only where something is new', () => {
    const waiting: Condition = {
      type: 'Registered',
      status: 'Unknown',
      reason: 'NodeNotFound',
      message: 'The node has not joined the cluster yet',
      lastTransitionAtMs: 0,
    };
    const having = (changes: Partial<Condition>) => ({
      ...launched,
      conditions: [{ ...waiting, ...changes }, ...launched.conditions],
    });
    expect(said(having({}))).toEqual({});
    expect(said(having({ message: 'other' }))).toHaveProperty('Registered');
    expect(said(having({ reason: 'Other' }))).toHaveProperty('Registered');
    expect(said(having({ status: 'False' }))).toHaveProperty('Registered');
    // Of two conditions of one type only the new one counts for Ready.
    expect(said(having({ status: 'False' }))['Ready']).toMatch(/^Unknown NodeNotFound/);
  });

  it('is said no more of a node that is initialised already', () => {
    const nodes = [aNode({ labels: { 'karpenter.sh/initialized': 'true' } })];
    expect(actionsOf(registered, { nodes }).map(({ kind }) => kind)).toEqual(['conditions', 'tag']);
    const other = [aNode({ labels: { 'karpenter.sh/initialized': 'no' } })];
    expect(actionsOf(registered, { nodes: other }).map(({ kind }) => kind)).toEqual([
      'initialize',
      'conditions',
      'tag',
    ]);
  });
});

describe('a node that opens', () => {
  const opened = (claim: Partial<NodeClaim>, node: Parameters<typeof aNode>[0]) => {
    const [action] = actionsOf({ ...launched, ...claim }, { nodes: [aNode(node)] });
    return action?.kind === 'register' ? action : undefined;
  };
  const [team, boot] = [taint('team', 'NoSchedule', 'a'), taint('boot', 'NoExecute')];

  it.each<[string, readonly Taint[], readonly Taint[]]>([
    ['gets the claim’s taints', [], [team, boot]],
    ['loses the one that keeps it closed', [UNREGISTERED], [team, boot]],
    ['keeps its own', [taint('own'), UNREGISTERED], [taint('own'), team, boot]],
    [
      'keeps its value of one that both have',
      [taint('team', 'NoSchedule', 'b')],
      [taint('team', 'NoSchedule', 'b'), boot],
    ],
    [
      'has one twice where the effects differ',
      [taint('team', 'NoExecute')],
      [taint('team', 'NoExecute'), team, boot],
    ],
  ])('%s', (_, taints, expected) => {
    expect(opened({ taints: [team], startupTaints: [boot] }, { taints })?.taints).toEqual(expected);
  });

  it('keeps its taints as they are where it says so', () => {
    const claim = { taints: [team], startupTaints: [boot] };
    const own = [taint('own'), UNREGISTERED];
    const labelled = (value: string) =>
      opened(claim, { taints: own, labels: { 'karpenter.sh/do-not-sync-taints': value } })?.taints;
    expect(labelled('true')).toEqual([taint('own')]);
    expect(labelled('false')).toEqual([taint('own'), team, boot]);
  });

  it('has the claim’s labels, and says that it is registered', () => {
    expect(opened({ labels: { team: 'a' } }, {})?.labels).toEqual({
      team: 'a',
      'karpenter.sh/registered': 'true',
    });
  });

  it('has the claim’s annotations but for those that are about its launch', () => {
    const annotations = {
      note: 'n',
      'joiner.dev/planned-pods': 'a',
      'joiner.dev/replaces': 'b',
      'joiner.dev/tries': 'c',
      'joiner.dev/launch-tried': new Date(0).toISOString(),
    };
    expect(opened({ annotations }, {})?.annotations).toEqual({ note: 'n' });
  });
});

describe('a claim at rest', () => {
  it('names its instance for people', () => {
    const [, , action] = actionsOf(registered, { nodes: [aNode()] });
    expect(action).toEqual({
      kind: 'tag',
      instanceId: 'i-0123456789abcdef0',
      tags: { Name: 'node-1', 'karpenter.sh/nodeclaim': 'default-abcde' },
      annotations: { 'karpenter.k8s.aws/tagged': 'true' },
    });
  });

  it('keeps the name that its class gives the instance', () => {
    const [, , action] = actionsOf(registered, { nodes: [aNode()], isNamed: true });
    expect(action).toMatchObject({ tags: { 'karpenter.sh/nodeclaim': 'default-abcde' } });
    expect(action).not.toHaveProperty('tags.Name');
  });

  it('names nothing where its instance is not known', () => {
    const unknown = { ...registered, providerId: 'kwok://node' };
    expect(actionsOf(unknown, { nodes: [aNode()] }).map(({ kind }) => kind)).toEqual([
      'initialize',
      'conditions',
    ]);
  });

  it.each([
    ['reserved', true, true],
    ['reserved', false, false],
    ['reserved', undefined, false],
    ['on-demand', true, false],
  ])(
    'of %s capacity, in no reservation %s: demoted %s',
    (capacityType, isUnreserved, isDemoted) => {
      const claim = { ...ready, labels: { 'karpenter.sh/capacity-type': capacityType } };
      const nodes = [aNode()];
      const surroundings = isUnreserved === undefined ? { nodes } : { nodes, isUnreserved };
      expect(actionsOf(claim, surroundings)).toEqual(isDemoted ? [{ kind: 'demote', nodes }] : []);
    },
  );
});

describe('a closed node', () => {
  const closed = aNode({ taints: [UNREGISTERED], createdAtMs: MINUTE });
  const looked = (claim: Partial<NodeClaim>, surroundings: Partial<ClaimSurroundings>) =>
    unregisteredClaim(
      aNodeClaim({ ...launched, ...claim }),
      around({ nowMs: MINUTE, ...surroundings }),
    );

  it('has not joined, or has', () => {
    expect(looked({}, {})).toEqual({
      claim: aNodeClaim(launched),
      node: undefined,
      taints: [],
      planned: [],
      bound: [],
    });
    const pods = [aPod()];
    expect(looked({ taints: [taint('team')] }, { nodes: [closed], pods })).toMatchObject({
      node: closed,
      taints: [taint('team')],
      bound: pods,
    });
  });

  it('cannot open while it is not ready', () => {
    const unready = aNode({ taints: [UNREGISTERED], createdAtMs: MINUTE, conditions: [] });
    expect(looked({ taints: [taint('team')] }, { nodes: [unready] })).toMatchObject({
      node: undefined,
      taints: [],
    });
  });

  it('has pods that were planned for it or are nominated to it', () => {
    const [awaiting, nominated] = [[aPod({ name: 'a' })], [aPod({ name: 'b' })]];
    expect(looked({}, { awaiting, nominated })?.planned).toEqual([...awaiting, ...nominated]);
    expect(looked({}, { awaiting })?.planned).toEqual(awaiting);
  });

  it.each<[string, Partial<NodeClaim>]>([
    ['deleted', { deletedAtMs: 1 }],
    ['registered', { conditions: yes('Launched', 'Registered') }],
  ])('is none of a claim that is %s', (_, claim) => {
    expect(looked(claim, {})).toBeUndefined();
    expect(looked(claim, { nodes: [closed] })).toBeUndefined();
  });

  it.each<[string, Partial<ClaimSurroundings>]>([
    [
      'that came without the taint',
      { nodes: [aNode({ taints: [taint('other')], createdAtMs: MINUTE })] },
    ],
    ['that is not the only one', { nodes: [closed, aNode({ name: 'b' })] }],
    ['that has joined half a minute ago', { nodes: [closed], nowMs: MINUTE + 30_000 }],
  ])('is none %s', (_, surroundings) => {
    expect(looked({}, surroundings)).toBeUndefined();
    expect(
      reasonUnregistered(aNodeClaim(launched), around({ nowMs: MINUTE, ...surroundings })),
    ).toBe(undefined);
  });

  it('stays so for half a minute after it has joined, whenever that was', () => {
    const surroundings = { nodes: [closed], nowMs: MINUTE + 29_999 };
    expect(looked({}, surroundings)).toBeDefined();
  });
});
