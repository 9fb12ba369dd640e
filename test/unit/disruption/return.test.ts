import { describe, expect, it } from 'vitest';
import { returnOf, returnsLater } from '../../../shared/core/disruption/return.ts';
import { isReason, sentence, sentences } from '../../../shared/core/explain/reason.ts';
import type { InstanceType } from '../../../shared/core/model/instance-type.ts';
import {
  CAPACITY_TYPE,
  INSTANCE_TYPE,
  NODE_POOL,
  RETURN_TO_FIRST_CHOICE,
} from '../../../shared/core/model/labels.ts';
import type { NodePool } from '../../../shared/core/model/provisioning.ts';
import { DEFAULT_SCHEDULING_SETTINGS } from '../../../shared/core/model/snapshot.ts';
import {
  claimOf,
  FAMILY,
  nodeOf,
  podOf,
  poolOf,
  snapshotOf,
  yes,
} from '../../builders/scheduling.ts';

const MINUTE = 60_000;

describe('a node is too young', () => {
  const pool = poolOf('general', { annotations: { [RETURN_TO_FIRST_CHOICE]: 'after=30m' } });
  const at = (minutes: number, own = pool) =>
    sentences(returnsLater(own, { createdAtMs: 0 }, minutes * MINUTE));

  it.each([
    [0, 'joiner.dev/return-to-first-choice of NodePool general keeps it for 30 more minutes'],
    [29.5, 'joiner.dev/return-to-first-choice of NodePool general keeps it for 1 more minutes'],
    [30, ''],
  ])('after %d minutes', (minutes, expected) => {
    expect(at(minutes)).toBe(expected);
  });

  it('for ever where the annotation cannot be read, never where there is none', () => {
    const wrong = poolOf('general', { annotations: { [RETURN_TO_FIRST_CHOICE]: 'soon' } });
    expect(at(600, wrong)).toContain('"soon" is invalid');
    expect(at(0, poolOf('general'))).toBe('');
  });
});

/** The types without offerings of the capacity type, or with none that is available. */
function without(capacityType: string, types: readonly InstanceType[] = FAMILY) {
  return types.map((type) => ({
    ...type,
    offerings: type.offerings.map((each) =>
      each.capacityType === capacityType ? { ...each, available: false } : each,
    ),
  }));
}

const second = poolOf('general', { weight: 10 });
const node = nodeOf('a', 2.2, 8);
const claim = claimOf('a', {
  providerId: node.providerId ?? '',
  labels: { [NODE_POOL]: 'general', [CAPACITY_TYPE]: 'on-demand', [INSTANCE_TYPE]: 'm.large' },
  conditions: yes('Launched', 'Registered', 'Initialized'),
});
const pod = podOf('web', { cpu: 1500 }, { nodeName: 'a', phase: 'Running', unschedulable: false });

function found(nodePools: readonly NodePool[], types: readonly InstanceType[] = FAMILY) {
  const nodes = [node];
  const snapshot = snapshotOf({ nodePools, nodes, nodeClaims: [claim], pods: [pod], types });
  const candidate = { claim, node, pods: [pod], pool: second };
  return returnOf(snapshot, candidate, DEFAULT_SCHEDULING_SETTINGS);
}

function returned(nodePools: readonly NodePool[], types?: readonly InstanceType[]) {
  const result = found(nodePools, types);
  if (isReason(result)) throw new Error(sentence(result));
  return result.replacements;
}

function refused(nodePools: readonly NodePool[], types?: readonly InstanceType[]): string {
  const result = found(nodePools, types);
  return isReason(result) ? sentence(result) : 'it returns';
}

describe('a node on demand', () => {
  it('returns to spot, and its replacement may be nothing else', () => {
    const [only, ...more] = returned([second]);
    expect(more).toEqual([]);
    expect(only?.chosen.capacityType).toBe('spot');
    const allowed = only?.requirements.find(({ key }) => key === CAPACITY_TYPE);
    expect(allowed).toMatchObject({ operator: 'In', values: ['spot'] });
  });

  it('returns to spot as the types that have it, where others have none', () => {
    const [small, ...larger] = FAMILY;
    if (small === undefined) throw new Error('the family has sizes');
    const [only] = returned([second], [small, ...without('spot', larger)]);
    expect(only?.chosen).toMatchObject({ type: 'm.large', capacityType: 'spot' });
    expect(only?.instanceTypes).toEqual(['m.large']);
  });

  it('stays where its pods have room on other nodes', () => {
    const host = nodeOf('b', 8, 32);
    const hosting = claimOf('b', {
      providerId: host.providerId ?? '',
      conditions: yes('Launched', 'Registered', 'Initialized'),
    });
    const nodes = [node, host];
    const nodeClaims = [claim, hosting];
    const snapshot = snapshotOf({ nodePools: [second], nodes, nodeClaims, pods: [pod] });
    const candidate = { claim, node, pods: [pod], pool: second };
    const result = returnOf(snapshot, candidate, DEFAULT_SCHEDULING_SETTINGS);
    expect(isReason(result) ? sentence(result) : 'it returns').toBe(
      'Its pods have room on other nodes, so it needs no replacement',
    );
  });

  it('returns to a NodePool of a greater weight, whatever may be launched there', () => {
    const first = poolOf('first', { weight: 50 });
    const [only] = returned([first, second], without('spot'));
    expect(only).toMatchObject({ nodePool: 'first', chosen: { capacityType: 'on-demand' } });
  });

  it.each<[string, readonly NodePool[], readonly InstanceType[], string]>([
    ['spot cannot be had', [second], without('spot'), 'reserved or spot'],
    [
      'its pods do not fit the other NodePool',
      [poolOf('first', { weight: 50, limits: { cpu: 1000 } }), second],
      without('spot'),
      'NodePool first or reserved or spot',
    ],
    [
      'its pods do not tolerate the other NodePool',
      [
        poolOf('first', {
          weight: 50,
          taints: [{ key: 'own', value: '', effect: 'NoSchedule' }],
        }),
        second,
      ],
      without('spot'),
      'NodePool first or reserved or spot',
    ],
  ])('stays where %s', (_, pools, types, wanted) => {
    expect(refused(pools, types)).toBe(`Its pods get no node of ${wanted} now`);
  });

  it('stays where its pods would find no place at all', () => {
    const none = without('spot', without('on-demand'));
    const first = poolOf('first', { weight: 50, limits: { cpu: 0 } });
    expect(refused([first, { ...second, limits: { cpu: 0 } }])).toContain('would stay pending');
    expect(refused([second], none)).toContain('Its pods get no node of');
  });
});
