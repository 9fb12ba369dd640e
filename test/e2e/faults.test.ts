import { expect, it } from 'vitest';
import { lambdaAccess } from '../../functions/runtime/access.ts';
import { RESOURCES } from '../../shared/api/resources.ts';
import { s3Client } from '../../shared/aws/access.ts';
import { Calls } from '../../shared/aws/calls.ts';
import { CatalogFile } from '../../shared/aws/memory/catalog-file.ts';
import { MemoryObjects } from '../../shared/aws/memory/objects.ts';
import { loadCatalog } from '../../shared/catalog/catalog.ts';
import { property, text } from '../../shared/kube/list.ts';
import { BUCKET, CLUSTER } from '../support/aws/cloud.ts';
import { WireFault } from '../support/aws/wire/response.ts';
import { deployment, nodeClass, nodePool } from '../support/closed-loop/manifests.ts';
import {
  claimsOf,
  conditionOf,
  eventsOf,
  runningPods,
  type SeenCondition,
  unschedulablePods,
} from '../support/closed-loop/questions.ts';
import { type ClosedLoop, describeClosedLoop } from '../support/closed-loop/world.ts';

const S3 = ['GetObject', 'PutObject', 'ListObjectsV2'] as const;

const requirements = [
  { key: 'kubernetes.io/arch', operator: 'In', values: ['amd64'] },
  { key: 'karpenter.sh/capacity-type', operator: 'In', values: ['on-demand'] },
  { key: 'karpenter.k8s.aws/instance-family', operator: 'In', values: ['c6a'] },
];

/** A pool of another class. */
function poolOf(name: string, className: string): object {
  const pool = nodePool(name, requirements);
  const nodeClassRef = { ...pool.spec.template.spec.nodeClassRef, name: className };
  const template = { spec: { ...pool.spec.template.spec, nodeClassRef } };
  return { ...pool, spec: { ...pool.spec, template } };
}

function onPool(name: string, pool: string, replicas = 1, cpu = '1'): object {
  return deployment(name, replicas, cpu, { nodeSelector: { 'karpenter.sh/nodepool': pool } });
}

let count = 0;

/** A pod of the sound pool gets its node: whatever else is broken, this goes on. */
async function goesOn(loop: ClosedLoop): Promise<void> {
  count += 1;
  const name = `sound-${count}`;
  await loop.apply([onPool(name, 'sound', 2)]);
  await loop.until(`${name} runs`, async () => (await runningPods(loop, name)) === 2);
}

async function conditionIs(
  loop: ClosedLoop,
  resource: (typeof RESOURCES)['nodePools'],
  name: string,
  type: string,
  status: string,
): Promise<SeenCondition | undefined> {
  const seen = async () => conditionOf(await loop.admin().get(resource, { name }), type);
  await loop.until(
    `${type} of ${name} is ${status}`,
    async () => (await seen())?.status === status,
  );
  return await seen();
}

/** Events and lines of the log that hold all the words. */
async function said(loop: ClosedLoop, object: string, ...words: readonly string[]) {
  const hasAll = (text: string): boolean => words.every((word) => text.includes(word));
  const events = (await eventsOf(loop)).filter(
    (each) => each.object.startsWith(object) && hasAll(`${each.reason} ${each.message}`),
  );
  const lines = loop.logs.filter(
    (line) => String(line['object'] ?? '').startsWith(object) && hasAll(JSON.stringify(line)),
  );
  return { events: events.length, lines: lines.length };
}

await describeClosedLoop(
  'faults on a real control plane',
  (loop) => {
    it('an EC2NodeClass that is not there: said on the NodePool, as an event and in the log', async () => {
      await loop.apply([nodeClass, nodePool('sound', requirements), poolOf('lost', 'nowhere')]);
      await loop.apply([onPool('lost', 'lost')]);
      await goesOn(loop);
      const seen = await conditionIs(loop, RESOURCES.nodePools, 'lost', 'NodeClassReady', 'False');
      expect(seen?.reason).toBe('NodeClassNotFound');
      const { events, lines } = await said(loop, 'NodePool/lost', 'NodeClassNotFound', 'nowhere');
      expect(events).toBe(1);
      expect(lines).toBe(1);
      expect(await claimsOf(loop, 'lost')).toEqual([]);
      const pending = (await eventsOf(loop)).filter((each) => each.object.startsWith('Pod/lost'));
      expect(pending.map((each) => each.message).join()).toContain('NodeClassNotFound');
    });

    it('a subnet selector that finds nothing', async () => {
      const tags = { 'karpenter.sh/discovery': 'nobody' };
      const spec = { ...nodeClass.spec, subnetSelectorTerms: [{ tags }] };
      await loop.apply([{ ...nodeClass, metadata: { name: 'netless' }, spec }]);
      await loop.apply([poolOf('netless', 'netless'), onPool('netless', 'netless')]);
      await goesOn(loop);
      const type = 'SubnetsReady';
      const seen = await conditionIs(loop, RESOURCES.nodeClasses, 'netless', type, 'False');
      expect(seen?.reason).toBe('SubnetsNotFound');
      const { events, lines } = await said(loop, 'EC2NodeClass/netless', 'SubnetsNotFound');
      expect(events).toBe(1);
      expect(lines).toBe(1);
      expect((await said(loop, 'NodePool/netless', 'SubnetsNotFound')).events).toBe(1);
    });

    it('subnets of one class that have no address left take no instance type from another', async () => {
      const { subnets } = loop.cloud.account;
      const Tags = [{ Key: 'team', Value: 'full' }];
      for (const [at, each] of [...subnets].entries()) {
        const SubnetId = `subnet-0000000000000ff0${at}`;
        subnets.push({ ...each, SubnetId, Tags, AvailableIpAddressCount: 0 });
      }
      const subnetSelectorTerms = [{ tags: { team: 'full' } }];
      const spec = { ...nodeClass.spec, subnetSelectorTerms };
      await loop.apply([{ ...nodeClass, metadata: { name: 'full' }, spec }]);
      await loop.apply([poolOf('full', 'full'), onPool('full', 'full')]);
      await loop.until('no address is said', async () => {
        const { events } = await said(loop, 'NodeClaim/full', 'InsufficientFreeAddresses');
        return events > 0;
      });
      await goesOn(loop);
      await loop.admin().delete(RESOURCES.deployments, { namespace: 'default', name: 'full' }, {});
    });

    it('a permission that nodeclass lacks: the action and the role are named', async () => {
      const refused = new WireFault('AccessDeniedException', 'User: arn:x is not authorized', 400);
      loop.cloud.server.fail('ssm', 'GetParameter', refused);
      // Resolved images are kept for a while; a class of its own has to ask.
      const terms = [{ alias: 'al2023@v20250101' }];
      const spec = { ...nodeClass.spec, amiSelectorTerms: terms };
      await loop.apply([{ ...nodeClass, metadata: { name: 'imageless' }, spec }]);
      await loop.tick();
      const type = 'AMIsReady';
      const seen = await conditionIs(loop, RESOURCES.nodeClasses, 'imageless', type, 'False');
      expect(seen).toMatchObject({ reason: 'Unauthorised' });
      const role =
        'ssm:GetParameter is not allowed to the role of the function joiner-demo-nodeclass';
      expect(seen?.message).toContain(role);
      const { events, lines } = await said(loop, 'EC2NodeClass/imageless', role);
      expect(events).toBe(1);
      expect(lines).toBe(1);
      loop.cloud.server.heal();
      await goesOn(loop);
    });

    it('a permission that provision lacks: claims say so and launch once it is there', async () => {
      const refused = new WireFault(
        'UnauthorizedOperation',
        'You are not authorized. Encoded authorization failure message: abc',
        403,
      );
      loop.cloud.server.fail('ec2', 'CreateFleet', refused);
      await loop.apply([onPool('refused', 'sound', 1, '7')]);
      const role =
        'ec2:CreateFleet is not allowed to the role of the function joiner-demo-provision';
      await loop.until('a claim says so', async () =>
        (await claimsOf(loop)).some((claim) =>
          conditionOf(claim, 'Launched')?.message.includes(role),
        ),
      );
      const { events, lines } = await said(loop, 'NodeClaim/sound', role);
      expect(events).toBeGreaterThan(0);
      expect(lines).toBeGreaterThan(0);
      loop.cloud.server.heal();
      await loop.until('it runs', async () => (await runningPods(loop, 'refused')) === 1);
    });

    it('a permission to tag that lifecycle lacks: nodes are initialised all the same', async () => {
      const refused = new WireFault('UnauthorizedOperation', 'You are not authorized.', 403);
      loop.cloud.server.fail('ec2', 'CreateTags', refused);
      await loop.apply([onPool('untagged', 'sound', 1, '7')]);
      await loop.until('it runs', async () => (await runningPods(loop, 'untagged')) === 1);
      await loop.until('all are initialised', async () =>
        (await claimsOf(loop)).every(
          (claim) => conditionOf(claim, 'Initialized')?.status === 'True',
        ),
      );
      const role =
        'ec2:CreateTags is not allowed to the role of the function joiner-demo-lifecycle';
      expect((await said(loop, 'NodeClaim/sound', role)).lines).toBeGreaterThan(0);
      loop.cloud.server.heal();
      await loop.tick();
      const named = [...loop.cloud.account.instances.values()].filter((each) =>
        each.tags.some(({ Key }) => Key === 'karpenter.sh/nodeclaim'),
      );
      const ids = (await claimsOf(loop)).map((claim) =>
        text(property(property(claim, 'status'), 'providerID'))
          .split('/')
          .at(-1),
      );
      expect(ids.length).toBeGreaterThan(0);
      expect(named.map(({ id }) => id)).toEqual(expect.arrayContaining(ids));
    });

    it('EC2 that takes its time is asked for all groups at once', async () => {
      const { server } = loop.cloud;
      const names = ['4', '5', '6', '7', '8', '9'].map((cpu) => `slow-${cpu}`);
      const free = { 'karpenter.sh/nodepool': 'slow' };
      await loop.apply([nodePool('slow', requirements)]);
      await loop.tick();
      const others = await unschedulablePods(loop);
      await loop.apply(
        names.map((name) => {
          const labels = { matchExpressions: [{ key: 'app', operator: 'In', values: names }] };
          const term = { topologyKey: 'kubernetes.io/hostname', labelSelector: labels };
          const podAntiAffinity = { requiredDuringSchedulingIgnoredDuringExecution: [term] };
          const spec = { nodeSelector: free, affinity: { podAntiAffinity } };
          return deployment(name, 1, name.slice(-1), spec);
        }),
      );
      await expect.poll(() => unschedulablePods(loop)).toBe(others + 6);
      const before = server.callsOf('CreateFleet').length;
      server.delay('CreateFleet', 1500);
      await loop.invoke('provision', {}, 60_000);
      server.delay('CreateFleet', 0);
      expect(server.callsOf('CreateFleet').length - before).toBe(6);
      expect(server.mostAtOnce('CreateFleet')).toBe(6);
      const all = async () => await Promise.all(names.map((name) => runningPods(loop, name)));
      await loop.until('all run', async () => (await all()).every((pods) => pods === 1));
    });

    it('an invocation that ends writes its claims and leaves the launches to the next one', async () => {
      const others = await unschedulablePods(loop);
      await loop.apply([onPool('late', 'sound', 1, '7')]);
      await expect.poll(() => unschedulablePods(loop)).toBe(others + 1);
      const before = loop.cloud.server.callsOf('CreateFleet').length;
      expect(await loop.invoke('provision', {}, 9_000)).toEqual({ outcome: 'out of time' });
      expect(loop.cloud.server.callsOf('CreateFleet')).toHaveLength(before);
      const isWaiting = (claim: unknown) => conditionOf(claim, 'Launched')?.status !== 'True';
      expect((await claimsOf(loop)).filter(isWaiting)).toHaveLength(1);
      expect(await loop.invoke('provision')).toEqual({ outcome: 'done' });
      expect(loop.cloud.server.callsOf('CreateFleet')).toHaveLength(before + 1);
      await loop.until('it runs', async () => (await runningPods(loop, 'late')) === 1);
    });

    it('EC2 that is throttled for a while stops no class that was ready', async () => {
      const busy = new WireFault('RequestLimitExceeded', 'Request limit exceeded.', 503);
      loop.cloud.server.fail('ec2', 'DescribeSecurityGroups', busy);
      loop.clock.pass(10 * 60_000);
      await loop.invoke('nodeclass');
      const seen = await loop.admin().get(RESOURCES.nodeClasses, { name: 'default' });
      expect(conditionOf(seen, 'Ready')?.status).toBe('True');
      const { lines } = await said(loop, 'EC2NodeClass/default', 'RequestLimitExceeded');
      expect(lines).toBeGreaterThan(0);
      loop.cloud.server.heal();
    });

    it('S3 that is gone: said in the log, and nodes are launched without memory', async () => {
      for (const operation of S3) loop.cloud.server.fail('s3', operation, 'disconnect');
      loop.clock.pass(60_000);
      await goesOn(loop);
      const lines = loop.logs.filter((line) => line.message === 'memory');
      expect(lines.some((line) => JSON.stringify(line).includes('Unreachable'))).toBe(true);
      const type = 'MemoryReachable';
      const seen = await conditionIs(loop, RESOURCES.nodePools, 'sound', type, 'False');
      expect(seen?.message).toContain(`bucket ${BUCKET} does not answer`);
      expect((await said(loop, 'NodePool/sound', BUCKET)).events).toBeGreaterThan(0);
      loop.cloud.server.heal();
      loop.clock.pass(5 * 60_000);
      await conditionIs(loop, RESOURCES.nodePools, 'sound', type, 'True');
    });

    it('prices that nobody has renewed for days: said in the log, and used', async () => {
      const access = lambdaAccess('us-east-1', 'catalog');
      const objects = new MemoryObjects({
        s3: s3Client(access),
        bucket: BUCKET,
        calls: new Calls(),
        report: () => undefined,
      });
      const file = new CatalogFile(objects, { region: 'us-east-1', cluster: CLUSTER });
      const atMs = Date.now() - 3 * 24 * 3_600_000;
      expect(await file.write({ catalog: await loadCatalog('us-east-1'), atMs })).toBe(true);
      loop.clock.pass(10 * 60_000);
      await goesOn(loop);
      const lines = loop.logs.filter((line) => line['text'] === 'the prices in use are stale');
      expect(lines.length).toBeGreaterThan(0);
      const ages = loop.logs.map((line) => Number(line['ageMs'] ?? 0));
      expect(Math.max(...ages)).toBeGreaterThan(2.9 * 24 * 3_600_000);
      const type = 'PricesFresh';
      const seen = await conditionIs(loop, RESOURCES.nodePools, 'sound', type, 'False');
      expect(seen?.message).toContain(new Date(atMs).toISOString());
      expect((await said(loop, 'NodePool/sound', 'PricesStale')).events).toBe(1);
      const renewed = { catalog: await loadCatalog('us-east-1'), atMs: Date.now() };
      expect(await file.write(renewed)).toBe(true);
      loop.clock.pass(10 * 60_000);
      await conditionIs(loop, RESOURCES.nodePools, 'sound', type, 'True');
    });

    it('a region or a name in which there is no cluster fails with both in the message', async () => {
      const { closeSandboxes } = await import('../../functions/runtime/sandbox.ts');
      await closeSandboxes();
      const { cluster } = loop.cloud;
      loop.cloud.cluster = undefined;
      const message = 'there is no EKS cluster demo in us-east-1';
      for (const name of ['provision', 'lifecycle', 'nodeclass'] as const) {
        await expect(loop.invoke(name)).rejects.toThrow(message);
      }
      const lines = loop.logs.filter((line) => JSON.stringify(line).includes(message));
      expect(lines).toHaveLength(3);
      loop.cloud.cluster = cluster;
      await goesOn(loop);
    });

    it('an endpoint to which there is no way fails and says which', async () => {
      const { closeSandboxes } = await import('../../functions/runtime/sandbox.ts');
      await closeSandboxes();
      const { cluster } = loop.cloud;
      // Nobody listens there, as behind a private endpoint from outside of its VPC.
      loop.cloud.cluster = { ...cluster, endpoint: 'https://127.0.0.1:9' };
      const failing = loop.invoke('provision');
      await expect(failing).rejects.toThrow(/API server cannot be reached: .*127\.0\.0\.1:9/);
      await closeSandboxes();
      loop.cloud.cluster = cluster;
      await goesOn(loop);
    });
  },
  { strangers: true },
);
