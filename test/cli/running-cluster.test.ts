import { beforeAll, describe, expect, it } from 'vitest';
import { loadManifests } from '../../cli/simulate/load.ts';
import { prepareSimulation, runUntil } from '../../cli/simulate/run.ts';
import { loadCatalog } from '../../shared/catalog/catalog.ts';
import { listAt, objectAt, textAt } from '../../shared/sim/json.ts';
import type { FinalState } from '../../shared/sim/report.ts';
import type { KubeObject } from '../../shared/sim/store.ts';
import { NODE_CLASS } from './manifests.ts';
import { inFolder, joiner } from './run.ts';

const POOL = `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: { name: general }
spec:
  disruption: { consolidateAfter: 1m }
  template:
    spec:
      expireAfter: 20m
      requirements:
        - { key: node.kubernetes.io/instance-type, operator: In, values: [m6i.xlarge] }
        - { key: karpenter.sh/capacity-type, operator: In, values: [on-demand] }
        - { key: topology.kubernetes.io/zone, operator: In, values: [us-east-1b] }
      nodeClassRef: { group: karpenter.k8s.aws, kind: EC2NodeClass, name: default }
`;

const workload = (name: string): string => `apiVersion: apps/v1
kind: Deployment
metadata: { name: ${name}, namespace: default }
spec:
  selector: { matchLabels: { app: ${name} } }
  template:
    metadata: { labels: { app: ${name} } }
    spec:
      containers: [{ name: main, image: app, resources: { requests: { cpu: "3" } } }]
`;

const KINDS = ['NodePool', 'EC2NodeClass', 'NodeClaim', 'Node', 'Deployment', 'ReplicaSet', 'Pod'];

/** With ids of a real account, and of a later day than the simulated one. */
function asReal(text: string): string {
  return text
    .replaceAll('"2026-01-01T', '"2027-03-28T')
    .replaceAll(/\b(ami|subnet|sg|i)-[0-9a-f]{2}([0-9a-f]{15})/g, '$1-ee$2');
}

/** As `kubectl get … -o json` prints a cluster of which half has become idle. */
async function dumped(): Promise<string> {
  const files = { 'all.yaml': [NODE_CLASS, POOL, workload('web'), workload('idle')].join('---\n') };
  const manifests = await inFolder(files, async (folder) =>
    loadManifests([folder], 'us-east-1', new Map(), () => {}),
  );
  const catalog = await loadCatalog('us-east-1');
  const prepared = await prepareSimulation({ catalog, seed: 7, manifests });
  await runUntil(prepared, 10 * 60_000);
  const items = KINDS.flatMap((kind) => prepared.world.store.list(kind)).filter(
    ({ metadata }) => !metadata.name.startsWith('idle'),
  );
  return asReal(JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
}

describe('a cluster that runs, as kubectl prints it', () => {
  let dump = '';
  beforeAll(async () => {
    dump = await dumped();
  });

  async function simulated(...options: readonly string[]): Promise<FinalState> {
    return simulatedOf(dump, ...options);
  }

  async function simulatedOf(text: string, ...options: readonly string[]): Promise<FinalState> {
    const answer = await inFolder({ 'all.json': text }, (folder) =>
      joiner('simulate', folder, '--bare', '-o', 'json', ...options),
    );
    expect(answer).toMatchObject({ exitCode: 0, stderr: '' });
    return JSON.parse(answer.stdout);
  }

  it('goes on with its nodes at their price, and none has drifted', async () => {
    const state = await simulated('--duration', '8m');
    const told = state.timeline.map(({ kind }) => kind);
    expect(told).not.toContain('drifted');
    expect(told).not.toContain('launched');
    expect(state.totals.launched).toBe(0);
    expect(state.nodeClaims).toMatchObject([
      { instanceType: 'm6i.xlarge', zone: 'us-east-1b', pricePerHour: 0.192 },
    ]);
    expect(state.nodeClaims[0]?.pods).toEqual([expect.stringMatching(/^default\/web-/)]);
  });

  it('loses its empty node after consolidateAfter', async () => {
    const { timeline, totals } = await simulated('--duration', '8m');
    const said = timeline.find(({ kind }) => kind === 'DisruptionTerminating');
    expect(said?.message).toBe('Disrupting Node: Empty');
    expect(totals).toMatchObject({ terminated: 1, evictions: 0 });
  });

  it('begins when it was read, with nodes as old as they are', async () => {
    const state = await simulated('--duration', '5m');
    expect(state.start).toBe('2027-03-28T00:02:00Z');
    expect(state.nodeClaims[0]?.ageSeconds).toBe(7 * 60);
    const later = await simulated('--duration', '25m');
    const expired = later.timeline.find(({ kind }) => kind === 'expired');
    expect(expired?.at).toBe(18 * 60);
  });

  it('launches more where its class has found subnets and images', async () => {
    const scale = 'steps: [{ at: 1m, scale: { name: web, replicas: 2 } }]';
    const state = await inFolder({ 'all.json': dump, 'scenario.yaml': scale }, async (folder) => {
      const scenario = ['--scenario', `${folder}/scenario.yaml`];
      const { stdout } = await joiner('simulate', `${folder}/all.json`, '-o', 'json', ...scenario);
      return JSON.parse(stdout);
    });
    expect(state.pods.pending).toEqual([]);
    expect(JSON.stringify(state.timeline)).not.toContain('Drift');
  });

  it('has no price where another region is asked for, and the summary says so', async () => {
    const { stdout } = await inFolder({ 'all.json': dump }, (folder) =>
      joiner('simulate', folder, '--bare', '--duration', '1m', '--region', 'eu-west-1'),
    );
    expect(stdout).toContain('not in it: 2 nodes without an instance here');
  });

  it('goes on as well with a class as it is kept in git, without a status', async () => {
    const { items, ...rest } = JSON.parse(dump);
    const kept = items.map(({ status, ...each }: { status?: object; kind: string }) =>
      each.kind === 'EC2NodeClass' ? each : { ...each, status },
    );
    const state = await simulatedOf(JSON.stringify({ ...rest, items: kept }), '--duration', '8m');
    expect(state.timeline.map(({ kind }) => kind)).not.toContain('drifted');
    expect(state.nodeClaims).toMatchObject([{ pricePerHour: 0.192 }]);
  });

  it('sees an instance join that was launched just before it was read', async () => {
    const { items, ...rest } = JSON.parse(dump);
    const [name] = (await simulated('--duration', '8m')).nodeClaims.map((each) => each.nodeName);
    const isOn = (each: { spec?: { nodeName?: string } }) => each.spec?.nodeName === name;
    const early = items.flatMap((each: KubeObject) => {
      const { nodeName, conditions, ...status } = objectAt(each, 'status');
      if (each.kind === 'Node' && each.metadata.name === name) return [];
      if (each.kind === 'Pod' && isOn(each as object)) return [];
      if (each.kind !== 'NodeClaim' || nodeName !== name) return [each];
      const launched = listAt(conditions).filter((one) => textAt(one, 'type') === 'Launched');
      return [{ ...each, status: { ...status, conditions: launched } }];
    });
    const text = JSON.stringify({ ...rest, items: early });
    const { nodeClaims, pods, totals } = await simulatedOf(text, '--duration', '2m');
    expect(totals).toMatchObject({ launched: 0, terminated: 0 });
    expect(nodeClaims.map(({ nodeName }) => nodeName)).toHaveLength(2);
    expect(pods).toMatchObject({ running: 1, pending: [] });
  });

  it('costs in the comparison what it costs', async () => {
    const { stdout } = await inFolder({ 'all.json': dump }, (folder) =>
      joiner('compare', folder, '--bare'),
    );
    expect(stdout).toMatch(/^runs now .* \$0\.3840 +2 /m);
    expect(stdout).toMatch(/^Joiner .* \$0\.1920 +1 /m);
    expect(stdout).toMatch(/ UNPLACED +EVICTIONS /);
    expect(stdout).toContain('Both results are then consolidated');
  });
});
