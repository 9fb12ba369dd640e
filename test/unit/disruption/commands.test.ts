import { describe, expect, it } from 'vitest';
import {
  commandsOf,
  drainingOf,
  forgottenNodes,
  isLate,
  lateness,
  type Progress,
  patienceMs,
} from '../../../shared/core/disruption/commands.ts';
import { reason, sentence } from '../../../shared/core/explain/reason.ts';
import type { Condition, Node } from '../../../shared/core/model/cluster.ts';
import type { NodeClaim } from '../../../shared/core/model/provisioning.ts';
import { claimOf, nodeOf, yes } from '../../builders/scheduling.ts';

const MINUTE = 60_000;
const REPLACES = 'joiner.dev/replaces';
const REPLACED_BY = 'joiner.dev/replaced-by';
const REPLACED_FOR = 'joiner.dev/replaced-for';

function claim(name: string, rest: Partial<NodeClaim> = {}): NodeClaim {
  return claimOf(name, { uid: `uid-${name}`, providerId: `p-${name}`, ...rest });
}

const node = (name: string, rest: Partial<Node> = {}): Node =>
  nodeOf(name, 2, 8, { providerId: `p-${name}`, ...rest });

const old = (name: string, annotations: Readonly<Record<string, string>> = {}) =>
  claim(name, { annotations: { [REPLACED_BY]: 'new', ...annotations } });
const replacement = (name: string, of: string, rest: Partial<NodeClaim> = {}) =>
  claim(name, { annotations: { [REPLACES]: of }, ...rest });

/** Conditions that are true since then. */
const since = (atMs: number, ...types: readonly string[]): readonly Condition[] =>
  yes(...types).map((each) => ({ ...each, lastTransitionAtMs: atMs }));

describe('a replacement is late', () => {
  const late = (rest: Partial<NodeClaim>, atMs: number) =>
    isLate(claim('a', { createdAtMs: 5 * MINUTE, ...rest }), 10 * MINUTE, atMs);
  const pending = since(9 * MINUTE, 'Launched').map((each) => ({
    ...each,
    status: 'Unknown' as const,
  }));

  it.each<[string, Partial<NodeClaim>, number]>([
    ['from its making, while it is not launched', {}, 14.5],
    ['from its launch', { conditions: since(7 * MINUTE, 'Launched') }, 16.5],
    ['from its making where its launch failed', { conditions: pending }, 14.5],
  ])('%s: half a minute before its time is up', (_, rest, minutes) => {
    expect(late(rest, minutes * MINUTE - 1)).toBe(false);
    expect(late(rest, minutes * MINUTE)).toBe(true);
  });

  it('never once it is initialised', () => {
    expect(late({ conditions: yes('Launched', 'Initialized') }, 1e12)).toBe(false);
  });

  it.each<[string, readonly Condition[], string]>([
    ['nothing', [], ''],
    ['why it is not registered', [saying('Registered', 'NoNode')], ': NoNode'],
    [
      'why it is not initialised',
      [...yes('Registered'), saying('Initialized', 'NoGpu')],
      ': NoGpu',
    ],
    ['not why it was not registered', [...yes('Registered'), saying('Ready', 'x')], ''],
  ])('says %s', (_, conditions, why) => {
    const late = reason('replacement-late', lateness(claim('a', { conditions }), 9.6 * MINUTE));
    expect(sentence(late)).toBe(
      `Its replacement: NodeClaim a was not ready after 10 minutes${why}`,
    );
  });

  function saying(type: string, message: string): Condition {
    return { type, status: 'Unknown', reason: '', message, lastTransitionAtMs: 0 };
  }
});

describe('how long replacements are waited for', () => {
  it.each([
    [0, 10],
    [1, 10],
    [7500, 10],
    [7501, 10.001_333_333],
    [45_001, 60],
  ])('%i nodes: %d minutes', (count, minutes) => {
    const claims = Array.from({ length: count }, (_, at) =>
      claim(`c${at}`, { annotations: { [REPLACED_BY]: 'x' } }),
    );
    expect(patienceMs(claims) / MINUTE).toBeCloseTo(minutes, 6);
  });
});

describe('replacements under way', () => {
  const progress = (claims: readonly NodeClaim[], nowMs = 0): Progress | undefined =>
    commandsOf(claims, [], nowMs)[0]?.progress;
  const ready = { conditions: yes('Launched', 'Registered', 'Initialized') };

  it('are found from either side, by name', () => {
    const claims = [
      old('z'),
      claim('b'),
      replacement('new', 'uid-b,uid-a'),
      claim('a'),
      claim('other'),
    ];
    const found = commandsOf(claims, [node('a'), node('other')], 0);
    expect(found.map((each) => [each.claim.name, each.node?.name])).toEqual([
      ['a', 'a'],
      ['b', undefined],
      ['z', undefined],
    ]);
    expect(found.map(({ replacements }) => replacements.map(({ name }) => name))).toEqual([
      ['new'],
      ['new'],
      [],
    ]);
  });

  it('are none of claims on their way out', () => {
    expect(commandsOf([{ ...old('a'), deletedAtMs: 1 }], [], 0)).toEqual([]);
    const gone = replacement('new', 'uid-a', { deletedAtMs: 1 });
    expect(commandsOf([claim('a'), gone], [], 0)).toEqual([]);
  });

  it('have no node where the claim has none', () => {
    const bare = { ...old('a'), providerId: undefined };
    expect(commandsOf([bare], [node('x', { providerId: undefined })], 0)[0]?.node).toBeUndefined();
  });

  it.each([
    [undefined, 'Drifted'],
    ['Drifted', 'Drifted'],
    ['Underutilized', 'Underutilized'],
  ])('for the reason %s: %s', (text, reason) => {
    const annotations: Record<string, string> = text === undefined ? {} : { [REPLACED_FOR]: text };
    expect(commandsOf([old('a', annotations)], [], 0)[0]).toMatchObject({ reason });
  });

  it('fail for a reason that nobody knows', () => {
    const claims = [old('a', { [REPLACED_FOR]: 'Whim' }), replacement('new', 'uid-a', ready)];
    expect(commandsOf(claims, [], 0)).toMatchObject([
      {
        reason: undefined,
        progress: {
          kind: 'failed',
          why: { code: 'replacement-reason-unknown', parameters: { value: 'Whim' } },
          broken: undefined,
          late: new Set(),
        },
      },
    ]);
  });

  it('are ready once each replacement is', () => {
    const two = { [REPLACED_BY]: 'new,newer' };
    const one = replacement('new', 'uid-a', ready);
    expect(progress([old('a'), one])).toEqual({ kind: 'ready' });
    expect(progress([old('a', two), one, replacement('newer', 'uid-a')])).toEqual({
      kind: 'waiting',
    });
    expect(progress([old('a', two), one, replacement('newer', 'uid-a', ready)])).toEqual({
      kind: 'ready',
    });
    // What only the replacement says is as good.
    expect(progress([claim('a'), one])).toEqual({ kind: 'ready' });
  });

  it('fail where a replacement is gone', () => {
    expect(
      progress([old('a', { [REPLACED_BY]: 'new,newer' }), replacement('newer', 'uid-a')]),
    ).toEqual({
      kind: 'failed',
      why: reason('replacement-gone', { nodeClaim: 'new' }),
      broken: undefined,
      late: new Set(),
    });
  });

  it('fail where one is late, and name the one that has an instance', () => {
    const two = old('a', { [REPLACED_BY]: 'first,second' });
    const first = replacement('first', 'uid-a');
    const second = replacement('second', 'uid-a', { conditions: since(0, 'Launched') });
    expect(progress([two, first, second], 9.5 * MINUTE - 1)).toEqual({ kind: 'waiting' });
    expect(progress([two, first, second], 9.5 * MINUTE)).toEqual({
      kind: 'failed',
      why: reason('replacement-late', { nodeClaim: 'second', minutes: 10, said: '' }),
      broken: second,
      late: new Set(['first', 'second']),
    });
    const alone = progress([old('a', { [REPLACED_BY]: 'first' }), first], 9.5 * MINUTE);
    expect(alone).toMatchObject({
      why: reason('replacement-late', { nodeClaim: 'first', minutes: 10, said: '' }),
      broken: undefined,
    });
  });
});

describe('nodes that are drained', () => {
  it('are those of deleted claims, by name, with what replaces them', () => {
    const claims = [
      claim('z', { deletedAtMs: 1 }),
      claim('b', { deletedAtMs: 1, providerId: undefined }),
      claim('a', { deletedAtMs: 1 }),
      claim('stays'),
      replacement('new', 'uid-a'),
      replacement('gone', 'uid-a', { deletedAtMs: 1 }),
    ];
    const nodes = [node('a'), node('stays'), node('x', { providerId: undefined })];
    const found = drainingOf(claims, nodes).map((each) => [
      each.claim.name,
      each.node?.name,
      each.replacements.map(({ name }) => name).join(),
    ]);
    expect(found).toEqual([
      ['a', 'a', 'new'],
      ['b', undefined, ''],
      ['gone', undefined, ''],
      ['z', undefined, ''],
    ]);
  });
});

describe('nodes that a run has left', () => {
  const taints = [{ key: 'karpenter.sh/disrupted', value: '', effect: 'NoSchedule' }] as const;
  const reason = { conditions: yes('DisruptionReason') };
  const forgotten = (
    claims: readonly NodeClaim[],
    nodes: readonly Node[],
    commands = commandsOf(claims, nodes, 0),
  ) => forgottenNodes(claims, nodes, commands).map((each) => each.node.name);

  it.each<[string, Partial<NodeClaim>, Partial<Node>, readonly string[]]>([
    ['tainted', {}, { taints }, ['a']],
    ['said to be disrupted', reason, {}, ['a']],
    ['neither', {}, {}, []],
    ['tainted, of a deleted claim', { deletedAtMs: 1 }, { taints }, []],
    ['tainted, and deleted itself', {}, { taints, deletedAtMs: 1 }, []],
    ['tainted, of no claim', { providerId: 'other' }, { taints }, []],
    ['tainted, being replaced', { annotations: { [REPLACED_BY]: 'x' } }, { taints }, []],
    [
      'tainted, without an instance',
      { providerId: undefined },
      { taints, providerId: undefined },
      [],
    ],
  ])('%s', (_, rest, more, expected) => {
    expect(forgotten([claim('a', rest)], [node('a', more)])).toEqual(expected);
  });

  it('are in the order of their claims', () => {
    const names = ['b', 'c', 'a'];
    const claims = names.map((name) => claim(name));
    const nodes = names.map((name) => node(name, { taints }));
    expect(forgotten(claims, nodes)).toEqual(['a', 'b', 'c']);
  });
});
