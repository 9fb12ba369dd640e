import { describe, expect, it } from 'vitest';
import type { Applied } from '../../cli/apply/apply.ts';
import { DO_NOT_DISRUPT } from '../../shared/core/model/labels.ts';
import type { Ports } from '../../shared/ports.ts';
import type { Json } from '../../shared/sim/json.ts';
import { reading, withPorts } from '../unit/app/world.ts';
import { type ApprovedWorld, approvedWorld } from './approved-world.ts';
import { apart, claimsOf, classOf, newClass } from './rolls.ts';
import { deployment, nodeClass, nodePool } from './small-world.ts';

const ON = Number.POSITIVE_INFINITY;
const ALL = { launch: ON, disrupt: ON };
const allAtOnce = { budgets: [{ nodes: '100%' }], consolidateAfter: '0s' };
const pool = nodePool(['on-demand'], { disruption: allAtOnce });

/** With the strategy `Recreate` a change ends all old pods, those that are not ready, too. */
function web(replicas: number, cpu = '1'): Json {
  const made = deployment('web', replicas, cpu, apart);
  return { ...made, spec: { ...(made['spec'] as Json), strategy: { type: 'Recreate' } } };
}

async function worldWith(replicas: number): Promise<ApprovedWorld> {
  const made = await approvedWorld([nodeClass, pool, web(replicas)]);
  await made.pass(3);
  made.pause(ALL);
  return made;
}

function reasonsOf({ decisions }: Applied): readonly string[] {
  return decisions.flatMap(({ reasons }) => reasons);
}

/** Plans, changes the world, and expects that all of the plan is refused for this reason. */
async function expectRefusal(
  made: ApprovedWorld,
  change: () => Promise<void> | void,
  reason: RegExp,
): Promise<void> {
  const decisions = await made.plan();
  expect(decisions.length).toBeGreaterThan(0);
  await change();
  const before = made.world.store.version;
  const applied = await made.apply(decisions);
  expect({ result: applied.result, created: applied.created }).toEqual({
    result: 'refused',
    created: [],
  });
  expect(reasonsOf(applied).join('\n')).toMatch(reason);
  expect(made.world.store.version).toBe(before);
}

function budget(minAvailable: number): Json {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'web', namespace: 'default' },
    spec: { minAvailable, selector: { matchLabels: { app: 'web' } } },
  };
}

const labelled: Json = {
  ...pool,
  spec: {
    ...(pool['spec'] as Json),
    template: {
      ...((pool['spec'] as Json)['template'] as Json),
      metadata: { labels: { team: 'red' } },
    },
  },
};

describe('launches are refused', () => {
  async function waiting(): Promise<ApprovedWorld> {
    const made = await approvedWorld([nodeClass, pool]);
    made.pause(ALL);
    made.script.apply([web(2)]);
    await made.pass(2);
    return made;
  }

  it.each<[string, RegExp, readonly Json[]]>([
    ['a pod has gone', /Pod default\/web-\S+ no longer exists/, [web(1)]],
    ['pods were made anew', /Pod default\/web-\S+ no longer exists/, [web(2, '1500m')]],
    [
      'others come beside them',
      /would now share a \S+ in \S+ with default\/small-/,
      [deployment('small', 4, '500m')],
    ],
    ['the NodePool asks something else', /other labels[\s\S]*NodePool\/default/, [labelled]],
    [
      'the image is another',
      /other images[\s\S]*EC2NodeClass\/default/,
      [classOf('al2023@v20260101')],
    ],
    [
      'the NodePool may have no more nodes',
      /cannot be placed: [\s\S]*limit/,
      [{ ...pool, spec: { ...(pool['spec'] as Json), limits: { cpu: '2' } } }],
    ],
  ])('where %s', async (_, reason, change) => {
    const made = await waiting();
    await expectRefusal(
      made,
      async () => {
        made.script.apply(change);
        await made.pass(6);
      },
      reason,
    );
  });

  it('where they have become dearer', async () => {
    const made = await waiting();
    const list = made.ports.catalog.instanceTypes.bind(made.ports.catalog);
    const dearer: Ports['catalog'] = {
      ...made.ports.catalog,
      instanceTypes: async (...args) =>
        (await list(...args)).map((type) => ({
          ...type,
          offerings: type.offerings.map((each) => ({ ...each, price: 2 * each.price })),
        })),
    };
    const decisions = await made.plan();
    const applied = await made.apply(decisions, { catalog: dearer });
    expect(applied.result).toBe('refused');
    expect(reasonsOf(applied).join('\n')).toMatch(/the price is now \$\S+\/h .*; approved: /);
  });

  it('where their pods have found a place', async () => {
    const made = await waiting();
    const decisions = await made.plan();
    made.pause({});
    await made.pass(3);
    const before = made.world.store.version;
    const applied = await made.apply(decisions);
    expect(applied.result).toBe('refused');
    expect(reasonsOf(applied).join('\n')).toMatch(/Pod default\/web-\S+ is already bound to node/);
    expect(made.world.store.version).toBe(before);
  });
});

describe('disruptions are refused', () => {
  it.each<[string, RegExp, readonly Json[]]>([
    [
      'budgets let no node go',
      /No allowed disruptions/,
      [{ ...pool, spec: { ...(pool['spec'] as Json), disruption: { budgets: [{ nodes: '0' }] } } }],
    ],
    ['a PodDisruptionBudget holds the pod', /PodDisruptionBudget default\/web/, [budget(3)]],
    ['the image is another one again', /other images|would no longer be disrupted/, [nodeClass]],
  ])('of drifted nodes where %s', async (_, reason, change) => {
    const made = await worldWith(3);
    made.script.apply([newClass]);
    await made.pass(7);
    await expectRefusal(
      made,
      async () => {
        made.script.apply(change);
        await made.pass(6);
      },
      reason,
    );
  });

  it('of empty nodes that pods have come to', async () => {
    const made = await worldWith(3);
    made.script.apply([web(1)]);
    await made.pass(2);
    await expectRefusal(
      made,
      async () => {
        made.script.apply([web(3)]);
        await made.pass(1);
      },
      /NodeClaim default-\S+: new pods: default\/web-/,
    );
  });

  it('of a node that nobody may disrupt any more', async () => {
    const made = await worldWith(2);
    made.script.apply([web(1)]);
    await made.pass(2);
    const decisions = await made.plan();
    const node = decisions[0]?.nodes[0]?.node ?? '';
    await made.ports.cluster.patchNode(
      { kind: 'Node', name: node },
      { annotations: { [DO_NOT_DISRUPT]: 'true' } },
    );
    const applied = await made.apply(decisions);
    expect(applied.result).toBe('refused');
    expect(reasonsOf(applied).join()).toContain(`has the annotation ${DO_NOT_DISRUPT}`);
  });

  it('of a node that goes already, and of one that has gone', async () => {
    const made = await worldWith(2);
    made.script.apply([web(1)]);
    await made.pass(2);
    const decisions = await made.plan();
    const claim = decisions[0]?.nodes[0];
    await made.ports.cluster.delete({ kind: 'NodeClaim', name: claim?.nodeClaim ?? '' });
    expect(reasonsOf(await made.apply(decisions)).join()).toContain('it is being drained');
    await made.pass(3);
    expect(reasonsOf(await made.apply(decisions)).join()).toContain('no longer exists');
  });
});

it('one decision that does not hold any more keeps all others from being carried out', async () => {
  const made = await worldWith(3);
  made.script.apply([web(1)]);
  await made.pass(2);
  const decisions = await made.plan();
  expect(decisions).toHaveLength(2);
  const [first] = decisions;
  await made.ports.cluster.delete({ kind: 'NodeClaim', name: first?.nodes[0]?.nodeClaim ?? '' });
  await made.pass(3);
  const before = claimsOf(made.world);
  const applied = await made.apply(decisions);
  expect(applied.decisions.map(({ outcome }) => outcome)).toEqual(['changed', 'holds']);
  await made.pass(3);
  expect(claimsOf(made.world)).toEqual(before);
});

it('nothing is written while Karpenter runs', async () => {
  const made = await worldWith(2);
  made.script.apply([web(1)]);
  await made.pass(2);
  const decisions = await made.plan();
  const renewed = { karpenterRenewedAtMs: made.world.timeline.nowMs() };
  const read = reading(made.ports, (state) => ({ ...state, ...renewed }));
  const ports = withPorts(made.ports, { cluster: { read } });
  const before = made.world.store.version;
  const applied = await made.apply(decisions, { ports });
  expect(applied).toMatchObject({ result: 'refused', decisions: [] });
  expect(applied.refusal).toContain('Karpenter is active');
  expect(made.world.store.version).toBe(before);
});

it('a node that a pod is bound to while it is tainted stays, and that is said', async () => {
  const made = await worldWith(2);
  made.script.apply([web(1)]);
  await made.pass(2);
  const decisions = await made.plan();
  const before = claimsOf(made.world).map(({ name }) => name);
  const { node = '' } = decisions[0]?.nodes[0] ?? {};
  let reads = 0;
  const read = async () => {
    reads += 1;
    const state = await made.ports.cluster.read();
    if (reads === 1) return state;
    const pods = state.objects.pods.map((pod) => ({ ...pod, nodeName: node ?? '' }));
    return { ...state, objects: { ...state.objects, pods } };
  };
  const applied = await made.apply(decisions, {
    ports: withPorts(made.ports, { cluster: { read } }),
  });
  expect(applied).toMatchObject({ result: 'incomplete', decisions: [{ outcome: 'failed' }] });
  expect(reasonsOf(applied).join()).toContain('was opened again');
  await made.pass(3);
  expect(claimsOf(made.world).map(({ name }) => name)).toEqual(before);
});
