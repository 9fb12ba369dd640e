import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { withLiveCluster } from '../../cli/live.ts';
import { marketOf } from '../../cli/market.ts';
import { previewedOn } from '../../cli/plan/basis.ts';
import { observationSchema } from '../../shared/api/observation.ts';
import { RESOURCES } from '../../shared/api/resources.ts';
import { observationFolder } from '../../shared/aws/memory/observation-log.ts';
import type { PlannedNodeClaim } from '../../shared/core/model/plan.ts';
import { firstFit } from '../../shared/core/scheduling/first-fit/first-fit.ts';
import { property, text } from '../../shared/kube/list.ts';
import { planningOf } from '../../shared/preview/preview.ts';
import { joiner } from '../cli/run.ts';
import { validated } from '../cli/validated.ts';
import { BUCKET, CLUSTER } from '../support/aws/cloud.ts';
import { WireFault } from '../support/aws/wire/response.ts';
import { deployment, nodeClass, nodePool } from '../support/closed-loop/manifests.ts';
import { claimsOf, unschedulablePods } from '../support/closed-loop/questions.ts';
import { look } from '../support/closed-loop/shadow.ts';
import { describeClosedLoop } from '../support/closed-loop/world.ts';
import { writeKubeconfig } from '../support/control-plane/kubeconfig.ts';
import { readManifests } from '../support/control-plane/manifests.ts';
import { HASH_VERSIONS, StandInKarpenter } from '../support/karpenter/stand-in.ts';

const LEADER = 'karpenter-0';
const GROUP = 'rbac.authorization.k8s.io';
const requirements = [
  { key: 'karpenter.sh/capacity-type', operator: 'In', values: ['on-demand'] },
  { key: 'karpenter.k8s.aws/instance-family', operator: 'In', values: ['c6a', 'm6a', 'r6a'] },
];
const WRITES: ReadonlySet<string> = new Set(['create', 'update', 'patch', 'delete']);
/** A function's own Lease, which it holds while it looks. */
const OWN = new Set(['leases', 'subjectaccessreviews', 'selfsubjectaccessreviews']);

/** A NodeClaim as Karpenter writes it for a plan of its rules, with its instance. */
function claimOf({ nodePool: pool, chosen, requirements: all }: PlannedNodeClaim, at: number) {
  return {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodeClaim',
    metadata: {
      name: `${pool}-karpenter-${at}`,
      labels: {
        'karpenter.sh/nodepool': pool,
        'node.kubernetes.io/instance-type': chosen.type,
        'topology.kubernetes.io/zone': chosen.zone,
        'karpenter.sh/capacity-type': chosen.capacityType,
      },
    },
    spec: {
      nodeClassRef: { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' },
      requirements: all.map(({ key, operator, values }) => ({ key, operator, values })),
    },
  };
}

/** A report without what depends on when its observations were made; NodeClaims know seconds. */
function timeless({
  figures,
  launches,
  removals,
  timeline,
  ...report
}: Record<string, unknown>): unknown {
  const side = (each: unknown): unknown => ({
    ...Object(each),
    meanUsdPerHour: 0,
    pendingSeconds: 0,
  });
  const undated = (all: unknown): unknown =>
    (Array.isArray(all) ? all : []).map((each) => JSON.stringify({ ...each, at: '' })).sort();
  const { karpenter, joiner: own } = Object(figures);
  const amounts = ({ nodes, pending }: Record<string, unknown>): unknown => [nodes, pending];
  const moments = (Array.isArray(timeline) ? timeline : []).map((each) =>
    [each.karpenter, each.joiner].map(amounts),
  );
  return {
    ...report,
    from: '',
    to: '',
    figures: { karpenter: side(karpenter), joiner: side(own) },
    timeline: moments,
    launches: undated(launches),
    removals: undated(removals),
  };
}

await describeClosedLoop('joiner shadow beside a Karpenter that launches', (loop) => {
  let folder = '';
  let kubeconfig = '';
  let audited = 0;
  let karpenter: StandInKarpenter | undefined;
  const file = (): string => join(folder, 'shadow.ndjson');
  const record = () =>
    joiner('shadow', 'record', file(), '--kubeconfig', kubeconfig, '--region', 'us-east-1');

  /** What Joiner's functions have asked the API server for since the stand-in began. */
  const requests = async () => {
    const lines = (await readFile(loop.plane().auditLog, 'utf8')).split('\n').slice(audited);
    const events = lines.filter((line) => line !== '').map((line): unknown => JSON.parse(line));
    return events.map((event) => ({
      verb: text(property(event, 'verb')),
      resource: text(property(property(event, 'objectRef'), 'resource')),
      by: text(property(event, 'userAgent')),
    }));
  };
  const written = async (): Promise<readonly string[]> => {
    return (await requests())
      .filter(({ verb, resource }) => WRITES.has(verb) && !OWN.has(resource))
      .map(({ by, verb, resource }) => `${by} ${verb} ${resource}`);
  };
  /** Keys of what the function has kept. */
  const observed = (): readonly string[] => {
    const folder = observationFolder(CLUSTER);
    return [...loop.cloud.bucket.objects.keys()].filter((key) => key.startsWith(folder)).sort();
  };
  const versions = async (): Promise<string> => {
    const kinds = ['nodePools', 'nodeClaims', 'nodes', 'pods'] as const;
    return JSON.stringify(await Promise.all(kinds.map((kind) => loop.list(RESOURCES[kind]))));
  };
  /** What Karpenter's rules plan for the pods that wait. */
  const byKarpentersRules = async (): Promise<readonly PlannedNodeClaim[]> =>
    await withLiveCluster('test', { kubeconfig }, async (live) => {
      const options = { kubeconfig, region: 'us-east-1' };
      const market = await marketOf(live, options);
      const previewed = await previewedOn(market, live, live.settings({}).stack);
      const { snapshot, settings } = await planningOf(previewed);
      return firstFit(snapshot, settings).newNodeClaims;
    });

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'joiner-shadow-'));
    // With the rights of docs/viewer-role.yaml alone: a write would be refused.
    kubeconfig = await writeKubeconfig(folder, loop.plane(), 'viewer');
    await loop.apply([
      ...(await readManifests('docs/viewer-role.yaml')),
      {
        apiVersion: `${GROUP}/v1`,
        kind: 'ClusterRoleBinding',
        metadata: { name: 'joiner:viewer' },
        roleRef: { apiGroup: GROUP, kind: 'ClusterRole', name: 'joiner:viewer' },
        subjects: [{ apiGroup: GROUP, kind: 'Group', name: 'joiner:viewer' }],
      },
      nodeClass,
      nodePool('api', requirements),
    ]);
    // As Karpenter would: with its images, subnets and security groups.
    await loop.invoke('nodeclass');
  });
  afterAll(async () => {
    await karpenter?.stop(LEADER);
    await rm(folder, { recursive: true, force: true });
  });

  it('records plans of pods that wait, and writes nothing', async () => {
    karpenter = new StandInKarpenter(loop.admin(), HASH_VERSIONS['1.15']);
    karpenter.start(LEADER);
    const leader = (): string => karpenter?.leader ?? '';
    await expect.poll(leader).toBe(LEADER);
    const log = await readFile(loop.plane().auditLog, 'utf8');
    audited = log.split('\n').length - 1;
    loop.cloud.server.calls.length = 0;
    await loop.apply([deployment('small', 5, '900m'), deployment('large', 2, '3')]);
    await expect.poll(() => unschedulablePods(loop)).toBe(7);
    const before = await versions();
    const { exitCode, stderr } = await record();
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
    expect(stderr).toContain('7 pending pods');
    // The functions look, too, and do nothing.
    await loop.tick();
    expect(await versions()).toBe(before);
    expect(await claimsOf(loop)).toEqual([]);
  });

  it('the function of a stack that never acts sees the same, and keeps it', async () => {
    const before = await versions();
    expect(await look()).toMatchObject({ pending: 7, unplaced: 0, isKarpenterActive: true });
    expect(await versions()).toBe(before);
    const [key = ''] = observed();
    const body = loop.cloud.bucket.objects.get(key) ?? Buffer.of();
    const kept = observationSchema.parse(JSON.parse(gunzipSync(body).toString('utf8')));
    const [line = ''] = (await readFile(file(), 'utf8')).split('\n');
    const recorded = observationSchema.parse(JSON.parse(line));
    expect({ ...kept, at: '', joiner: '' }).toEqual({ ...recorded, at: '', joiner: '' });
  });

  it('a run whose observation the bucket does not take fails, so that the alarm tells', async () => {
    const before = observed();
    const refused = new WireFault('AccessDenied', 'not for you', 403);
    loop.cloud.server.fail('s3', 'PutObject', refused, 1);
    await expect(look()).rejects.toThrow(
      'the observation was not written to the bucket: s3:PutObject: not for you',
    );
    expect(observed()).toEqual(before);
  });

  it('reports what Karpenter launched beside what Joiner planned', async () => {
    const planned = await byKarpentersRules();
    expect(planned.length).toBeGreaterThan(0);
    await loop.apply(planned.map(claimOf));
    expect((await record()).exitCode).toBe(0);
    await look();
    const [first] = await claimsOf(loop);
    const { name } = Object(property(first, 'metadata'));
    await loop.admin().delete(RESOURCES.nodeClaims, { name }, {});
    await loop.tick();
    expect((await record()).exitCode).toBe(0);
    await look();
    const { exitCode, stdout } = await joiner('shadow', 'report', file(), '-o', 'json');
    expect(exitCode).toBe(0);
    const report = JSON.parse(stdout);
    await validated('shadow', report);
    expect(report).toMatchObject({ observations: 3, withoutKarpenter: 0 });
    const { karpenter: actual, joiner: shadow } = report.figures;
    const price = planned.reduce((total, { chosen }) => total + chosen.listPrice, 0);
    expect(actual).toMatchObject({
      nodesLaunched: planned.length,
      launchedUsdPerHour: expect.closeTo(price, 6),
      nodesRemoved: 1,
    });
    expect(shadow.nodesLaunched).toBeGreaterThan(0);
    expect(shadow.launchedUsdPerHour).toBeLessThanOrEqual(price + 1e-9);
    expect(actual.pendingSeconds).toBeGreaterThan(0);
    // Its plan has a node for every pod: each waits the minute that a launch takes.
    expect(shadow.pendingSeconds).toBeGreaterThan(0);
    expect(shadow.pendingSeconds % 60).toBe(0);
  });

  it('reports the same from the bucket', async () => {
    const region = ['--region', 'us-east-1', '--bucket', BUCKET];
    const args = ['--cluster', CLUSTER, ...region, '-o', 'json'];
    const fromBucket = await joiner('shadow', 'report', ...args);
    expect(fromBucket).toMatchObject({ exitCode: 0, stderr: '' });
    const report = JSON.parse(fromBucket.stdout);
    await validated('shadow', report);
    const fromFile = await joiner('shadow', 'report', file(), '-o', 'json');
    const expected = JSON.parse(fromFile.stdout);
    // They looked one after the other: what takes time differs by the seconds between.
    expect(timeless(report)).toEqual(timeless(expected));
    expect(report.figures.joiner.pendingSeconds).toBe(expected.figures.joiner.pendingSeconds);
    expect(report.figures.karpenter.pendingSeconds).toBeGreaterThan(0);
  });

  it('of all requests to the cluster and to AWS, none of Joiner writes', async () => {
    expect(await written()).toEqual([]);
    const calls = loop.cloud.server.calls.map(({ operation }) => operation);
    const writing = /^(Create|Run|Terminate|Delete|Tag|Put|Modify|Add|Remove)/;
    // Its own memory: the records that say why nothing was done.
    const memory = calls.filter((each) => each === 'PutObject').length;
    expect(calls.filter((each) => writing.test(each))).toEqual(Array(memory).fill('PutObject'));
    expect([...loop.cloud.bucket.objects.keys()].filter((key) => !key.includes('demo'))).toEqual(
      [],
    );
    expect(observed()).toHaveLength(3);
  });

  it('of all requests of the function that looks, none but reads, not even for a Lease', async () => {
    const own = (await requests()).filter(({ by }) => by.startsWith('joiner-shadow/'));
    expect(own.length).toBeGreaterThan(30);
    expect([...new Set(own.map(({ verb }) => verb))].toSorted()).toEqual(['get', 'list']);
    const { calls } = loop.cloud.server;
    const ofAws = calls.filter(({ userAgent }) => /\bjoiner\/shadow\b/.test(userAgent));
    expect(new Set(ofAws.map(({ operation }) => operation))).toEqual(
      new Set(['DescribeCluster', 'ListObjectsV2', 'GetObject', 'PutObject']),
    );
    const puts = ofAws.filter(({ operation }) => operation === 'PutObject');
    // The one that was refused, too.
    expect(puts).toHaveLength(4);
  });
});
