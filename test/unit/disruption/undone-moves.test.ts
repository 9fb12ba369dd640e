import { describe, expect, it } from 'vitest';
import {
  judged,
  type MovedWorkloads,
  movedWorkloads,
  movedWorkloadsText,
  notMovedNow,
  withMoved,
  workloadOf,
} from '../../../shared/core/disruption/undone-moves.ts';
import { REPLACES, UNDONE_MOVES } from '../../../shared/core/model/labels.ts';
import type { Pod } from '../../../shared/core/model/pod.ts';
import { claimOf, nodeOf, podOf } from '../../builders/scheduling.ts';

const MINUTE = 60_000;
const NONE: MovedWorkloads = new Map();

function webPod(name: string, rest: Partial<Pod> = {}): Pod {
  const controller = { kind: 'ReplicaSet', name: 'web-7d4f', uid: 'set-1', apiVersion: 'apps/v1' };
  return podOf(name, {}, { controller, ...rest });
}

/** One of two pods of `web` is moved at 0. */
const moved = withMoved(NONE, [webPod('a')], [webPod('a'), webPod('b')], 0);

/** A node that was launched at this minute, and its claim. */
function launched(minute: number, annotations: Record<string, string> = {}) {
  const claim = claimOf('new', {
    createdAtMs: minute * MINUTE,
    annotations,
    providerId: 'aws:///new',
  });
  return { nodes: [{ ...nodeOf('new', 4, 16), providerId: 'aws:///new' }], nodeClaims: [claim] };
}

/** In the place of the pod that was moved. */
const next = webPod('c', { createdAtMs: MINUTE, nodeName: 'new' });

describe('the workload of a pod', () => {
  it.each<readonly [string, Pod, string | undefined]>([
    ['a Deployment', webPod('a'), 'default/web'],
    [
      'a StatefulSet',
      podOf(
        'a',
        {},
        { controller: { kind: 'StatefulSet', name: 'db-1', uid: 'u', apiVersion: 'apps/v1' } },
      ),
      'default/db-1',
    ],
    ['nobody', podOf('a'), undefined],
  ])('of %s', (_, pod, name) => {
    expect(workloadOf(pod)).toBe(name);
  });
});

describe('a move', () => {
  it.each<readonly [string, ReturnType<typeof launched>, readonly Pod[], boolean]>([
    [
      'is undone by a node that was launched for a pod of it',
      launched(2),
      [next, webPod('b')],
      true,
    ],
    ['is not by one of another move', launched(2, { [REPLACES]: 'x' }), [next, webPod('b')], false],
    [
      'is by one that was launched for others of it first',
      launched(0.5),
      [next, webPod('b')],
      true,
    ],
    ['is not by one that was there before the move', launched(-0.5), [next, webPod('b')], false],
    [
      'is not by one for a pod that was there before the move',
      launched(2),
      [webPod('b', { createdAtMs: -1000, nodeName: 'new' })],
      false,
    ],
    ['is not by one for more pods', launched(2), [next, webPod('b'), webPod('d')], false],
    [
      'is not by one for pods of others',
      launched(2),
      [podOf('other', {}, { createdAtMs: MINUTE, nodeName: 'new' })],
      false,
    ],
  ])('%s', (_, { nodes, nodeClaims }, pods, isUndone) => {
    const found = judged(moved, { pods, nodes, nodeClaims }, 5 * MINUTE).get('default/web');
    expect(found?.count).toBe(isUndone ? 1 : 0);
  });

  it('that is undone keeps its pods where they are, ever longer', () => {
    const waits: number[] = [];
    let workloads = NONE;
    let nowMs = 0;
    for (let time = 0; time < 8; time += 1) {
      workloads = withMoved(workloads, [webPod('a')], [webPod('a')], nowMs);
      const pod = { ...next, createdAtMs: nowMs + 1 };
      const world = { ...launched(0), pods: [pod] };
      const nodeClaims = world.nodeClaims.map((claim) => ({ ...claim, createdAtMs: nowMs + 2 }));
      workloads = judged(workloads, { ...world, nodeClaims }, nowMs + 3);
      const waiting = notMovedNow(workloads, [webPod('b')], nowMs + 3);
      waits.push(((waiting?.untilMs ?? 0) - nowMs - 3) / MINUTE);
      nowMs = waiting?.untilMs ?? 0;
      expect(notMovedNow(workloads, [webPod('b')], nowMs)).toBeUndefined();
      expect(notMovedNow(workloads, [podOf('other')], nowMs - 1)).toBeUndefined();
    }
    expect(waits).toEqual([15, 30, 60, 120, 240, 480, 480, 480]);
  });

  it('that lasts is forgotten after 20 minutes, with those before it that did not', () => {
    const before = new Map([['default/web', { movedAtMs: 0, pods: 2, count: 3, untilMs: 0 }]]);
    const world = { pods: [webPod('b')], nodes: [], nodeClaims: [] };
    expect(judged(before, world, 19 * MINUTE)).toEqual(before);
    expect(judged(before, world, 20 * MINUTE).size).toBe(0);
  });

  it('that was undone is forgotten a day after its wait', () => {
    const before = new Map([
      ['default/web', { movedAtMs: undefined, pods: 0, count: 1, untilMs: 0 }],
    ]);
    const world = { pods: [], nodes: [], nodeClaims: [] };
    expect(judged(before, world, 24 * 60 * MINUTE - 1).size).toBe(1);
    expect(judged(before, world, 24 * 60 * MINUTE).size).toBe(0);
  });
});

describe('the annotation', () => {
  const workloads: MovedWorkloads = new Map([
    ['default/api', { movedAtMs: undefined, pods: 0, count: 2, untilMs: 90 * MINUTE }],
    ['default/web', { movedAtMs: MINUTE, pods: 4, count: 0, untilMs: 0 }],
  ]);

  it('says what is known, and is read as that', () => {
    const text = movedWorkloadsText(workloads);
    expect(text).toBe(
      '{"default/api":{"count":2,"until":"1970-01-01T01:30:00.000Z"},' +
        '"default/web":{"moved":"1970-01-01T00:01:00.000Z","pods":4}}',
    );
    expect(movedWorkloads({ [UNDONE_MOVES]: text ?? '' })).toEqual(workloads);
    expect(movedWorkloadsText(new Map())).toBeNull();
  });

  it.each(['', 'x', '[]', '{"default/web":1}', '{"default/web":{"moved":"soon"}}'])(
    '%j says nothing',
    (text) => {
      expect(movedWorkloads({ [UNDONE_MOVES]: text }).size).toBe(0);
    },
  );

  it('has room for the hundred that count longest', () => {
    const many = new Map(
      Array.from({ length: 150 }, (_, at) => [
        `default/web-${at}`,
        { movedAtMs: at, pods: 1, count: 0, untilMs: 0 },
      ]),
    );
    const kept = movedWorkloads({ [UNDONE_MOVES]: movedWorkloadsText(many) ?? '' });
    expect(kept.size).toBe(100);
    expect(kept.has('default/web-49')).toBe(false);
    expect(kept.has('default/web-50')).toBe(true);
  });
});
