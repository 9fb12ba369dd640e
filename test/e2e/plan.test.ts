import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { RESOURCES } from '../../shared/api/resources.ts';
import { type Answer, joiner } from '../cli/run.ts';
import { apart, deployment, nodeClass, nodePool } from '../support/closed-loop/manifests.ts';
import {
  claimsOf,
  conditionOf,
  labelOf,
  nameOf,
  ourNodes,
  runningPods,
  unschedulablePods,
} from '../support/closed-loop/questions.ts';
import { describeClosedLoop, liveInstances } from '../support/closed-loop/world.ts';
import { writeKubeconfig } from '../support/control-plane/kubeconfig.ts';
import { readManifests } from '../support/control-plane/manifests.ts';

const requirements = [
  { key: 'kubernetes.io/arch', operator: 'In', values: ['amd64'] },
  { key: 'karpenter.sh/capacity-type', operator: 'In', values: ['on-demand'] },
  { key: 'karpenter.k8s.aws/instance-family', operator: 'In', values: ['c6a', 'm6a'] },
];
const pool = nodePool('api', requirements, { disruption: { budgets: [{ nodes: '100%' }] } });

await describeClosedLoop('joiner plan on a real control plane', (loop) => {
  let folder = '';
  let kubeconfig = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'joiner-plan-'));
    kubeconfig = await writeKubeconfig(folder, loop.plane());
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const plan = (...args: readonly string[]): Promise<Answer> =>
    joiner('plan', '--kubeconfig', kubeconfig, ...args);
  const explain = (...args: readonly string[]): Promise<Answer> =>
    joiner('explain', '--kubeconfig', kubeconfig, ...args);
  const file = async (object: object): Promise<string> => {
    const path = join(folder, 'changed.json');
    await writeFile(path, JSON.stringify(object));
    return path;
  };
  /** Everything that a preview might have written to. */
  const versions = async (): Promise<string> => {
    const kinds = ['nodePools', 'nodeClaims', 'nodeClasses', 'nodes', 'pods'] as const;
    const lists = await Promise.all(kinds.map((kind) => loop.list(RESOURCES[kind])));
    return JSON.stringify(lists);
  };

  it('of an empty cluster asks for the region, and then has nothing to do', async () => {
    const asked = await plan();
    expect(asked).toMatchObject({ exitCode: 2, stdout: '' });
    expect(asked.stderr).toContain('--region');
    expect((await plan('--region', 'eu-north-1')).exitCode).toBe(2);
    const { exitCode, stdout } = await plan('--region', 'us-east-1');
    expect(exitCode).toBe(0);
    expect(stdout).toContain('Nothing to launch or to remove.');
  });

  it('names what is then launched, and writes nothing', async () => {
    await loop.apply([nodeClass, pool]);
    await loop.invoke('nodeclass');
    await loop.apply([deployment('web', 9, '700m'), apart('api', 2)]);
    await expect.poll(() => unschedulablePods(loop)).toBe(11);
    const before = await versions();
    const { exitCode, stdout, stderr } = await plan('-o', 'json');
    expect({ exitCode, stderr }).toEqual({ exitCode: 3, stderr: '' });
    const asked = (await loop.list(RESOURCES.pods)).map(nameOf).sort()[0] ?? '';
    const why = await explain('pod', asked);
    expect(why).toMatchObject({ exitCode: 0, stderr: '' });
    expect(why.stdout).toMatch(/would get +a new node of NodePool api: /);
    expect(await versions()).toBe(before);
    const answer = JSON.parse(stdout);
    expect(answer.summary).toMatchObject({ pendingPods: 11, podsOnNewNodes: 11, failed: 0 });
    await loop.until('all run', async () => (await runningPods(loop)) === 11);
    await loop.until('all nodes are ready', async () =>
      (await claimsOf(loop, 'api')).every(
        (claim) => conditionOf(claim, 'Initialized')?.status === 'True',
      ),
    );
    const launched = liveInstances(loop).map(({ instanceType, zone }) => `${instanceType} ${zone}`);
    const planned = answer.newNodeClaims.map(
      ({ chosen }: { chosen: { type: string; zone: string } }) => `${chosen.type} ${chosen.zone}`,
    );
    expect(planned.sort()).toEqual(launched.sort());
    await expect.poll(async () => (await plan()).exitCode).toBe(0);
  });

  it('joiner top has what was launched, and what it costs', async () => {
    const { exitCode, stdout, stderr } = await joiner(
      'top',
      '--kubeconfig',
      kubeconfig,
      '-o',
      'json',
    );
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    const { nodes, nodePools } = JSON.parse(stdout);
    expect(nodes).toHaveLength(liveInstances(loop).length);
    expect(nodes.map(({ state }: { state: string[] }) => state.join())).not.toContain('NotReady');
    const [{ nodePool, pricePerHour, unpriced, cpu }] = nodePools;
    expect({ nodePool, unpriced }).toEqual({ nodePool: 'api', unpriced: 0 });
    expect(pricePerHour).toBeGreaterThan(0);
    expect(cpu.requested).toBe(9 * 700 + 2 * 1000);
    const wrong = await joiner('top', '--kubeconfig', kubeconfig, '--nodepool', 'absent');
    expect(wrong).toMatchObject({ exitCode: 2, stdout: '' });
    expect(wrong.stderr).toContain('there are: api');
  });

  it('joiner compare has what runs now, and where either way would come to rest', async () => {
    const before = await versions();
    const compare = ['compare', '--kubeconfig', kubeconfig];
    const { exitCode, stdout, stderr } = await joiner(...compare, '-o', 'json');
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    const { now, karpentersWay, joinersWay, podsRunning } = JSON.parse(stdout);
    const nodes = liveInstances(loop).length;
    expect({ podsRunning, nodes: now.nodes }).toEqual({ podsRunning: 11, nodes });
    expect(now).toMatchObject({ evictions: 0, nodesUnpriced: 0, podsLeft: 0 });
    for (const way of [karpentersWay, joinersWay]) {
      expect(way).toMatchObject({ podsPlaced: 11, podsLeft: 0, isExhausted: true });
      expect(way.usdPerHour).toBeLessThanOrEqual(now.usdPerHour);
    }
    const text = (await joiner(...compare)).stdout;
    for (const word of ['runs now', "Karpenter's rules", 'EVICTIONS', 'Joiner']) {
      expect(text).toContain(word);
    }
    expect(await versions()).toBe(before);
  });

  it('joiner budgets has what the pool allows', async () => {
    const budgets = ['budgets', '--kubeconfig', kubeconfig, '--next', '2d'];
    const { exitCode, stdout, stderr } = await joiner(...budgets, '-o', 'json');
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    const [{ nodePool, nodes, windows }] = JSON.parse(stdout).nodePools;
    expect({ nodePool, nodes }).toEqual({ nodePool: 'api', nodes: liveInstances(loop).length });
    expect(windows).toHaveLength(1);
    const reasons = ['Drifted', 'Empty', 'Underutilized', 'Unhealthy'];
    const all = Object.fromEntries(reasons.map((reason) => [reason, nodes]));
    // The NodePool does not ask for the return of its fallbacks.
    expect(windows[0].allowed).toEqual({ ...all, Fallback: 0 });
    const span = Date.parse(windows[0].to) - Date.parse(windows[0].from);
    expect(span).toBe(2 * 86_400_000);
    expect((await joiner(...budgets)).stdout).toContain('FROM (UTC)');
  });

  it('joiner explain knows pods, nodes and NodeClaims, and says which there are not', async () => {
    const pod = (await loop.list(RESOURCES.pods)).map(nameOf).sort()[0] ?? '';
    const nodes = (await ourNodes(loop)).map(nameOf);
    const answer = JSON.parse((await explain('pod', pod, '-o', 'json')).stdout);
    expect(answer).toMatchObject({ pod: `default/${pod}`, place: { kind: 'bound' } });
    expect(nodes).toContain(answer.place.node);
    const [node = ''] = nodes;
    const ofNode = await explain('node', node);
    expect(ofNode).toMatchObject({ exitCode: 0, stderr: '' });
    const claim = /^NodeClaim (\S+)$/m.exec(ofNode.stdout)?.[1] ?? '';
    expect((await explain('nodeclaim', claim)).stdout).toContain(node);
    for (const kind of ['pod', 'node', 'nodeclaim']) {
      const absent = await explain(kind, 'absent');
      expect(absent).toMatchObject({ exitCode: 1, stdout: '' });
      expect(absent.stderr).toContain('error: there is no ');
    }
    expect((await explain('pool', 'api')).exitCode).toBe(2);
  });

  it('joiner explain tells the pods of a workload together', async () => {
    const running = await runningPods(loop);
    const web = JSON.parse((await explain('deploy/web', '-o', 'json')).stdout);
    expect(web).toMatchObject({ kind: 'workload', workload: 'Deployment', namespace: 'default' });
    expect(web.pods).toHaveLength(9);
    for (const { phase, place } of web.pods) {
      expect({ phase, kind: place.kind }).toEqual({ phase: 'Running', kind: 'bound' });
    }
    const both = JSON.parse((await explain('deployment', 'api', '-o', 'json')).stdout);
    expect(both.pods.length + web.pods.length).toBe(running);
    const { stdout } = await explain('deployments.apps/web');
    expect(stdout).toMatch(/Deployment default\/web\n {2}\d of 9 {3}Running, on /);
    const absent = await explain('deploy/wbe');
    expect(absent).toMatchObject({ exitCode: 1, stdout: '' });
    expect(absent.stderr).toContain('no pod of Deployment wbe in namespace default (did you mean');
  });

  it("joiner explain looks into the namespace of the kubeconfig's context", async () => {
    const elsewhere = join(folder, 'elsewhere');
    const config = JSON.parse(await readFile(kubeconfig, 'utf8'));
    config.contexts[0].context.namespace = 'elsewhere';
    await writeFile(elsewhere, JSON.stringify(config));
    const args = ['explain', 'deploy/web', '--kubeconfig', elsewhere];
    expect((await joiner(...args)).stderr).toContain('Deployment web in namespace elsewhere');
    expect((await joiner(...args, '-n', 'default')).exitCode).toBe(0);
  });

  it('with a manifest says how the answer differs', async () => {
    const more = await plan('-f', await file(apart('api', 5)), '-o', 'json');
    expect(more.exitCode).toBe(3);
    const answer = JSON.parse(more.stdout);
    expect(answer.summary.pendingPods).toBe(3);
    expect(answer.before.summary.pendingPods).toBe(0);
    const template = { ...pool.spec.template, metadata: { labels: { team: 'red' } } };
    const red = { ...pool, spec: { ...pool.spec, template } };
    const drifted = await plan('-f', await file(red));
    const claims = await claimsOf(loop, 'api');
    expect(drifted.stdout).toContain(`drifted 0 → ${claims.length}`);
    expect(claims.map((each) => labelOf(each, 'team'))).not.toContain('red');
  });

  it('takes no right but to read, and names all that are missing', async () => {
    const viewer = await writeKubeconfig(folder, loop.plane(), 'viewer');
    const as = (...args: readonly string[]) => joiner(...args, '--kubeconfig', viewer);
    const refused = await as('plan');
    expect(refused).toMatchObject({ exitCode: 1, stdout: '' });
    expect(refused.stderr).toMatch(/^error: (get|list) \S+: .*forbidden/);
    expect(refused.stderr).toContain('nodepools.karpenter.sh, nodeclaims.karpenter.sh, nodeover');
    expect(refused.stderr).toContain('poddisruptionbudgets.policy, leases.coordination.k8s.io');
    expect(refused.stderr).toContain('viewer-role.yaml');
    const subjects = [
      { apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'joiner:viewer' },
    ];
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole' };
    await loop.apply([
      ...(await readManifests('docs/viewer-role.yaml')),
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRoleBinding',
        metadata: { name: 'joiner:viewer' },
        roleRef: { ...roleRef, name: 'joiner:viewer' },
        subjects,
      },
    ]);
    const [node = ''] = (await ourNodes(loop)).map(nameOf);
    const ofAdmin = await plan();
    await expect.poll(async () => (await as('plan')).exitCode).toBe(ofAdmin.exitCode);
    expect((await as('plan')).stdout).toBe(ofAdmin.stdout);
    for (const args of [['top'], ['budgets'], ['compare'], ['explain', 'node', node]]) {
      expect(await as(...args)).toMatchObject({ exitCode: 0, stderr: '' });
    }
    Object.defineProperty(process.stderr, 'isTTY', { value: true, configurable: true });
    expect((await as('plan')).stderr).toContain('looking for disruptions of ');
    expect((await as('plan', '-q')).stderr).toBe('');
    Object.defineProperty(process.stderr, 'isTTY', { value: false, configurable: true });
    const advised = await as('advise', '-o', 'json');
    expect(advised).toMatchObject({ exitCode: 0, stderr: '' });
    const { advice, notes } = JSON.parse(advised.stdout);
    expect(advice.map(({ object }: { object: string }) => object)).toContain('NodePool/api');
    expect(notes).toContain('requests are not compared with usage: metrics.k8s.io is not served');
    const asked = await joiner('complete', '--', 'explain', '--kubeconfig', viewer, 'node', '');
    expect(asked.stdout).toContain(`${node}\n`);
    const written = await as('pause', 'launch');
    expect(written.exitCode).toBe(1);
  });

  it('says what is paused, and names the nodes that are empty', async () => {
    const metadata = { namespace: 'kube-system', name: 'joiner' };
    const pause = { apiVersion: 'v1', kind: 'ConfigMap', metadata };
    await loop.apply([{ ...pause, data: { 'pause.disrupt': 'on' } }]);
    await loop.apply([apart('api', 0), deployment('web', 0, '700m')]);
    await expect.poll(() => runningPods(loop)).toBe(0);
    const claims = await claimsOf(loop, 'api');
    const removed = async (): Promise<number> =>
      (await plan()).stdout.match(/The node is empty/g)?.length ?? 0;
    // Pods were nominated to them a moment ago.
    await expect.poll(removed).toBe(claims.length);
    const { exitCode, stdout } = await plan();
    expect(exitCode).toBe(3);
    expect(stdout).toContain('note: disrupt is paused');
    expect(stdout).toMatch(/\/h now, \$0\.0000\/h after\n$/);
    expect((await plan('--region', 'us-west-2')).stderr).toContain('the cluster is in us-east-1');
  });

  it('refuses manifests that are wrong, naming the field', async () => {
    const spec = { ...pool.spec, weight: 101 };
    const { exitCode, stdout, stderr } = await plan('-f', await file({ ...pool, spec }));
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain('NodePool/api: spec.weight');
  });
});
