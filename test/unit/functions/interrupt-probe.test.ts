import { describe, expect, it } from 'vitest';
import { answerProbe } from '../../../functions/interrupt/probe.ts';
import { PROBE } from '../../../shared/contract.ts';
import type { DecisionRecord } from '../../../shared/ports.ts';
import { ACCOUNT } from '../../../shared/sim/world.ts';
import { settings } from '../app/world.ts';

const MARK = '0123456789abcdef';

function body(change: object = {}): string {
  return JSON.stringify({
    source: PROBE.source,
    'detail-type': PROBE.detailType,
    account: ACCOUNT,
    region: 'us-east-1',
    time: '2026-01-01T00:00:00Z',
    detail: { cluster: 'demo', mark: MARK },
    ...change,
  });
}

async function answers(...bodies: readonly string[]): Promise<readonly string[]> {
  const records: DecisionRecord[] = [];
  const recorder = {
    decision: async (record: DecisionRecord) => void records.push(record),
    count: () => undefined,
  };
  const clock = { nowMs: () => 0, sleep: async () => undefined };
  const messages = bodies.map((each, at) => ({ id: `m-${at}`, body: each }));
  await answerProbe({ recorder, clock }, settings, messages);
  return records.map(({ id }) => id);
}

describe('a probe of the interruption queue', () => {
  it('is answered with a decision that has its mark, once a batch', async () => {
    expect(await answers('{', body(), body())).toEqual([`probe-${MARK}`]);
  });

  it.each<[string, object]>([
    ['another cluster', { detail: { cluster: 'other', mark: MARK } }],
    ['another account', { account: '999999999999' }],
    ['another region', { region: 'eu-west-1' }],
    ['another source', { source: 'joiner' }],
    ['a mark that is none', { detail: { cluster: 'demo', mark: '../secret' } }],
    ['no detail', { detail: null }],
  ])('is not answered: %s', async (_, change) => {
    expect(await answers(body(change))).toEqual([]);
  });
});
