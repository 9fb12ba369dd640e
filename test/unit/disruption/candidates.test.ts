import { describe, expect, it } from 'vitest';
import {
  blockersOf,
  inTurn,
  isEmpty,
  unevictableBy,
} from '../../../shared/core/disruption/candidates.ts';
import {
  commandsOf,
  drainingOf,
  forgottenNodes,
} from '../../../shared/core/disruption/commands.ts';
import { type Reason, reason, sentences } from '../../../shared/core/explain/reason.ts';
import { replacedByText } from '../../../shared/core/model/annotations/replacements.ts';
import type { PodDisruptionBudget } from '../../../shared/core/model/cluster.ts';
import type { Pod } from '../../../shared/core/model/pod.ts';
import type { NodeClaim } from '../../../shared/core/model/provisioning.ts';
import { budgetOf, claimOf, nodeOf, podOf, yes } from '../../builders/scheduling.ts';

const MINUTE = 60_000;
const HOLD = 'karpenter.sh/do-not-disrupt';

const on = (rest: Partial<Pod>, spec: Partial<Pod['spec']> = {}): Pod =>
  podOf('a', spec, { nodeName: 'old', ...rest });

function blocked(
  pods: readonly Pod[],
  budgets: readonly PodDisruptionBudget[] = [],
  rest: {
    readonly claim?: Partial<NodeClaim>;
    readonly node?: Parameters<typeof nodeOf>[3];
  } = {},
): boolean {
  const claim = claimOf('old', rest.claim);
  const node = nodeOf('old', 4, 16, rest.node);
  return blockersOf({ claim, node, pods }, budgets, 10 * MINUTE, 'eventual').length > 0;
}

const annotated = (key: string, value: string) => ({ annotations: { [key]: value } });
const until = (ms: number) => annotated('joiner.dev/nominated-until', new Date(ms).toISOString());
const tolerant = [
  { key: '', operator: 'Exists', value: '', effect: undefined },
] as Pod['spec']['tolerations'];
const ALWAYS = { unhealthyPodEvictionPolicy: 'AlwaysAllow' } as const;

type Row = [string, boolean, ...Parameters<typeof blocked>];

const ROWS: readonly Row[] = [
  ['by nothing', false, [on({})]],
  ['by its own annotation', true, [], [], { node: annotated(HOLD, 'true') }],
  ['not by a duration on the node', false, [], [], { node: annotated(HOLD, '1h') }],
  ['by a nomination of the node', true, [], [], { node: until(11 * MINUTE) }],
  ['by a nomination of the claim', true, [], [], { claim: until(11 * MINUTE) }],
  ['not by a past nomination', false, [], [], { node: until(9 * MINUTE) }],
  ['not by a nomination that ends now', false, [], [], { node: until(10 * MINUTE) }],
  ['by a pod that may not be disrupted', true, [on(annotated(HOLD, 'true'))]],
  ['by one that may not be yet', true, [on({ ...annotated(HOLD, '11m'), startedAtMs: 0 })]],
  ['not by one that may be again', false, [on({ ...annotated(HOLD, '9m'), startedAtMs: 0 })]],
  ['by one whose time has not begun, as it has not started', true, [on(annotated(HOLD, '9m'))]],
  ['not by a nonsense annotation', false, [on(annotated(HOLD, 'please'))]],
  ['not by one that is over', false, [on({ ...annotated(HOLD, 'true'), phase: 'Succeeded' })]],
  [
    'not by one that is told to go, and is stuck',
    false,
    [on({ ...annotated(HOLD, 'true'), deletedAtMs: 1 })],
  ],
  ['not by one that has failed', false, [on({ ...annotated(HOLD, 'true'), phase: 'Failed' })]],
  ['by a budget that lets nobody go', true, [on({})], [budgetOf()]],
  ['not for a pod that is going', false, [on({ deletedAtMs: 10 * MINUTE })], [budgetOf()]],
  ['not by one that lets some go', false, [on({})], [budgetOf({ disruptionsAllowed: 1 })]],
  ['not by one of another namespace', false, [on({})], [budgetOf({ namespace: 'b' })]],
  ['not by one of other pods', false, [on({ labels: { app: 'db' } })], [budgetOf()]],
  ['by one that keeps unhealthy pods', true, [on({ ready: false })], [budgetOf()]],
  ['not by one that lets unhealthy pods go', false, [on({ ready: false })], [budgetOf(ALWAYS)]],
  ['by one that lets only unhealthy pods go', true, [on({})], [budgetOf(ALWAYS)]],
  ['not for a pod that is never evicted', false, [on({}, { tolerations: tolerant })], [budgetOf()]],
  [
    'by two budgets of one pod',
    true,
    [on({})],
    [budgetOf({ disruptionsAllowed: 1 }), budgetOf({ name: 'b', disruptionsAllowed: 1 })],
  ],
  [
    'by two budgets of an unhealthy pod, though each lets such pods go',
    true,
    [on({ ready: false })],
    [budgetOf(ALWAYS), budgetOf({ ...ALWAYS, name: 'b' })],
  ],
  [
    'not by pods where the drain ends in time',
    false,
    [on(annotated(HOLD, 'true'))],
    [budgetOf()],
    { claim: { terminationGracePeriodMs: MINUTE } },
  ],
];

describe('a drifted node is held', () => {
  it.each(ROWS)('%s: %s', (_, expected, ...of) => {
    expect(blocked(...of)).toBe(expected);
  });

  it('for reasons that name the node, then its pods in order', () => {
    const named = (name: string, rest: Partial<Pod> = {}) => ({ ...on(rest), name });
    const pods = [named('b', annotated(HOLD, 'true')), named('c'), named('a')];
    const node = nodeOf('old', 4, 16, {
      annotations: { ...until(11 * MINUTE).annotations, [HOLD]: 'true' },
    });
    const candidate = { claim: claimOf('old'), node, pods };
    const of = (...budgets: readonly PodDisruptionBudget[]) =>
      blockersOf(candidate, budgets, 10 * MINUTE, 'graceful');
    const itself: readonly Reason[] = [
      reason('node-protected', { node: 'old', annotation: HOLD }),
      reason('node-nominated', {}),
      reason('pod-protected', { pod: 'default/b', annotation: HOLD }),
    ];
    const keys = ['default/a', 'default/b', 'default/c'];
    expect(of(budgetOf())).toEqual([
      ...itself,
      ...keys.map((pod) => reason('eviction-not-allowed', { budget: 'default/web', pod })),
    ]);
    expect(of(budgetOf(), budgetOf({ name: 'b' }))).toEqual([
      ...itself,
      ...keys.map((pod) => reason('pod-with-several-budgets', { pod })),
    ]);
  });

  it('is empty with static pods and those of DaemonSets only', () => {
    const controller = { kind: 'DaemonSet', name: 'agent', uid: 'u' };
    const candidate = { claim: claimOf('old'), node: nodeOf('old', 4, 16) };
    const ofNode = { kind: 'Node', name: 'old', uid: 'o' };
    const pods = [on({ controller }), on({ isMirror: true }), on({ controller: ofNode })];
    expect(isEmpty({ ...candidate, pods })).toBe(true);
    expect(isEmpty({ ...candidate, pods: [on({})] })).toBe(false);
  });
});

describe('candidates', () => {
  const named = (name: string, pods = [on({})]) => ({
    claim: claimOf(name),
    node: nodeOf(name, 4, 16),
    pods,
  });
  const names = (all: readonly { readonly claim: NodeClaim }[]): string =>
    all.map(({ claim }) => claim.name).join(' ');

  it('all get their turn where there are more than a pass plans for', () => {
    const all = [named('empty', []), ...['a', 'b', 'c', 'd', 'e'].map((name) => named(name))];
    expect(names(inTurn(all, 5, 3 * MINUTE))).toBe('empty a b c d e');
    const turns = [0, 1, 2].map((minute) => names(inTurn(all, 2, minute * MINUTE)));
    expect(turns).toEqual(['empty a b c d e', 'empty c d e a b', 'empty e a b c d']);
  });

  it.each([2, 3])('stay in their order where one pass plans for all of them: %i', (plansMax) => {
    const all = [named('a'), named('b'), named('empty', [])];
    expect(names(inTurn(all, plansMax, MINUTE))).toBe('a b empty');
  });
});

const replacement = (name: string, rest: Partial<NodeClaim> = {}): NodeClaim =>
  claimOf(name, { annotations: { 'joiner.dev/replaces': 'uid-old' }, ...rest });
const replaced = (...names: readonly string[]): NodeClaim =>
  claimOf('old', {
    providerId: 'aws:///zone-a/old',
    annotations: { 'joiner.dev/replaced-by': replacedByText(names) },
  });

function progress(claims: readonly NodeClaim[], nowMs = MINUTE) {
  return commandsOf(claims, [nodeOf('old', 4, 16)], nowMs).map((each) => each.progress);
}

const launched = { conditions: yes('Launched') };
const initialized = { conditions: yes('Launched', 'Registered', 'Initialized') };

describe('a replacement', () => {
  it('has failed where a run was cut short before all were written', () => {
    expect(progress([replaced('a', 'b'), replacement('a', initialized)])).toMatchObject([
      { kind: 'failed', broken: undefined },
    ]);
  });

  it('waits until all are initialised', () => {
    const old = replaced('b', 'a');
    expect(progress([old, replacement('a', initialized), replacement('b')])).toEqual([
      { kind: 'waiting' },
    ]);
    expect(
      progress([old, replacement('a', initialized), replacement('b', initialized)], 99 * MINUTE),
    ).toEqual([{ kind: 'ready' }]);
  });

  it.each<[string, readonly NodeClaim[], number, boolean]>([
    ['is gone', [], MINUTE, false],
    ['is on its way out', [replacement('new', { deletedAtMs: 1 })], MINUTE, false],
    ['was never launched', [replacement('new')], 10 * MINUTE, false],
    ['did not join', [replacement('new', launched)], 10 * MINUTE, true],
  ])('has failed when it %s', (_, claims, nowMs, isBroken) => {
    const broken = isBroken ? { name: 'new' } : undefined;
    expect(progress([replaced('new'), ...claims], nowMs)).toMatchObject([
      { kind: 'failed', broken },
    ]);
  });

  it('is nobody any more where the old claim is gone', () => {
    expect(progress([replacement('new')])).toEqual([]);
    expect(progress([{ ...replaced('new'), deletedAtMs: 1 }, replacement('new')])).toEqual([]);
  });

  it('is waited for by the pods of a node that is drained', () => {
    const old = { ...replaced('new'), deletedAtMs: 1 };
    const named = (claims: readonly NodeClaim[]) =>
      drainingOf(claims, [nodeOf('old', 4, 16)]).map(({ claim, node, replacements }) => [
        claim.name,
        node?.name,
        ...replacements.map(({ name }) => name),
      ]);
    expect(named([old, replacement('new', initialized)])).toEqual([['old', 'old', 'new']]);
    expect(named([replaced('new'), replacement('new', initialized)])).toEqual([]);
    expect(named([old])).toEqual([['old', 'old']]);
    expect(named([replaced('new')])).toEqual([]);
  });

  it('is given up where the claim names a reason that is not known', () => {
    const old = replaced('new');
    const annotations = { ...old.annotations, 'joiner.dev/replaced-for': 'Whim' };
    expect(progress([{ ...old, annotations }, replacement('new', initialized)])).toMatchObject([
      {
        kind: 'failed',
        why: { code: 'replacement-reason-unknown', parameters: { value: 'Whim' } },
      },
    ]);
  });

  it('forgotten taints are those without a command or a deletion', () => {
    const taints = [{ key: 'karpenter.sh/disrupted', value: '', effect: 'NoSchedule' }] as const;
    const node = nodeOf('old', 4, 16, { taints });
    const forgotten = (claims: readonly NodeClaim[]) =>
      forgottenNodes(claims, [node], commandsOf(claims, [node], MINUTE)).map(
        ({ claim }) => claim.name,
      );
    const old = claimOf('old', { providerId: 'aws:///zone-a/old' });
    expect(forgotten([old])).toEqual(['old']);
    expect(forgotten([{ ...old, deletedAtMs: 1 }])).toEqual([]);
    expect(forgotten([old, replacement('new')])).toEqual([]);
    expect(forgotten([])).toEqual([]);
  });
});

describe('a node is not consolidated', () => {
  const daemon = { kind: 'DaemonSet', name: 'd', uid: 'd' };
  it.each<[string, readonly Pod[], string]>([
    ['for a pod that moves', [on({})], ''],
    ['for a DaemonSet', [on({ controller: daemon }, { tolerations: tolerant })], ''],
    ['for a pod that is over', [on({ phase: 'Succeeded' }, { tolerations: tolerant })], ''],
    [
      'with a pod that is never evicted',
      [on({}, { tolerations: tolerant }), on({})],
      'Pod default/a tolerates the taint karpenter.sh/disrupted and is not evicted',
    ],
  ])('%s', (_, pods, expected) => {
    expect(sentences(unevictableBy({ pods }))).toBe(expected);
  });

  it('with several of them, in order', () => {
    const pods = ['b', 'c', 'a'].map((name) => ({ ...on({}, { tolerations: tolerant }), name }));
    const found = unevictableBy({ pods }).map(({ parameters }) => parameters);
    const keys = ['default/a', 'default/b', 'default/c'];
    expect(found).toEqual(keys.map((pod) => ({ pod, taint: 'karpenter.sh/disrupted' })));
  });
});
