import { expect, it } from 'vitest';
import { RESOURCES } from '../../shared/api/resources.ts';
import { property, text } from '../../shared/kube/list.ts';
import { apart, nodeClass, nodePool } from '../support/closed-loop/manifests.ts';
import {
  claimsOf,
  conditionOf,
  eventsOf,
  isDeleting,
  labelOf,
  nameOf,
  ourNodes,
  runningPods,
} from '../support/closed-loop/questions.ts';
import {
  type ClosedLoop,
  describeClosedLoop,
  liveInstances,
} from '../support/closed-loop/world.ts';

const MINUTE = 60_000;
const PAUSES = { namespace: 'kube-system', name: 'joiner' };
const NODES = 3;

const requirements = [
  { key: 'kubernetes.io/arch', operator: 'In', values: ['amd64'] },
  { key: 'karpenter.sh/capacity-type', operator: 'In', values: ['on-demand'] },
  { key: 'karpenter.k8s.aws/instance-family', operator: 'In', values: ['c6a'] },
];

/** All nodes may go at once: what holds them back here is the canary alone. */
const disruption = { budgets: [{ nodes: '100%' }] };

function poolWith(labels: Readonly<Record<string, string>>, more: object = {}): object {
  const pool = nodePool('rolled', requirements, { disruption: { ...disruption, ...more } });
  return {
    ...pool,
    spec: { ...pool.spec, template: { ...pool.spec.template, metadata: { labels } } },
  };
}

/** A version of the images that EKS has published, and the class that asks for it. */
function publish({ cloud }: ClosedLoop, version: string, id: string): object {
  const [first] = cloud.account.images;
  for (const arch of ['x86_64', 'arm64']) {
    for (const variant of ['standard', 'nvidia', 'neuron']) {
      const folder = `/aws/service/eks/optimized-ami/1.33/amazon-linux-2023/${arch}/${variant}`;
      const name = `amazon-eks-node-al2023-${arch}-${variant}-1.33-${version}`;
      cloud.account.parameters.set(`${folder}/${name}/image_id`, id);
    }
  }
  cloud.account.images = [...cloud.account.images, { ...first, ImageId: id, Name: id }];
  const amiSelectorTerms = [{ alias: `al2023@${version}` }];
  return { ...nodeClass, spec: { ...nodeClass.spec, amiSelectorTerms } };
}

function imagesOf(loop: ClosedLoop): readonly (string | undefined)[] {
  return liveInstances(loop)
    .map(({ imageId }) => imageId)
    .sort();
}

/** Nodes that are kept from new pods. */
async function taintedNodes(loop: ClosedLoop): Promise<readonly string[]> {
  return (await ourNodes(loop))
    .filter((node) => JSON.stringify(property(node, 'spec')).includes('karpenter.sh/disrupted'))
    .map(nameOf);
}

async function drifted(loop: ClosedLoop): Promise<readonly string[]> {
  return (await claimsOf(loop, 'rolled'))
    .filter((claim) => conditionOf(claim, 'Drifted')?.status === 'True')
    .map((claim) => conditionOf(claim, 'Drifted')?.reason ?? '');
}

/** Everything is as asked for: no drift, no claim on its way out, all pods run. */
async function isRolled(loop: ClosedLoop): Promise<boolean> {
  const claims = await claimsOf(loop, 'rolled');
  return (
    claims.length === NODES &&
    !claims.some(isDeleting) &&
    (await drifted(loop)).length === 0 &&
    (await taintedNodes(loop)).length === 0 &&
    (await runningPods(loop, 'rolled')) === NODES &&
    liveInstances(loop).length === NODES
  );
}

await describeClosedLoop(
  'replacing nodes on a real control plane',
  (loop) => {
    it('a new image is tried by one node; the others follow once it is ready', async () => {
      await loop.apply([nodeClass, poolWith({}), apart('rolled', NODES)]);
      await loop.until('all run', async () => (await runningPods(loop, 'rolled')) === NODES);
      await loop.until('all are as asked for', () => isRolled(loop));
      const before = new Set(liveInstances(loop).map(({ id }) => id));
      const sizeBefore = loop.cloud.account.instances.size;
      const image = 'ami-00000000000000002';
      // The canary's kubelet comes late, so that there is time to look.
      let mayJoin = false;
      const { onLaunch } = loop.cloud.account;
      const late: Parameters<typeof onLaunch>[0][] = [];
      loop.cloud.account.onLaunch = (instance) => {
        if (mayJoin) onLaunch(instance);
        else late.push(instance);
      };
      await loop.apply([publish(loop, 'v2', image)]);
      await loop.until('one is launched', () => liveInstances(loop).length === NODES + 1);
      for (let round = 0; round < 5; round += 1) await loop.tick();
      expect(imagesOf(loop).filter((each) => each === image)).toHaveLength(1);
      expect(await drifted(loop)).toEqual(Array(NODES).fill('AMIDrift'));
      expect(await taintedNodes(loop)).toHaveLength(1);
      expect(await runningPods(loop, 'rolled')).toBe(NODES);
      mayJoin = true;
      for (const each of late) onLaunch(each);
      await loop.until('all have it', () => isRolled(loop));
      expect(imagesOf(loop)).toEqual(Array(NODES).fill(image));
      expect(liveInstances(loop).filter(({ id }) => before.has(id))).toEqual([]);
      expect(loop.cloud.account.instances.size).toBe(sizeBefore + NODES);
      const reasons = (await eventsOf(loop)).map(({ reason }) => reason);
      expect(reasons).toEqual(
        expect.arrayContaining([
          'DisruptionLaunching',
          'DisruptionWaitingReadiness',
          'DisruptionTerminating',
          'DisruptionBlocked',
        ]),
      );
    });

    it('pause.disrupt: drift is seen and nothing is replaced until it is resumed', async () => {
      const before = new Set(liveInstances(loop).map(({ id }) => id));
      const data = { 'pause.disrupt': 'on' };
      await loop.apply([{ apiVersion: 'v1', kind: 'ConfigMap', metadata: PAUSES, data }]);
      await loop.apply([poolWith({ team: 'red' })]);
      await loop.until('drift is seen', async () => (await drifted(loop)).length === NODES);
      for (let round = 0; round < 3; round += 1) await loop.tick();
      expect(await drifted(loop)).toEqual(Array(NODES).fill('NodePoolDrifted'));
      expect(
        liveInstances(loop)
          .map(({ id }) => id)
          .sort(),
      ).toEqual([...before].sort());
      expect(await taintedNodes(loop)).toEqual([]);
      expect(loop.logs.some((line) => JSON.stringify(line).includes('disruptions-paused'))).toBe(
        true,
      );
      await loop.admin().delete(RESOURCES.configMaps, PAUSES, {});
      await loop.until('all are replaced', () => isRolled(loop));
      const claims = await claimsOf(loop, 'rolled');
      expect(claims.map((each) => labelOf(each, 'team'))).toEqual(Array(NODES).fill('red'));
      expect(liveInstances(loop).filter(({ id }) => before.has(id))).toEqual([]);
    });

    it('a canary that does not join: nothing else is replaced, and the pool says so', async () => {
      const before = liveInstances(loop).map(({ id }) => id);
      const image = 'ami-00000000000000003';
      loop.joining.joins = ({ imageId }) => imageId !== image;
      await loop.apply([publish(loop, 'v3', image)]);
      await loop.until('one is launched', () => liveInstances(loop).length === NODES + 1);
      await loop.until('its node is kept', async () => (await taintedNodes(loop)).length === 1);
      loop.clock.pass(11 * MINUTE);
      await loop.until('it is given up', async () => (await taintedNodes(loop)).length === 0);
      for (let round = 0; round < 3; round += 1) await loop.tick();
      const pool = await loop.admin().get(RESOURCES.nodePools, { name: 'rolled' });
      expect(conditionOf(pool, 'CanaryHealthy')).toMatchObject({
        status: 'False',
        reason: 'CanaryFailed',
      });
      const said = (await eventsOf(loop)).filter(({ reason }) => reason === 'CanaryFailed');
      expect(said.map(({ object }) => object)).toEqual(['NodePool/rolled']);
      expect(await drifted(loop)).toEqual(Array(NODES).fill('AMIDrift'));
      // The instance that never joined goes after a quarter of an hour.
      loop.clock.pass(5 * MINUTE);
      await loop.until('it is gone', () => liveInstances(loop).length === NODES);
      for (let round = 0; round < 3; round += 1) await loop.tick();
      expect(
        liveInstances(loop)
          .map(({ id }) => id)
          .sort(),
      ).toEqual([...before].sort());
      await loop.apply([publish(loop, 'v2', 'ami-00000000000000002')]);
      await loop.until('the class asks for what there is', () => isRolled(loop));
      const healed = await loop.admin().get(RESOURCES.nodePools, { name: 'rolled' });
      expect(conditionOf(healed, 'CanaryHealthy')?.status).toBe('True');
      expect(text(annotationOf(healed))).toBe('');
    });

    it('nodes that nothing runs on go, and the others stay', async () => {
      const sizeBefore = loop.cloud.account.instances.size;
      await loop.apply([apart('rolled', 1)]);
      await loop.until('one is left', async () => {
        const claims = await claimsOf(loop, 'rolled');
        return claims.length === 1 && liveInstances(loop).length === 1;
      });
      for (let round = 0; round < 3; round += 1) await loop.tick();
      expect(await runningPods(loop, 'rolled')).toBe(1);
      expect(await taintedNodes(loop)).toEqual([]);
      expect(liveInstances(loop)).toHaveLength(1);
      expect(loop.cloud.account.instances.size).toBe(sizeBefore);
      const messages = (await eventsOf(loop)).map(({ message }) => message);
      expect(messages).toContain('Disrupting Node: Empty');
    });

    it('consolidateAfter: an empty node goes so much later than the last pod that left it', async () => {
      // What the API server stamps is older than it by as much as the clock is ahead.
      const minutes = Math.ceil(loop.clock.offsetMs / MINUTE) + 10;
      await loop.apply([poolWith({ team: 'red' }, { consolidateAfter: `${minutes}m` })]);
      await loop.apply([apart('rolled', 0)]);
      const isUnused = async () => (await runningPods(loop, 'rolled')) === 0;
      await loop.until('nothing runs there', isUnused);
      await loop.tick();
      const [claim] = await claimsOf(loop, 'rolled');
      expect(property(property(claim, 'status'), 'lastPodEventTime')).toBeTypeOf('string');
      expect(conditionOf(claim, 'Consolidatable')).toBeUndefined();
      for (let round = 0; round < 3; round += 1) await loop.tick();
      expect(await taintedNodes(loop)).toEqual([]);
      expect(liveInstances(loop)).toHaveLength(1);
      loop.clock.pass((minutes + 1) * MINUTE);
      await loop.until('it has gone', () => liveInstances(loop).length === 0);
    });
  },
  { strangers: true },
);

function annotationOf(pool: unknown): unknown {
  return property(
    property(property(pool, 'metadata'), 'annotations'),
    'joiner.dev/failed-canaries',
  );
}
