import { describe, expect, it } from 'vitest';
import { endingsLeft } from '../../../../shared/app/disrupt/emptiness.ts';
import type { Condition } from '../../../../shared/core/model/cluster.ts';
import { INTERRUPTED } from '../../../../shared/core/model/labels.ts';
import type { NodeClaim } from '../../../../shared/core/model/provisioning.ts';
import { claimOf } from '../../../builders/scheduling.ts';
import { settings, waitingWorld } from '../world.ts';

const NOW = Date.parse('2026-01-01T12:00:00Z');

const deleted = (secondsAgo: number, more: Partial<NodeClaim> = {}): Partial<NodeClaim> => ({
  deletedAtMs: NOW - secondsAgo * 1000,
  ...more,
});

function drained(status: Condition['status']): Pick<NodeClaim, 'conditions'> {
  const [reason, lastTransitionAtMs] = ['Drained', NOW - 3_600_000];
  return { conditions: [{ type: 'Drained', status, reason, message: '', lastTransitionAtMs }] };
}

const interrupted = { annotations: { [INTERRUPTED]: 'spot_interrupted' } };

const nodeClassRef = { group: 'example.com', kind: 'OtherNodeClass', name: 'default' };

describe('empty nodes that may go beside what terminates already, of three a minute', () => {
  it.each<[string, readonly Partial<NodeClaim>[], number]>([
    ['all where nothing is being deleted', [{}], 3],
    ['one less for a claim that was just deleted', [deleted(0), {}], 2],
    ['one less for a claim that was deleted within the minute', [deleted(59.999)], 2],
    ['none less for one that drains for longer', [deleted(60), deleted(3600)], 3],
    ['one less for one whose drain is over', [deleted(3600, drained('True'))], 2],
    ['none less while its drain is not over', [deleted(3600, drained('False'))], 3],
    ['none less for one that EC2 takes', [deleted(0, interrupted), deleted(9, interrupted)], 3],
    ['none less for what Joiner did not launch', [deleted(0, { nodeClassRef })], 3],
    ['none where more terminate than a minute ends', [1, 2, 3, 4].map((ago) => deleted(ago)), 0],
  ])('%s', async (_, claims, left) => {
    const { ports } = await waitingWorld([]);
    const state = await ports.cluster.read();
    const nodeClaims = claims.map((each, at) => claimOf(`c${at}`, each));
    const pass = {
      state: { ...state, objects: { ...state.objects, nodeClaims } },
      settings: { ...settings, terminationsPerMinuteMax: 3 },
      nowMs: NOW,
    };
    expect(endingsLeft(pass)).toBe(left);
  });
});
