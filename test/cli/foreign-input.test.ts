import { describe, expect, it } from 'vitest';
import { NODE_CLASS, NODE_POOL } from './manifests.ts';
import { inFolder, joiner } from './run.ts';

const POOLS = [NODE_CLASS, NODE_POOL].join('---\n');
const workload = (more: string, cpu = '1'): string => `apiVersion: apps/v1
kind: Deployment
metadata: { name: web${more} }
spec:
  replicas: 2
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec:
      tolerations: [{ operator: Exists }]
      containers: [{ name: main, image: web, resources: { requests: { cpu: "${cpu}" } } }]
`;
const PATCH =
  'apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: web }\nspec: { replicas: 6 }\n';
const JOBS = `apiVersion: batch/v1
kind: Job
metadata: { name: once }
spec: { template: { spec: { containers: [{ name: a, image: a }] } } }
---
apiVersion: batch/v1
kind: CronJob
metadata: { name: nightly }
spec:
  schedule: "0 1 * * *"
  jobTemplate: { spec: { template: { spec: { containers: [{ name: a, image: a }] } } } }
`;

describe('files as people have them', () => {
  it('a patch of kustomize does not take the place of what it changes', async () => {
    const files = { 'a.yaml': workload(''), 'b.yaml': POOLS, 'overlay/patch.yaml': PATCH };
    await inFolder(files, async (folder) => {
      const { stdout, stderr } = await joiner('compare', folder, '--bare', '-o', 'json');
      expect(stderr).toContain('overlay/patch.yaml:1: Deployment/web is left out');
      expect(JSON.parse(stdout)).toMatchObject({ podsWaiting: 2 });
    });
  });

  it('a variable with a default takes the value that is given, and one that nobody names is told', async () => {
    await inFolder(
      { 'a.yaml': POOLS, 'b.yaml': workload('', `\${CPU:-3500m}`) },
      async (folder) => {
        const without = await joiner('compare', folder);
        expect(without.exitCode).toBe(2);
        expect(without.stderr).toContain(`\${CPU} is not set: give it as --var CPU=VALUE`);
        const given = await joiner('compare', folder, '--var', 'CPU=2', '--var', 'NOPE=1');
        expect(given.exitCode).toBe(0);
        expect(given.stderr).toContain(`--var NOPE: no manifest has \${NOPE}`);
      },
    );
  });

  it.each<[string, (objects: readonly object[]) => string]>([
    ['one in each line', (all) => all.map((each) => JSON.stringify(each)).join('\n')],
    ['on many lines', (all) => all.map((each) => `${JSON.stringify(each, null, 2)}\n`).join('')],
    ['without a break', (all) => all.map((each) => JSON.stringify(each)).join('')],
  ])('objects of JSON one behind the other, %s, are read as kubectl does', async (_, written) => {
    const named = (name: string, cpu: string) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, annotations: { text: '{{ $labels }} "} {"' } },
      spec: { containers: [{ name: 'main', image: 'a', resources: { requests: { cpu } } }] },
    });
    const files = { 'a.yaml': POOLS, 'b.json': written([named('a', '1'), named('b', '1')]) };
    await inFolder(files, async (folder) => {
      const { stdout } = await joiner('compare', folder, '--bare', '-o', 'json');
      expect(JSON.parse(stdout)).toMatchObject({ podsWaiting: 2 });
    });
    const faulty = written([named('a', '1'), named('b', '1x')]);
    await inFolder({ 'a.yaml': POOLS, 'b.json': faulty }, async (folder) => {
      const { exitCode, stderr } = await joiner('compare', folder);
      expect({ exitCode, lines: stderr.trimEnd().split('\n').length }).toEqual({
        exitCode: 2,
        lines: 1,
      });
      expect(stderr).toContain('Pod/b: spec.containers[0].resources.requests.cpu must be');
    });
  });

  it('a chart beside manifests is no fault of them', async () => {
    const files = { 'Chart.yaml': 'name: a\nversion: 1\n', 'a.yaml': POOLS };
    await inFolder({ ...files, 'b.yaml': workload('', '500mi') }, async (folder) => {
      const { stderr } = await joiner('compare', folder);
      expect(stderr).toContain('must be a quantity');
      expect(stderr).not.toContain('helm template');
    });
    await inFolder({ 'Chart.yaml': files['Chart.yaml'] }, async (folder) => {
      const { stderr } = await joiner('compare', folder);
      expect(stderr).toContain('render Chart.yaml first, and give -: helm template CHART');
    });
  });

  it('a comparison says what counts of Jobs and CronJobs', async () => {
    await inFolder({ 'a.yaml': POOLS, 'b.yaml': JOBS }, async (folder) => {
      const { stderr } = await joiner('compare', folder);
      expect(stderr).toContain('pods of Jobs count as if they ran all the time: Job/once');
      expect(stderr).toContain('pods of CronJobs are not counted: CronJob/nightly');
      expect(stderr).not.toContain('schedule');
    });
  });
});
