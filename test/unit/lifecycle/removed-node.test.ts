import { expect, it } from 'vitest';
import { isNodeRemoved } from '../../../shared/core/lifecycle/removed-node.ts';
import { yes } from '../../builders/scheduling.ts';
import { aNode, aNodeClaim } from '../launch/builders.ts';

const MINUTE = 60_000;
const providerId = 'aws:///us-east-1a/i-0123456789abcdef0';
const claim = aNodeClaim({
  providerId,
  nodeName: 'ip-10-0-0-1',
  conditions: yes('Launched', 'Registered').map((each) => ({
    ...each,
    lastTransitionAtMs: 5 * MINUTE,
  })),
});
const own = aNode({ name: 'ip-10-0-0-1', providerId });
const opened = { 'karpenter.sh/registered': 'true' };
const back = { ...own, labels: {}, createdAtMs: 5 * MINUTE + 1 };
const other = aNode({ name: 'ip-10-0-0-2', providerId: 'aws:///us-east-1a/i-1' });

it.each([
  ['among others', claim, [other], 6 * MINUTE + 1, true],
  ['alone', claim, [], 9 * MINUTE, true],
  ['and the read may be older than the Node', claim, [], 6 * MINUTE, false],
  ['and the claim does not say its name', { ...claim, nodeName: undefined }, [], 9 * MINUTE, false],
  ['and it has not registered', { ...claim, conditions: yes('Launched') }, [], 9 * MINUTE, false],
  ['but it is there', claim, [own, other], 9 * MINUTE, false],
  ['but one of the instance is there', claim, [{ ...own, name: 'new' }], 9 * MINUTE, false],
  ['and came back closed', claim, [back], 9 * MINUTE, true],
  ['and came back beside another', claim, [back, other], 6 * MINUTE + 1, true],
  ['and the read may be older than its opening', claim, [back], 6 * MINUTE, false],
  ['but came back and was opened', claim, [{ ...back, labels: opened }], 9 * MINUTE, false],
  ['but one of the name is there', claim, [{ ...other, name: own.name }], 9 * MINUTE, false],
])('a Node that is missing %s', (_, each, nodes, nowMs, isRemoved) => {
  expect(isNodeRemoved(each, nodes, nowMs)).toBe(isRemoved);
});
