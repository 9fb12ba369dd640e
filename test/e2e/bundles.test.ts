import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { withFollowing } from '../../infra/rights/rules.ts';
import { decisionRecordSchema } from '../../shared/api/decision-record.ts';
import { observationSchema } from '../../shared/api/observation.ts';
import { RESOURCES } from '../../shared/api/resources.ts';
import { observationFolder } from '../../shared/aws/memory/observation-log.ts';
import { MEASUREMENTS_LINE } from '../../shared/contract/prometheus.ts';
import {
  DECISION_EVENT,
  FUNCTION_NAMES,
  type FunctionName,
  INSTALL_STEPS,
} from '../../shared/contract.ts';
import { property, text as textOf } from '../../shared/kube/list.ts';
import { C7G_LARGE } from '../builders/ec2-types.ts';
import {
  type RequestRecord,
  RequestRecorder,
  recordText,
} from '../support/authorisation/record.ts';
import { BUCKET, CLUSTER } from '../support/aws/cloud.ts';
import { poolKey } from '../support/aws/model/account.ts';
import { WireFault } from '../support/aws/wire/response.ts';
import { type DeployedLoop, deploy, LENT } from '../support/bundles/deployed-loop.ts';
import {
  buffers,
  CANARY,
  onDemandPool,
  overlay,
  patientPool,
  RESERVATION,
  reservedClass,
  reservedPool,
  secretive,
  spotPool,
  staticPool,
  stubborn,
  tooLarge,
} from '../support/bundles/manifests.ts';
import { deployment, nodeClass } from '../support/closed-loop/manifests.ts';
import { forgedWarning, queueRecord } from '../support/closed-loop/messages.ts';
import { isDeleting, labelOf } from '../support/closed-loop/questions.ts';
import { describeClosedLoop, liveInstances, runningPods } from '../support/closed-loop/world.ts';
import { deliveryOf } from '../support/prometheus/deliveries.ts';
import { lastValues, readWriteRequest } from '../support/prometheus/read-request.ts';

/** What the functions asked for, by which `test/infra/coverage.test.ts` judges their permissions. */
const RECORD = join(import.meta.dirname, '../infra/golden/requests.json');

await describeClosedLoop(
  'the bundles of the synthesised stack',
  (loop) => {
    const { cloud } = loop;
    let deployed: DeployedLoop | undefined;
    let recorder: RequestRecorder | undefined;
    const world = (): DeployedLoop => deployed ?? fail();
    const settled = async (): Promise<boolean> =>
      liveInstances(loop).length === (await loop.list(RESOURCES.nodes)).length;
    beforeAll(async () => {
      recorder = new RequestRecorder(cloud);
      // Registered for zonal shift, and shifted nowhere.
      const arn = 'arn:aws:eks:us-east-1:111122223333:cluster/demo';
      cloud.cluster = { ...cloud.cluster, arn, zonalShiftConfig: { enabled: true } };
      cloud.managedResource = { arn, zonalShifts: [], autoshifts: [] };
      deployed = await deploy(loop, () => recorder?.take());
    });
    afterAll(async () => deployed?.stop());

    it('install: the cluster is checked, definitions and rights are applied', async () => {
      cloud.accessPolicies.add(LENT.policyArn);
      const { check, apply, settings, settle } = INSTALL_STEPS;
      for (const step of [check, apply, settings, settle]) {
        const lent = { Admin: 'true', Policy: LENT.policyArn, Principal: LENT.principalArn };
        expect(await world().install('Create', step, lent)).toMatchObject({ Status: 'SUCCESS' });
      }
      // Whatever it does from here on it does with its own rights.
      expect(cloud.accessPolicies).toEqual(new Set());
      const details = cloud.events.map(({ Detail }) => Detail);
      expect(details).toEqual(['{"cluster":"demo","kind":"installed"}']);
    });

    it('pods get nodes and run, and watch tells of them', async () => {
      const watching = world().invoke('watch', {}, 25_000);
      await loop.apply([nodeClass, spotPool, overlay, secretive, tooLarge]);
      await world().invoke('nodeclass');
      await world().invoke('provision', { detail: { kind: 'pods-unschedulable' } });
      await world().until('six pods run', async () => (await runningPods(loop, 'secretive')) === 6);
      expect(liveInstances(loop).length).toBeGreaterThan(0);
      await world().until('instances and nodes are the same', settled);
      expect(await watching).toEqual({ outcome: 'watched' });
      const kinds = cloud.events.map(({ Detail = '' }) => String(JSON.parse(Detail).kind));
      expect(kinds).toEqual(expect.arrayContaining(['pods-unschedulable', 'node-joined']));
    });

    it('the node of a spot warning is replaced, drained and terminated', async () => {
      const [before] = liveInstances(loop);
      // Its spot request does not say so yet: that it goes all the same is noted on its NodePool.
      const body = forgedWarning(cloud.account, before?.id ?? '');
      const Records = [body, 'not even JSON'].map((each, at) => queueRecord(`m-${at}`, each));
      expect(await world().invoke('interrupt', { Records })).toEqual({ batchItemFailures: [] });
      expect((await loop.list(RESOURCES.nodeClaims)).filter(isDeleting)).toHaveLength(1);
      await world().until('the old instance is gone and six pods run', async () => {
        const isGone = before?.state === 'shutting-down' || before?.state === 'terminated';
        return isGone && (await runningPods(loop, 'secretive')) === 6 && (await settled());
      });
    });

    it('static pools, buffers, reservations and shortages are served', async () => {
      cloud.account.reservations = [RESERVATION];
      // Not one on-demand instance is to be had in the first zone.
      for (const key of cloud.account.prices.keys()) {
        if (key.endsWith('us-east-1a/on-demand')) cloud.account.capacity.set(key, 0);
      }
      // As after a crash: EC2 knows the token of another request.
      const used = new WireFault('IdempotentParameterMismatch', 'another request had this token');
      cloud.server.fail('ec2', 'CreateFleet', used, 1);
      // A sandbox that is new does not know which events it has written before.
      await world().functions.stop('provision');
      const watching = world().invoke('watch', {}, 35_000);
      await loop.apply([reservedClass, reservedPool, onDemandPool, staticPool, ...buffers]);
      const apps = ['reserved', 'on-demand'] as const;
      await loop.apply(
        apps.map((app) =>
          deployment(app, 1, '500m', { nodeSelector: { 'karpenter.sh/nodepool': app } }),
        ),
      );
      await world().until('each pool has its pod', async () => {
        const counts = await Promise.all(apps.map((app) => runningPods(loop, app)));
        return counts.every((count) => count === 1) && (await settled());
      });
      const markets = liveInstances(loop).map((each) => each.reservationId ?? each.market);
      // It looks every ten seconds at what buffers name.
      expect(await watching).toEqual({ outcome: 'watched' });
      expect(new Set(markets)).toEqual(
        new Set(['spot', 'on-demand', RESERVATION.CapacityReservationId]),
      );
    });

    it('shadow looks at all of it and keeps what it would do', async () => {
      const folder = observationFolder(CLUSTER);
      const before = cloud.bucket.objects.size;
      const found = await world().invoke('shadow', {}, 60_000);
      expect(found).toMatchObject({ pending: 1, unplaced: 1, isKarpenterActive: false });
      const keys = [...cloud.bucket.objects.keys()].filter((key) => key.startsWith(folder));
      expect([keys.length, cloud.bucket.objects.size]).toEqual([1, before + 1]);
      const text = plainText(cloud.bucket.objects.get(keys[0] ?? '') ?? Buffer.of());
      const observation = observationSchema.parse(JSON.parse(text));
      const claims = await loop.list(RESOURCES.nodeClaims);
      expect(observation.nodes.map(({ nodeClaim }) => nodeClaim)).toEqual(
        claims.map(nameOf).toSorted(),
      );
    });

    it('nodes whose pool has changed are replaced', async () => {
      const template = { ...onDemandPool.spec.template, metadata: { labels: { team: 'red' } } };
      await loop.apply([{ ...onDemandPool, spec: { ...onDemandPool.spec, template } }]);
      await world().until('its claims are new', async () => {
        const claims = (await loop.list(RESOURCES.nodeClaims)).filter(
          (each) => labelOf(each, 'karpenter.sh/nodepool') === 'on-demand',
        );
        const isNew = claims.every((each) => labelOf(each, 'team') === 'red');
        return isNew && claims.length > 0 && (await runningPods(loop, 'on-demand')) === 1;
      });
      const kinds = cloud.events.map(({ Detail = '' }) => String(JSON.parse(Detail).kind));
      expect(kinds).toEqual(expect.arrayContaining(['nodeclaim-created', 'nodeclaim-deleted']));
      await world().until('the old instance is gone', settled);
    });

    it('a pod that must not be evicted goes with the grace of its node', async () => {
      await loop.apply([patientPool, stubborn]);
      await world().until('it runs', async () => (await runningPods(loop, 'stubborn')) === 1);
      await loop.admin().delete(RESOURCES.nodePools, { name: 'patient' }, {});
      await world().until('it is drained', async () =>
        (await loop.list(RESOURCES.nodeClaims)).some(isDeleting),
      );
      // One pass rests for a moment only: a watch that begins then may not be answered.
      await world().invoke('lifecycle', {}, 28_000);
      await world().until('its node is gone', async () => {
        const pools = await loop.list(RESOURCES.nodePools);
        return !JSON.stringify(pools).includes('"patient"') && (await settled());
      });
    });

    it('a class gets another role, and everything goes with its pools and classes', async () => {
      // Templates of yesterday may go, unless somebody still starts from them.
      for (const [name, template] of cloud.account.templates) {
        const CreateTime = new Date(Date.now() - 24 * 3_600_000);
        cloud.account.templates.set(name, {
          ...template,
          about: { ...template.about, CreateTime },
        });
      }
      await world().functions.stop('nodeclass');
      const spec = { ...nodeClass.spec, role: 'other-nodes' };
      await loop.apply([{ ...nodeClass, spec }]);
      await world().invoke('nodeclass');
      const roles = [...cloud.profiles.profiles.values()].flatMap((each) => each.roles);
      // The profile that nodes run with keeps its role; the class's new one has another.
      expect(roles.toSorted()).toEqual(['nodes', 'nodes', 'other-nodes']);
      for (const name of ['secretive', 'too-large', 'reserved', 'on-demand', 'few', 'set']) {
        const kind = name === 'set' ? RESOURCES.statefulSets : RESOURCES.deployments;
        await loop.admin().delete(kind, { namespace: 'default', name }, {});
      }
      for (const name of ['general', 'reserved', 'on-demand', 'static']) {
        await loop.admin().delete(RESOURCES.nodePools, { name }, {});
      }
      for (const name of ['default', 'reserved']) {
        await loop.admin().delete(RESOURCES.nodeClasses, { name }, {});
      }
      await world().until('no class, claim, node or instance', async () => {
        const kinds = [RESOURCES.nodeClasses, RESOURCES.nodeClaims, RESOURCES.nodes];
        const left = await Promise.all(kinds.map((kind) => loop.list(kind)));
        return left.flat().length + liveInstances(loop).length === 0;
      });
      expect(cloud.account.templates.size).toBe(0);
      expect(cloud.profiles.profiles.size).toBe(0);
    });

    it('catalog reads types and prices into the bucket', async () => {
      cloud.account.instanceTypes = [C7G_LARGE];
      cloud.account.prices.set(poolKey('c7g.large', 'us-east-1b', 'spot'), 0.03);
      cloud.onDemandPrices.push({ instanceType: 'c7g.large', price: 0.0725 });
      expect(await world().invoke('catalog', { detail: { kind: 'all' } })).toEqual({ types: 1 });
      await world().functions.stop('catalog');
      const spotPrices = { detail: { kind: 'spot-prices' } };
      expect(await world().invoke('catalog', spotPrices)).toEqual({ types: 1 });
    });

    it('events publishes what was decided', async () => {
      const keys = [...cloud.bucket.objects.keys()].filter((key) => key.includes('/decisions/'));
      for (const key of keys.slice(-20)) {
        const detail = { bucket: { name: BUCKET }, object: { key } };
        await world().invoke('events', { source: 'aws.s3', detail });
      }
      const published = cloud.events.filter(({ Source }) => Source === DECISION_EVENT.source);
      expect(published.length).toBeGreaterThanOrEqual(20);
      for (const { Detail = '' } of published) {
        expect(decisionRecordSchema.safeParse(JSON.parse(Detail)).error).toBeUndefined();
      }
      const gone = { bucket: { name: BUCKET }, object: { key: 'clusters/demo/decisions/gone' } };
      const answer = await world().invoke('events', { detail: gone });
      expect(answer).toEqual({ published: 0, omitted: 0, faulty: 0 });
      const elsewhere = { ...gone, bucket: { name: 'of-somebody-else' } };
      const refused = world().invoke('events', { detail: elsewhere });
      await expect(refused).rejects.toThrow("is not the stack's bucket");
    });

    it('metrics writes what the functions have measured', async () => {
      const lines = world()
        .functions.output.join('')
        .split('\n')
        .filter((line) => line.startsWith(`{"kind":"${MEASUREMENTS_LINE}"`))
        .map((message, at) => ({ id: `${at}`, timestamp: Date.now(), message }));
      expect(lines.length).toBeGreaterThan(5);
      const delivery = deliveryOf(CLUSTER, 'lifecycle', lines);
      const counted = { lines: lines.length, faulty: 0 };
      expect(await world().invoke('metrics', delivery)).toEqual(counted);
      for (let minute = 0; minute < 2; minute += 1) {
        expect(await world().invoke('metrics')).toMatchObject({ failed: 0 });
      }
      const values = lastValues(readWriteRequest(world().remoteWrites.at(-1) ?? Buffer.of()));
      const sum = (name: string): number =>
        [...values].reduce(
          (all, [key, value]) => (key.startsWith(`${name}{`) ? all + value : all),
          0,
        );
      expect(sum('karpenter_nodes_created_total')).toBeGreaterThan(3);
      expect(sum('karpenter_nodes_terminated_total')).toBe(sum('karpenter_nodes_created_total'));
      expect(sum('karpenter_nodes_lifetime_duration_seconds_count')).toBeGreaterThan(3);
      expect(sum('karpenter_cluster_state_synced')).toBe(1);
      expect([...values.keys()].filter((key) => key.startsWith('workqueue_depth'))).toEqual([
        expect.stringContaining('name="interrupt"'),
      ]);
    });

    it('nothing that pods keep to themselves is in logs, memory, events or calls', async () => {
      const events = await loop.list(RESOURCES.events);
      const claims = await loop.list(RESOURCES.nodeClaims);
      const memory = [...cloud.bucket.objects].map(([key, body]) => [key, plainText(body)]);
      expect(memory.length).toBeGreaterThan(3);
      expect(memory.some(([key = '']) => key.includes('decisions/'))).toBe(true);
      const said = {
        log: world().functions.output.join(''),
        events: JSON.stringify([events, claims]),
        memory: JSON.stringify(memory),
        calls: JSON.stringify(cloud.server.calls),
      };
      expect(said.log).toContain('"message":"decision"');
      expect(said.memory).toContain('default/secretive-');
      for (const [place, text] of Object.entries(said)) {
        expect(text.includes(CANARY), place).toBe(false);
      }
    });

    it('metrics have the dimension by which alarms and dashboard look for them', () => {
      const lines = world().functions.output.join('').split('\n');
      const metrics = lines.filter((line) => line.startsWith('{"_aws"'));
      expect(metrics.length).toBeGreaterThan(5);
      expect(metrics.filter((line) => !line.includes('"Dimensions":[["cluster"]]'))).toEqual([]);
    });

    it('install: without the admin it finds that nothing is lacking, and asks for nodes', async () => {
      const { apply, roles, settings, settle, nodes } = INSTALL_STEPS;
      const unlent = { Admin: 'false', Policy: '', LeaveNodes: 'false', NodeRoles: 'arn:b' };
      for (const step of [apply, roles, settings, settle]) {
        const answer = await world().install('Update', step, unlent, { NodeRoles: 'arn:a' });
        expect(answer, answer.Reason).toMatchObject({ Status: 'SUCCESS' });
      }
      // A stack that becomes one that never acts asks for Karpenter's Lease, too.
      const shadow = { ...unlent, NodeRoles: '', Shadow: 'true' };
      expect(await world().install('Update', roles, shadow, { NodeRoles: 'arn:a' })).toMatchObject({
        Status: 'SUCCESS',
        Reason: 'Karpenter looks after the nodes, or there are none',
      });
      const answer = await world().install('Delete', nodes, unlent);
      expect(answer).toMatchObject({ Status: 'SUCCESS', Reason: 'no nodes are left' });
    });

    it('install: rights and memory go with the stack', async () => {
      for (const step of [INSTALL_STEPS.settings, INSTALL_STEPS.apply, INSTALL_STEPS.data]) {
        const answer = await world().install('Delete', step);
        expect(answer, answer.Reason).toMatchObject({ Status: 'SUCCESS' });
        expect(answer.Reason).not.toContain('left behind');
      }
      expect(cloud.bucket.objects.size).toBe(0);
    });

    it('the record of what the functions ask for is true', async () => {
      const text = recordText(recorder?.record(world().kube.requests) ?? {});
      if (process.env['JOINER_RECORD'] !== undefined) await writeFile(RECORD, text);
      const kept = JSON.parse(await readFile(RECORD, 'utf8')) as RequestRecord;
      const seen = JSON.parse(text) as RequestRecord;
      for (const name of FUNCTION_NAMES) {
        expect(beyond(seen, kept, name), `${name} asks for what is not in the record`).toEqual([]);
        expect(beyond(kept, seen, name), `${name} was not seen to ask for`).toEqual([]);
      }
    });
  },
  // What is asked for is recorded here, not when.
  { aws: 'instant' },
);

function nameOf(object: unknown): string {
  return textOf(property(property(object, 'metadata'), 'name'));
}

/** What one record has of a function, and the other neither has nor has what brings it now and then. */
function beyond(of: RequestRecord, other: RequestRecord, name: FunctionName): readonly string[] {
  const lines = (each: RequestRecord): readonly string[] => {
    const { aws = [], kubernetes = [] } = each[name] ?? {};
    return [...aws, ...withFollowing(kubernetes)].map((asked) => JSON.stringify(asked));
  };
  const known = new Set(lines(other));
  return lines(of).filter((line) => !known.has(line));
}

/** What is compressed would hide what it holds. */
function plainText(body: Buffer): string {
  const isGzip = body[0] === 0x1f && body[1] === 0x8b;
  return (isGzip ? gunzipSync(body) : body).toString('utf8');
}

function fail(): never {
  throw new Error('nothing is deployed');
}
