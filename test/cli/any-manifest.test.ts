import { chmodSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { DELIVERY, MONITORING, SHOP, USER_DATA } from './foreign/applications.ts';
import { DEPLOYMENT, NODE_CLASS, NODE_POOL, POD } from './manifests.ts';
import { type Answer, inFolder, joiner } from './run.ts';

const POOL = NODE_POOL.replace(/ {6}taints:[\s\S]*?NoSchedule\n/, '');
const GROUND = { 'pool.yaml': [NODE_CLASS, POOL].join('---\n') };
const variable = (name: string): string => `\${${name}}`;

function simulated(
  files: Readonly<Record<string, string>>,
  ...options: readonly string[]
): Promise<Answer> {
  return inFolder(files, (folder) =>
    joiner('simulate', folder, '--bare', '--duration', '3m', '-o', 'json', ...options),
  );
}

function podsOf({ stdout }: Answer): { readonly running: number; readonly pending: unknown } {
  return JSON.parse(stdout).pods;
}

describe('names in manifests', () => {
  it.each([
    ['a shop', SHOP, 2],
    ['a monitoring stack', `${MONITORING}---\n${POD}`, 1],
    ['a delivery tool', DELIVERY, 3],
  ])('%s with shell in it loads, and every pod is placed', async (_, text, running) => {
    const answer = await simulated({ ...GROUND, 'app.yaml': text });
    expect(answer.exitCode, answer.stderr).toBe(0);
    expect(answer.stderr).not.toContain('is not set');
    expect(podsOf(answer).pending).toEqual([]);
    expect(podsOf(answer).running).toBeGreaterThanOrEqual(running);
  });

  it('userData keeps its shell variables without a word', async () => {
    const { exitCode, stderr } = await simulated({ 'pool.yaml': `${NODE_CLASS}${USER_DATA}` });
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
    expect(stderr).not.toContain('is not set');
  });

  it('what is not set in a field that decisions read is said once', async () => {
    const role = NODE_CLASS.replace('node-role', variable('ROLE'));
    const { exitCode, stderr } = await simulated({ 'pool.yaml': `${role}---\n${POOL}` });
    expect(exitCode).toBe(0);
    const notes = stderr.split('\n').filter((line) => line.includes('is not set'));
    expect(notes).toHaveLength(1);
    expect(notes[0]).toContain('pool.yaml:6: EC2NodeClass/default: spec.role');
    expect(notes[0]).toContain('--var ROLE=VALUE');
  });

  it('a value that is refused says which name to give', async () => {
    const text = DEPLOYMENT.replace('replicas: 2', `replicas: ${variable('COUNT')}`);
    const { exitCode, stderr } = await simulated({ ...GROUND, 'a.yaml': text });
    expect(exitCode).toBe(2);
    expect(stderr).toContain('a.yaml:6: Deployment/web: spec.replicas must be a whole number');
    expect(stderr).toContain('give it as --var COUNT=VALUE');
  });

  it('a plain value becomes what YAML makes of it, a quoted one stays text', async () => {
    const text = DEPLOYMENT.replace('replicas: 2', `replicas: ${variable('COUNT')}`)
      .replace('          value: web', `          value: "${variable('TEAM')}"`)
      .replace('cpu: "1"', `cpu: ${variable('CPU')}`);
    const files = { ...GROUND, 'a.yaml': text };
    const options = ['COUNT=3', 'TEAM=7', 'CPU=500m'].flatMap((each) => ['--var', each]);
    const answer = await simulated(files, ...options);
    expect(answer.exitCode, answer.stderr).toBe(0);
    expect(podsOf(answer).running).toBe(3);
  });

  it('names in flow lists, and in the keys of tags, are put in', async () => {
    const tagged = NODE_CLASS.replace('  tags:\n    team: web\n  kubelet', '  kubelet').replace(
      '  subnetSelectorTerms:\n    - tags:\n        team: web',
      `  subnetSelectorTerms:\n    - tags:\n        kubernetes.io/cluster/${variable('CLUSTER_NAME')}: owned`,
    );
    const listed = POOL.replace('[m6i, m7i]', `[${variable('FAMILY')}, m7i]`);
    const files = { 'pool.yaml': [tagged, listed, POD].join('---\n') };
    const answer = await simulated(files, '--var', 'FAMILY=m6i');
    expect(answer.exitCode, answer.stderr).toBe(0);
    expect(answer.stderr).not.toContain('is not set');
    expect(podsOf(answer).running).toBe(1);
    const missing = await simulated(files);
    expect(missing.exitCode).toBe(2);
    expect(missing.stderr).toContain('give it as --var FAMILY=VALUE');
  });
});

const FOREIGN = {
  'chart/Chart.yaml': 'apiVersion: v2\nname: web\nversion: 1.0.0\n',
  'chart/values.yaml': 'replicas: 2\nkind: Deployment\n',
  'chart/templates/web.yaml':
    '{{- if .Values.on }}\napiVersion: v1\nkind: Pod\nmetadata:\n  name: {{ .Release.Name }}\n{{- end }}\n',
  'chart/templates/plain.yaml':
    'apiVersion: v1\nkind: Pod\nmetadata:\n  name: {{ .Release.Name }}\nspec: {}\n',
  'chart/templates/quoted.yaml':
    'apiVersion: v1\nkind: Pod\nmetadata:\n  name: "{{ .Release.Name }}-x"\n',
  'kustomization.yaml': 'resources: [pool.yaml]\n',
  'policy.json': '{"Version": "2012-10-17", "Statement": []}',
  'tsconfig.json': '{ // with a remark\n "a": 1 }',
  'list.yaml': '- one\n- two\n',
};

describe('what is no manifest', () => {
  it('in a folder is one note, counted by kind of file', async () => {
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    const answer = await simulated({ ...GROUND, 'pod.yaml': POD, ...FOREIGN });
    expect(answer.exitCode, answer.stderr).toBe(0);
    const [note, second] = answer.stderr.split('\n').filter((line) => line.includes('left out'));
    expect(second).toBeUndefined();
    for (const said of [
      '1 Helm chart (chart/Chart.yaml)',
      '1 Helm values (chart/values.yaml)',
      '1 kustomization (kustomization.yaml)',
      '2 JSON (policy.json, tsconfig.json)',
      '3 templates with {{ }} (chart/templates/plain.yaml, chart/templates/quoted.yaml, …)',
      '1 YAML without kind (list.yaml)',
    ]) {
      expect(note).toContain(said);
    }
    expect(podsOf(answer).running).toBe(1);
    expect(warned).not.toHaveBeenCalled();
    warned.mockRestore();
  });

  it.each(Object.keys(FOREIGN))('%s given by its name is an error', async (name) => {
    const { exitCode, stderr } = await inFolder({ ...FOREIGN, ...GROUND }, (folder) =>
      joiner('simulate', join(folder, 'pool.yaml'), join(folder, name)),
    );
    expect(exitCode).toBe(2);
    expect(stderr).toContain(`${name}:`);
    if (name.includes('templates')) expect(stderr).toContain('helm template');
  });

  it('an object that lacks only its apiVersion is an error', async () => {
    const text = POD.replace('apiVersion: v1\n', '');
    const { exitCode, stderr } = await simulated({ ...GROUND, 'pod.yaml': text });
    expect(exitCode).toBe(2);
    expect(stderr).toContain('pod.yaml:1: Pod/single: apiVersion is required');
  });

  it('of the same object the last counts, as with kubectl apply, and one note says so', async () => {
    const three = DEPLOYMENT.replace('replicas: 2', 'replicas: 3');
    const answer = await simulated({
      ...GROUND,
      'a.yaml': DEPLOYMENT,
      'b.yaml': `${three}---\n${three}`,
    });
    expect(answer.exitCode, answer.stderr).toBe(0);
    const notes = answer.stderr.split('\n').filter((line) => line.includes('same object'));
    expect(notes).toHaveLength(1);
    expect(notes[0]).toMatch(/b\.yaml:1: Deployment\/web counts, and not \S+a\.yaml:1: Deploy/);
    expect(podsOf(answer).running).toBe(3);
  });

  it('what YAML merges with << counts as if it were written there, as with kubectl apply', async () => {
    const text = `${POD}---
apiVersion: karpenter.sh/v1alpha1
kind: NodeOverlay
metadata: {name: dear}
spec:
  requirements:
  - &arch {key: kubernetes.io/arch, operator: In, values: [amd64]}
  - <<: *arch
    key: kubernetes.io/os
    values: [linux]
  price: '0.5'
`;
    const answer = await simulated({ ...GROUND, 'a.yaml': text });
    expect(answer, answer.stderr).toMatchObject({ exitCode: 0 });
    const { nodeClaims } = JSON.parse(answer.stdout);
    expect(nodeClaims[0]).toMatchObject({ overlays: ['dear'], adjustedPricePerHour: 0.5 });
  });

  it('a folder that links to itself is read once', async () => {
    const answer = await inFolder({ ...GROUND, 'app/pod.yaml': POD }, async (folder) => {
      symlinkSync(folder, join(folder, 'app', 'up'));
      symlinkSync(join(folder, 'app', 'pod.yaml'), join(folder, 'same.yaml'));
      symlinkSync(join(folder, 'nowhere.yaml'), join(folder, '.#lock.yaml'));
      return joiner('simulate', folder, '--bare', '--duration', '3m', '-o', 'json');
    });
    expect(answer.exitCode, answer.stderr).toBe(0);
    expect(podsOf(answer).running).toBe(1);
  });

  it('bytes that are no text are told', async () => {
    const answer = await inFolder(GROUND, async (folder) => {
      writeFileSync(join(folder, 'a.yaml'), Buffer.from([0x6b, 0xff, 0xfe, 0xc3, 0x28]));
      return joiner('simulate', folder);
    });
    expect(answer.exitCode).toBe(2);
    expect(answer.stderr).toMatch(/a\.yaml: is not a text file\n$/);
  });

  it.skipIf(process.getuid?.() === 0)('a file that may not be read is told', async () => {
    const answer = await inFolder({ ...GROUND, 'a.yaml': POD }, async (folder) => {
      chmodSync(join(folder, 'a.yaml'), 0);
      return joiner('simulate', folder);
    });
    expect(answer.stderr).toMatch(/a\.yaml: cannot be read: permission denied\n$/);
  });

  it('what joiner convert makes v1 of says so', async () => {
    const old = {
      'p.yaml': 'apiVersion: karpenter.sh/v1alpha5\nkind: Provisioner\nmetadata: {name: a}\n',
      'q.yaml': NODE_POOL.replace('karpenter.sh/v1', 'karpenter.sh/v1beta1'),
      'c.yaml': NODE_CLASS.replace('karpenter.k8s.aws/v1', 'karpenter.k8s.aws/v1beta1'),
    };
    const { exitCode, stderr } = await simulated(old);
    expect(exitCode).toBe(2);
    for (const name of Object.keys(old)) {
      expect(stderr).toMatch(new RegExp(`${name}:1: \\S+ .*joiner convert`));
    }
  });
});
