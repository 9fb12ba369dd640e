import { expect, it } from 'vitest';
import { probeOf } from '../../../shared/core/interruption/probe.ts';

const MARK = '0123456789abcdef';
const EXPECTED = {
  accountId: '123456789012',
  region: 'us-east-1',
  source: 'joiner.probe',
  detailType: 'Joiner Probe',
  cluster: 'demo',
};

/** A probe as `joiner doctor` sends it, with changes. */
function probe(changes: object = {}, detail: unknown = { cluster: 'demo', mark: MARK }): string {
  return JSON.stringify({
    source: 'joiner.probe',
    'detail-type': 'Joiner Probe',
    account: '123456789012',
    region: 'us-east-1',
    detail,
    ...changes,
  });
}

it('a probe of this cluster gives its mark', () => {
  expect(probeOf(probe(), EXPECTED)).toBe(MARK);
});

it.each([
  ['of another source that names it', probe({ source: 'aws.ec2', resources: ['joiner.probe'] })],
  ['of another type', probe({ 'detail-type': 'Joiner Wake-up' })],
  ['of another account', probe({ account: '999999999999' })],
  ['of another region', probe({ region: 'eu-west-1' })],
  ['of another cluster', probe({}, { cluster: 'other', mark: MARK })],
  ['without a cluster', probe({}, { mark: MARK })],
  ['without a mark', probe({}, { cluster: 'demo' })],
  ['with a mark that is no text', probe({}, { cluster: 'demo', mark: 1234567890123456 })],
  ['with a longer mark', probe({}, { cluster: 'demo', mark: `${MARK}0` })],
  ['with a shorter mark', probe({}, { cluster: 'demo', mark: MARK.slice(1) })],
  ['with a mark of other characters', probe({}, { cluster: 'demo', mark: 'g123456789abcdef' })],
  ['with a mark in a list', probe({}, { cluster: 'demo', mark: [MARK] })],
  ['with no detail', probe({}, null)],
  ['with a text for a detail', probe({}, 'demo')],
  ['that is not JSON', `${probe()}}`],
  ['that is a text', '"joiner.probe"'],
  ['that is null', 'null'],
  ['that is empty', ''],
])('a message %s is none', (_, body) => {
  expect(probeOf(body, EXPECTED)).toBeUndefined();
});
