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
  replacedByText,
} from '../../../shared/core/disruption/commands.ts';
import { sentences } from '../../../shared/core/explain/reason.ts';
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

describe('a drifted node is held', () => {
  it.each<[string, boolean, boolean]>([
    ['by nothing', false, blocked([on({})])],
    ['by its own annotation', true, blocked([], [], { node: annotated(HOLD, 'true') })],
    ['not by a duration on the node', false, blocked([], [], { node: annotated(HOLD, '1h') })],
    ['by a nomination of the node', true, blocked([], [], { node: until(11 * MINUTE) })],
    ['by a nomination of the claim', true, blocked([], [], { claim: until(11 * MINUTE) })],
    ['not by a past nomination', false, blocked([], [], { node: until(9 * MINUTE) })],
    ['by a pod that may not be disrupted', true, blocked([on(annotated(HOLD, 'true'))])],
    ['by one that may not be yet', true, blocked([on({ ...annotated(HOLD, '11m') })])],
    ['not by one that may be again', false, blocked([on({ ...annotated(HOLD, '9m') })])],
    ['not by a nonsense annotation', false, blocked([on(annotated(HOLD, 'please'))])],
    [
      'not by one that is over',
      false,
      blocked([on({ ...annotated(HOLD, 'true'), phase: 'Succeeded' })]),
    ],
    ['by a budget that lets nobody go', true, blocked([on({})], [budgetOf()])],
    [
      'not by one that lets some go',
      false,
      blocked([on({})], [budgetOf({ disruptionsAllowed: 1 })]),
    ],
    ['not by one of another namespace', false, blocked([on({})], [budgetOf({ namespace: 'b' })])],
    [
      'not by one that lets unhealthy pods go',
      false,
      blocked([on({ ready: false })], [budgetOf({ unhealthyPodEvictionPolicy: 'AlwaysAllow' })]),
    ],
    [
      'not for a pod that is never evicted',
      false,
      blocked([on({}, { tolerations: tolerant })], [budgetOf()]),
    ],
    [
      'by two budgets of one pod',
      true,
      blocked(
        [on({})],
        [budgetOf({ disruptionsAllowed: 1 }), budgetOf({ name: 'b', disruptionsAllowed: 1 })],
      ),
    ],
    [
      'not by pods where the drain ends in time',
      false,
      blocked([on(annotated(HOLD, 'true'))], [budgetOf()], {
        claim: { terminationGracePeriodMs: MINUTE },
      }),
    ],
  ])('%s: %s', (_, expected, actual) => {
    expect(actual).toBe(expected);
  });

  it('is empty with pods of DaemonSets only', () => {
    const controller = { kind: 'DaemonSet', name: 'agent', uid: 'u' };
    const candidate = { claim: claimOf('old'), node: nodeOf('old', 4, 16) };
    expect(isEmpty({ ...candidate, pods: [on({ controller }), on({ isMirror: true })] })).toBe(
      true,
    );
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
});
