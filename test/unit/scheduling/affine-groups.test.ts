import { describe, expect, it } from 'vitest';
import { HOSTNAME } from '../../../shared/core/model/labels.ts';
import { ofApp, termOver } from '../../builders/affinity.ts';
import { GI, planOf, podsOf, typeOf } from '../../builders/scheduling.ts';

const TYPES = [typeOf('m.8xlarge', 32, 128, 1), typeOf('m.16xlarge', 64, 256, 2)];

/** One pod of each of these cores, all on one node. */
const together = (app: string, cores: readonly number[]) =>
  cores.flatMap((cpu, at) =>
    podsOf(
      1,
      `${app}-${at}`,
      { cpu: cpu * 1000, memory: GI, podAffinity: [termOver(HOSTNAME, ofApp(app))] },
      { labels: { app } },
    ),
  );

describe('groups of unequal pods, each of which is to be on one node', () => {
  it.each([
    ['two that do not share the largest node', [20, 15, 1], 2, 4],
    ['three, the last of which needs a node of its own', [7, 7, 4, 4, 2, 1], 3, 3],
    ['six, of which three have a node', [7, 6, 5, 1], 6, 4],
  ])('are placed whole: %s', (_, cores, count, price) => {
    const pods = Array.from({ length: count }, (__, at) => together(`g${at}`, cores)).flat();
    const plan = planOf({ types: TYPES, pods });
    expect(plan.unplaced).toEqual(new Map());
    const spent = plan.newNodeClaims.reduce((sum, { chosen }) => sum + chosen.price, 0);
    expect(spent).toBeLessThanOrEqual(price);
    for (let at = 0; at < count; at++) {
      const nodes = plan.newNodeClaims.filter((each) =>
        each.pods.some((key) => key.startsWith(`default/g${at}-`)),
      );
      expect(nodes).toHaveLength(1);
    }
  });
});
