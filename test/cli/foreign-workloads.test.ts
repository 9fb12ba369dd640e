import { describe, expect, it } from 'vitest';
import { DEPLOYMENT, NODE_CLASS, NODE_POOL, POD } from './manifests.ts';
import { inFolder, joiner } from './run.ts';

const POOL = NODE_POOL.replace(/ {6}taints:[\s\S]*?NoSchedule\n/, '');

/** A template of pods that request this much. */
const template = (annotations = ''): string => `template:
  metadata:
    labels: { app: work }
    annotations: {${annotations}}
  spec:
    restartPolicy: Never
    containers:
      - name: work
        image: example.com/work
        resources: { requests: { cpu: 500m } }
`;

function indented(text: string, by: number): string {
  return text.replaceAll(/^(?=.)/gm, ' '.repeat(by));
}

const job = (annotations = ''): string =>
  `apiVersion: batch/v1\nkind: Job\nmetadata: { name: load }\nspec:\n${indented(template(annotations), 2)}`;

const cronJob = (spec: string, annotations = ''): string => `apiVersion: batch/v1
kind: CronJob
metadata: { name: report }
spec:
${indented(spec, 2)}
  jobTemplate:
    spec:
${indented(template(annotations), 6)}`;

const custom = (apiVersion: string, kind: string, name: string): string =>
  `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: { name: ${name} }\nspec:\n  replicas: 3\n${indented(template(), 2)}`;

async function run(duration: string, manifests: readonly string[], files = {}) {
  const world = { 'world.yaml': [NODE_CLASS, POOL, ...manifests].join('---\n'), ...files };
  const answer = await inFolder(world, (folder) => {
    const scenario = 'scenario.yaml' in files ? ['--scenario', `${folder}/scenario.yaml`] : [];
    return joiner('simulate', folder, '--bare', '--duration', duration, '-o', 'json', ...scenario);
  });
  expect(answer.exitCode, answer.stderr).toBe(0);
  return { ...answer, state: JSON.parse(answer.stdout) };
}

describe('work that ends', () => {
  it('a Job ends after the default time, and a note says so', async () => {
    const { state, stderr } = await run('10m', [job()]);
    expect(state.pods).toMatchObject({ running: 0, succeeded: 1, pending: [] });
    expect(stderr).toContain('pods of Jobs end after 5m');
    expect(stderr).toContain('joiner.dev/simulated-duration');
    expect(stderr).toContain('Job/load');
  });

  it('Jobs that leave their names to the API server all run', async () => {
    const unnamed = job().replace('name: load', 'generateName: load-');
    const { state } = await run('3m', [unnamed, unnamed]);
    expect(state.pods).toMatchObject({ running: 2 });
  });

  it('the annotation says otherwise', async () => {
    const { state, stderr } = await run('10m', [job('joiner.dev/simulated-duration: 1h')]);
    expect(state.pods).toMatchObject({ running: 1, succeeded: 0 });
    expect(stderr).not.toContain('Jobs end');
  });

  it('a CronJob starts a Job at each time of its schedule', async () => {
    const one = 'joiner.dev/simulated-duration: 1m';
    const { state, stderr } = await run('34m', [cronJob('schedule: "*/10 * * * *"', one)]);
    expect(state.pods).toMatchObject({ running: 0, succeeded: 3, pending: [] });
    expect(stderr).toContain('CronJob/report');
  });

  it('keeps as many ended Jobs as its history', async () => {
    const spec = 'schedule: "*/10 * * * *"\nsuccessfulJobsHistoryLimit: 1';
    const one = 'joiner.dev/simulated-duration: 1m';
    const { state } = await run('34m', [cronJob(spec, one)]);
    expect(state.pods).toMatchObject({ running: 0, succeeded: 1 });
  });

  it('goes by its time zone', async () => {
    const spec = 'schedule: "5 9 * * *"\ntimeZone: Asia/Tokyo';
    const { state } = await run('9m', [cronJob(spec)]);
    expect(state.pods).toMatchObject({ running: 1 });
  });

  it.each([
    ['suspend: true', 0],
    ['concurrencyPolicy: Allow', 3],
    ['concurrencyPolicy: Forbid', 1],
    ['concurrencyPolicy: Replace', 1],
  ])('%s', async (policy, running) => {
    const spec = `schedule: "*/2 * * * *"\n${policy}`;
    const { state } = await run('7m', [cronJob(spec, 'joiner.dev/simulated-duration: 1h')]);
    expect(state.pods.running).toBe(running);
  });

  it('a CronJob that is deleted takes its Jobs with it', async () => {
    const long = 'joiner.dev/simulated-duration: 1h';
    const scenario = 'steps:\n  - at: 5m\n    delete: [{ kind: CronJob, name: report }]\n';
    const { state } = await run('8m', [cronJob('schedule: "*/2 * * * *"', long)], {
      'scenario.yaml': scenario,
    });
    expect(state.pods.running).toBe(0);
  });

  it.each([
    ['schedule: often', 'spec.schedule must be a cron schedule such as'],
    ['schedule: "* * * * *"\ntimeZone: Mars/Base', 'spec.timeZone must be a time zone such as'],
  ])('refuses %s', async (spec, says) => {
    const text = cronJob(spec);
    const answer = await inFolder({ 'a.yaml': text }, (folder) => joiner('simulate', folder));
    expect(answer.exitCode).toBe(2);
    expect(answer.stderr).toContain(says);
  });
});

describe('workloads that are not of apps/v1', () => {
  it.each([
    ['v1', 'ReplicationController'],
    ['argoproj.io/v1alpha1', 'Rollout'],
    ['apps.kruise.io/v1alpha1', 'CloneSet'],
    ['apps.kruise.io/v1beta1', 'StatefulSet'],
    ['example.com/v1', 'Workers'],
  ])('%s %s runs by its pod template', async (apiVersion, kind) => {
    const { state, stderr } = await run('5m', [custom(apiVersion, kind, 'web')]);
    expect(state.pods).toMatchObject({ running: 3, pending: [] });
    expect(stderr).toMatch(new RegExp(`run by their pod template.*: ${kind}/web`));
  });

  it('a DaemonSet of another group runs on every node', async () => {
    const { state } = await run('5m', [
      custom('apps.kruise.io/v1alpha1', 'DaemonSet', 'agent'),
      POD,
    ]);
    expect(state.pods).toMatchObject({ running: 2 });
  });

  it('a kind without a pod template is ignored', async () => {
    const text =
      'apiVersion: argoproj.io/v1alpha1\nkind: Rollout\nmetadata: { name: web }\n' +
      'spec: { workloadRef: { kind: Deployment, name: web } }\n';
    const { state, stderr } = await run('3m', [text, DEPLOYMENT]);
    expect(state.pods.running).toBe(2);
    expect(stderr).toContain('ignored kinds: Rollout');
  });

  it('a scenario deletes it by its own kind', async () => {
    const scenario = 'steps:\n  - at: 3m\n    delete: [{ kind: Rollout, name: web }]\n';
    const { state } = await run('6m', [custom('argoproj.io/v1alpha1', 'Rollout', 'web')], {
      'scenario.yaml': scenario,
    });
    expect(state).toMatchObject({ rejected: {}, pods: { running: 0 } });
  });
});

const volume = (zone: string): string => `apiVersion: v1
kind: PersistentVolume
metadata: { name: disk }
spec:
  capacity: { storage: 10Gi }
  csi: { driver: ebs.csi.aws.com, volumeHandle: vol-1 }
  nodeAffinity:
    required:
      nodeSelectorTerms:
        - matchExpressions:
            - { key: topology.kubernetes.io/zone, operator: In, values: [${zone}] }
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: { name: data }
spec: { volumeName: disk, storageClassName: "" }
`;
const MOUNTING = POD.replace(
  'spec:\n',
  'spec:\n  volumes:\n    - name: data\n      persistentVolumeClaim: { claimName: data }\n',
);

describe('what Kubernetes takes and YAML 1.2 or older versions do not', () => {
  it.each([
    ['yes', '950', 1],
    ['off', '950', 1],
    ['Yes', '900', 0],
  ] as const)(
    'hostNetwork: %s with a toleration beyond 900 of a taint of %s',
    async (flag, value, running) => {
      const pool = POOL.replace(
        '      nodeClassRef:',
        `      taints: [{ key: sla, value: "${value}", effect: NoSchedule }]\n      nodeClassRef:`,
      );
      const toleration = '{ key: sla, operator: Gt, value: "900" }';
      const pod = POD.replace(
        'spec:\n',
        `spec:\n  hostNetwork: ${flag}\n  tolerations: [${toleration}]\n`,
      );
      const answer = await inFolder({ 'a.yaml': [NODE_CLASS, pool, pod].join('---\n') }, (folder) =>
        joiner('simulate', folder, '--bare', '--duration', '5m', '-o', 'json'),
      );
      expect(answer.exitCode, answer.stderr).toBe(0);
      expect(JSON.parse(answer.stdout).pods.running).toBe(running);
    },
  );
});

describe('what manifests name that is elsewhere', () => {
  it('a claim is bound to the volume that it names', async () => {
    const { state } = await run('3m', [volume('us-east-1c'), MOUNTING]);
    expect(state.pods).toMatchObject({ running: 1, pending: [] });
    expect(state.nodes[0].zone ?? JSON.stringify(state.nodeClaims[0])).toContain('us-east-1c');
  });

  it('a claim of a volume that is nowhere is told', async () => {
    const [, claim = ''] = volume('us-east-1c').split('---\n');
    const { stderr } = await run('3m', [claim, MOUNTING]);
    expect(stderr).toContain(
      'PersistentVolumeClaim/data: spec.volumeName: there is no PersistentVolume disk',
    );
  });

  it('a NodePool of Auto Mode says what it is', async () => {
    const auto = POOL.replace('name: general', 'name: auto')
      .replace('group: karpenter.k8s.aws', 'group: eks.amazonaws.com')
      .replace('kind: EC2NodeClass', 'kind: NodeClass');
    const { stderr, stdout } = await run('3m', [auto, POD]);
    expect(stderr).toContain('NodePool/auto: its class is a NodeClass of EKS Auto Mode');
    expect(stdout).not.toContain('NodeClassNotFound');
    const alone = await inFolder({ 'a.yaml': `${auto}---\n${POD}` }, (folder) =>
      joiner('simulate', folder, '--duration', '2m'),
    );
    expect(alone.stdout).not.toContain('NodeClassNotFound');
    expect(alone.stdout).toContain('EKSAutoMode');
  });

  it('a ResourceQuota does not bound pods, and a note says so', async () => {
    const quota =
      'apiVersion: v1\nkind: ResourceQuota\nmetadata: { name: few }\nspec: { hard: { pods: 0 } }\n';
    const { state, stderr } = await run('3m', [quota, POD]);
    expect(state.pods.running).toBe(1);
    expect(stderr).toContain('not enforced, so that pods beyond them count: ResourceQuota/few');
    expect(stderr).not.toContain('ignored kinds');
  });

  it('reservations that nothing matches are told', async () => {
    const reserved = NODE_CLASS.replace('name: default', 'name: reserved').replace(
      '  kubelet:',
      '  capacityReservationSelectorTerms:\n    - tags: { team: web }\n  kubelet:',
    );
    const { stderr } = await run('1m', [reserved]);
    expect(stderr).toMatch(
      /EC2NodeClass\/reserved: spec.capacityReservationSelectorTerms match nothing: the account has none/,
    );
  });
});
