import { describe, expect, it } from 'vitest';
import type { Decision } from '../../cli/plan/decision.ts';
import { disrupt } from '../../shared/app/disrupt/disrupt.ts';
import { limitGroupsOf } from '../../shared/core/limit-groups/limit-groups.ts';
import { APPROVED, INSTANCE_TYPE, ZONE } from '../../shared/core/model/labels.ts';
import { type ApprovedWorld, approvedWorld } from './approved-world.ts';
import { claimsOf, newClass, runningPods } from './rolls.ts';
import { apartOf, deployment, nodeClass, nodePool } from './small-world.ts';

const ON = Number.POSITIVE_INFINITY;
const ALL = { launch: ON, disrupt: ON };
const allAtOnce = { budgets: [{ nodes: '100%' }], consolidateAfter: '0s' };
const pool = nodePool(['on-demand'], { disruption: allAtOnce });

const namesOf = ({ world }: ApprovedWorld): readonly string[] =>
  claimsOf(world)
    .map(({ name }) => name)
    .sort();

/** One pod a node. */
const apart = apartOf('web');

/** Nodes with a pod each, of which nobody decides anything any more. */
async function settled(replicas: number): Promise<ApprovedWorld> {
  const made = await approvedWorld([nodeClass, pool, deployment('web', replicas, '1', apart)]);
  await made.pass(3);
  made.pause(ALL);
  return made;
}

/** Three nodes that have drifted, and a plan to replace the first of them. */
async function driftPlanned() {
  const made = await settled(3);
  const before = namesOf(made);
  made.script.apply([newClass]);
  await made.pass(7);
  return { made, before, decisions: await made.plan() };
}

/** The names of the claims once the first node of the plan has been replaced. */
function replacedBy(
  before: readonly string[],
  [first]: readonly Decision[],
  created: readonly string[],
): readonly string[] {
  const gone = first?.nodes[0]?.nodeClaim;
  return [...before.filter((name) => name !== gone), ...created].sort();
}

describe('an approved plan for a shared limit group', () => {
  it('launches nothing, and says that it did not', async () => {
    const limitGroups = limitGroupsOf('all nodes=5 shared') ?? [];
    const made = await approvedWorld([nodeClass, pool], { limitGroups });
    made.pause(ALL);
    made.script.apply([deployment('web', 2, '1', apart)]);
    await made.pass(2);
    const decisions = await made.plan();
    expect(decisions.map(({ reason }) => reason)).toEqual(['Provisioned', 'Provisioned']);
    const applied = await made.apply(decisions);
    expect(applied.result).toBe('incomplete');
    expect(applied.created).toEqual([]);
    expect(namesOf(made)).toEqual([]);
    made.pause({});
    await made.pass(3);
    expect(namesOf(made).length).toBe(2);
  });
});

describe('an approved plan during pauses', () => {
  it('launches what was approved, and nothing for pods that come later', async () => {
    const made = await approvedWorld([nodeClass, pool]);
    made.pause(ALL);
    made.script.apply([deployment('web', 3, '1', apart)]);
    await made.pass(2);
    expect(namesOf(made)).toEqual([]);
    const decisions = await made.plan();
    expect(decisions.map(({ reason, claims }) => [reason, claims.length])).toEqual(
      Array(3).fill(['Provisioned', 1]),
    );
    const applied = await made.apply(decisions);
    expect(applied.result).toBe('applied');
    expect(applied.decisions.map(({ outcome }) => outcome)).toEqual(['done', 'done', 'done']);
    made.script.apply([deployment('late', 1, '7')]);
    await made.pass(3);
    expect(namesOf(made)).toEqual(applied.created.toSorted());
    expect(runningPods(made.world)).toBe(3);
    const launched = claimsOf(made.world).map(({ labels }) => [
      labels[INSTANCE_TYPE],
      labels[ZONE],
    ]);
    const planned = decisions.map(({ claims }) => [
      claims[0]?.chosen?.type,
      claims[0]?.chosen?.zone,
    ]);
    expect(launched.sort()).toEqual(planned.sort());
    // The rest goes on once the pauses have ended.
    made.pause({});
    await made.pass(3);
    expect(runningPods(made.world)).toBe(4);
  });

  it('removes the empty nodes that were approved, and no other', async () => {
    const made = await settled(4);
    const before = namesOf(made);
    made.script.apply([deployment('web', 2, '1', apart)]);
    await made.pass(2);
    const decisions = await made.plan();
    expect(decisions.map(({ reason }) => reason)).toEqual(['Empty', 'Empty']);
    const [first] = decisions;
    const applied = await made.apply(decisions.slice(0, 1));
    expect(applied).toMatchObject({ result: 'applied', created: [] });
    await made.pass(3);
    expect(namesOf(made)).toEqual(before.filter((name) => name !== first?.nodes[0]?.nodeClaim));
    expect(runningPods(made.world)).toBe(2);
  });

  it('replaces the drifted node that was approved, to the end', async () => {
    const made = await settled(3);
    const before = namesOf(made);
    made.script.apply([newClass]);
    await made.pass(7);
    expect(namesOf(made)).toEqual(before);
    const decisions = await made.plan();
    expect(decisions.map(({ reason, claims }) => [reason, claims.length])).toEqual([
      ['Drifted', 1],
    ]);
    const applied = await made.apply(decisions);
    expect(applied.decisions).toMatchObject([{ outcome: 'begun', created: applied.created }]);
    await made.pass(10);
    expect(namesOf(made)).toEqual(replacedBy(before, decisions, applied.created));
    expect(runningPods(made.world)).toBe(3);
  });

  it('goes on to the end in a window of the NodePool that has begun since the plan', async () => {
    const { made, before, decisions } = await driftPlanned();
    made.pause({});
    for (const pool of made.world.store.list('NodePool')) {
      const window = { 'joiner.dev/pause': 'disrupt from 0 0 * * * for 12h' };
      const annotations = { ...pool.metadata.annotations, ...window };
      made.world.store.update(pool, (each) => ({
        ...each,
        metadata: { ...each.metadata, annotations },
      }));
    }
    const applied = await made.apply(decisions);
    await made.pass(30);
    expect(namesOf(made)).toEqual(replacedBy(before, decisions, applied.created));
  });

  it('moves the pods of badly used nodes as was approved', async () => {
    const beside = { labels: { app: 'a' } };
    const never = nodePool(['on-demand'], {
      disruption: { ...allAtOnce, consolidateAfter: 'Never' },
    });
    const pods = [deployment('a', 8, '800m'), deployment('b', 8, '800m', beside)];
    const made = await approvedWorld([nodeClass, never, ...pods]);
    await made.pass(3);
    made.pause(ALL);
    made.script.apply([deployment('b', 0, '800m', beside), pool]);
    await made.pass(2);
    const before = namesOf(made);
    const decisions = await made.plan();
    const gone = decisions.flatMap(({ nodes }) => nodes.map(({ nodeClaim }) => nodeClaim));
    expect(decisions.map(({ reason }) => reason)).toContain('Underutilized');
    const price = made.world.pricePerHour();
    const applied = await made.apply(decisions);
    expect(applied.result).toBe('applied');
    await made.pass(10);
    expect(namesOf(made)).toEqual(
      [...before.filter((name) => !gone.includes(name)), ...applied.created].sort(),
    );
    expect(runningPods(made.world)).toBe(8);
    expect(made.world.pricePerHour()).toBeLessThan(price);
  });

  it('gives a static NodePool the nodes that were approved', async () => {
    const fixed = { ...nodePool(['on-demand'], { replicas: 2 }), metadata: { name: 'fixed' } };
    const made = await approvedWorld([nodeClass, fixed]);
    made.pause(ALL);
    await made.pass(2);
    const decisions = await made.plan();
    expect(decisions).toMatchObject([{ reason: 'Static', nodePool: 'fixed' }]);
    const applied = await made.apply(decisions);
    await made.pass(3);
    expect(namesOf(made)).toEqual(applied.created.toSorted());
    expect(applied.created).toHaveLength(2);
    made.script.apply([
      { ...nodePool(['on-demand'], { replicas: 1 }), metadata: { name: 'fixed' } },
    ]);
    await made.pass(1);
    const [fewer] = await made.plan();
    expect(fewer).toMatchObject({ reason: 'Static', claims: [] });
    expect(await made.apply(fewer === undefined ? [] : [fewer])).toMatchObject({
      result: 'applied',
    });
  });

  it('is given up where what replaces a node does not join, and the node forgets it', async () => {
    const made = await settled(3);
    const before = namesOf(made);
    made.script.apply([newClass]);
    await made.pass(7);
    const decisions = await made.plan();
    made.world.joins = () => false;
    expect(await made.apply(decisions)).toMatchObject({ result: 'applied' });
    const gone = decisions[0]?.nodes[0]?.nodeClaim;
    const approval = () =>
      claimsOf(made.world).find(({ name }) => name === gone)?.annotations[APPROVED];
    expect(approval()).toBe('disrupt');
    await made.pass(40);
    expect(namesOf(made)).toEqual(before);
    expect(approval()).toBeUndefined();
    expect(runningPods(made.world)).toBe(3);
  });

  it('is stopped by a pause that begins once the one is over in which it was approved', async () => {
    const { made, before, decisions } = await driftPlanned();
    const applied = await made.apply(decisions);
    made.pause({});
    await disrupt(made.ports, made.world.settings);
    made.pause({ disrupt: ON });
    await made.pass(10);
    expect(namesOf(made)).toEqual([...before, ...applied.created].sort());
    made.pause({});
    await made.pass(3);
    expect(namesOf(made)).not.toContain(decisions[0]?.nodes[0]?.nodeClaim);
  });

  it('is stopped by a pause that begins later', async () => {
    const { made, before, decisions } = await driftPlanned();
    made.pause({});
    const applied = await made.apply(decisions);
    made.pause({ disrupt: ON });
    await made.pass(10);
    expect(namesOf(made)).toEqual([...before, ...applied.created].sort());
  });
});

it('a dry run writes nothing', async () => {
  const made = await settled(2);
  made.script.apply([deployment('web', 1, '1', apart)]);
  await made.pass(2);
  const decisions = await made.plan();
  const before = made.world.store.version;
  const applied = await made.apply(decisions, { isDryRun: true });
  expect(applied).toMatchObject({ result: 'dry-run', decisions: [{ outcome: 'holds' }] });
  expect(made.world.store.version).toBe(before);
});
