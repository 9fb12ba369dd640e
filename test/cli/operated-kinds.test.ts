import { describe, expect, it } from 'vitest';
import { NODE_CLASS, NODE_POOL } from './manifests.ts';
import { inFolder, joiner } from './run.ts';

async function notes(...objects: readonly object[]): Promise<readonly string[]> {
  const items = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects });
  const files = { 'pools.yaml': `${NODE_CLASS}---\n${NODE_POOL}`, 'objects.json': items };
  const { exitCode, stderr } = await inFolder(files, (folder) =>
    joiner('simulate', folder, '--bare', '--duration', '1m'),
  );
  expect(exitCode, stderr).toBe(0);
  return stderr.split('\n').filter((line) => line.includes('of these, which are not counted'));
}

function object(apiVersion: string, kind: string, spec: object): object {
  return { apiVersion, kind, metadata: { name: 'load' }, spec };
}

const template = { spec: { containers: [{ name: 'main', image: 'example.com/work:1' }] } };

describe('a kind of which an operator makes pods', () => {
  it.each<[string, object, string]>([
    [
      'SparkApplication',
      object('sparkoperator.k8s.io/v1beta2', 'SparkApplication', {
        driver: { cores: 1, memory: '512m' },
        executor: { cores: 1, instances: 4, memory: '512m' },
      }),
      'SparkApplication/load (instances 4)',
    ],
    [
      'SparkApplication that says no number of executors',
      object('sparkoperator.k8s.io/v1beta2', 'SparkApplication', {
        driver: { cores: 1, memory: '512m' },
      }),
      'SparkApplication/load',
    ],
    [
      'JobSet',
      object('jobset.x-k8s.io/v1alpha2', 'JobSet', {
        replicatedJobs: [{ name: 'workers', template: { spec: { parallelism: 4, template } } }],
      }),
      'JobSet/load (parallelism 4)',
    ],
    [
      'Workflow',
      object('argoproj.io/v1alpha1', 'Workflow', {
        templates: [{ name: 'main', container: { image: 'docker/whalesay' } }],
      }),
      'Workflow/load',
    ],
    [
      'CronWorkflow',
      object('argoproj.io/v1alpha1', 'CronWorkflow', {
        workflowSpec: { templates: [{ name: 'main', script: { image: 'python:3' } }] },
      }),
      'CronWorkflow/load',
    ],
    [
      'ScaledJob',
      object('keda.sh/v1alpha1', 'ScaledJob', { jobTargetRef: { template } }),
      'ScaledJob/load',
    ],
    [
      'RayCluster',
      object('ray.io/v1', 'RayCluster', {
        headGroupSpec: { template },
        workerGroupSpecs: [{ replicas: 3, template }],
      }),
      'RayCluster/load (replicas 3)',
    ],
    [
      'LeaderWorkerSet',
      object('leaderworkerset.x-k8s.io/v1', 'LeaderWorkerSet', {
        replicas: 2,
        leaderWorkerTemplate: { size: 4, workerTemplate: template },
      }),
      'LeaderWorkerSet/load (replicas 2)',
    ],
    [
      'kind that says what its pods request',
      object('example.com/v1', 'Cache', { resources: { requests: { memory: '1Gi' } } }),
      'Cache/load',
    ],
  ])('%s', async (_, made, says) => {
    const [note = '', second] = await notes(made);
    expect(second).toBeUndefined();
    expect(note.endsWith(`: ${says}`), note).toBe(true);
  });

  it('is told once for many, by kind and name', async () => {
    const many = Array.from({ length: 12 }, (_, index) => ({
      ...object('keda.sh/v1alpha1', 'ScaledJob', { jobTargetRef: { template } }),
      metadata: { name: `job-${index}` },
    }));
    const [note = '', second] = await notes(...many);
    expect(second).toBeUndefined();
    expect(note).toContain('ScaledJob/job-0, ScaledJob/job-1, ');
    expect(note).toMatch(/ and 4 more$/);
  });
});

describe('no pods are made of', () => {
  it.each<[string, object]>([
    [
      'a policy on containers',
      object('kyverno.io/v1', 'ClusterPolicy', {
        rules: [{ validate: { pattern: { spec: { containers: [{ image: '!*:latest' }] } } } }],
      }),
    ],
    ['an Ingress', object('networking.k8s.io/v1', 'Ingress', { rules: [{ host: 'example.com' }] })],
    [
      'a ResourceClaimTemplate',
      object('resource.k8s.io/v1', 'ResourceClaimTemplate', {
        spec: { devices: { requests: [{ name: 'gpu', count: 2 }] } },
      }),
    ],
  ])('%s', async (_, made) => {
    expect(await notes(made)).toEqual([]);
  });
});
