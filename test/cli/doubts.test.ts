import { describe, expect, it } from 'vitest';
import { DEPLOYMENT, NODE_CLASS, NODE_POOL, POD, PRIORITY_CLASS } from './manifests.ts';
import { inFolder, joiner } from './run.ts';

const CPU = 'cpu: 500m\n';
const gpu = (requests: string, limits: string): string =>
  POD.replace(`        requests:\n          ${CPU}`, `${requests}${limits}`);
const requests = (text: string): string => `        requests: {${text}}\n`;
const limits = (text: string): string => `        limits: {${text}}\n`;
const GPU = 'nvidia.com/gpu';

async function notes(...manifests: readonly string[]): Promise<readonly string[]> {
  const files = { 'world.yaml': [...manifests, NODE_CLASS, NODE_POOL].join('---\n') };
  const { exitCode, stderr } = await inFolder(files, (folder) =>
    joiner('simulate', folder, '--duration', '1m'),
  );
  expect(exitCode).toBe(0);
  return stderr.split('\n').filter((line) => line.includes('an API server would refuse this'));
}

describe('what an API server would refuse is noted, and runs', () => {
  it.each<[string, string, string]>([
    [
      'an unknown priority class',
      POD.replace('spec:\n', 'spec:\n  priorityClassName: urgent\n'),
      'world.yaml:6: Pod/single: spec.priorityClassName no PriorityClass is named "urgent"',
    ],
    [
      'an unknown runtime class',
      POD.replace('spec:\n', 'spec:\n  runtimeClassName: kata\n'),
      'world.yaml:6: Pod/single: spec.runtimeClassName no RuntimeClass is named "kata"',
    ],
    [
      'half a GPU',
      gpu('', limits(`${GPU}: 500m`)),
      'spec.containers[0].resources.limits.nvidia.com/gpu must be whole, not "500m"',
    ],
    [
      'a GPU without a limit',
      gpu(requests(`${GPU}: 1`), ''),
      'resources.requests.nvidia.com/gpu needs a limit of the same amount',
    ],
    [
      'fewer GPUs than the limit',
      gpu(requests(`${GPU}: 1`), limits(`${GPU}: 2`)),
      'resources.requests.nvidia.com/gpu must equal its limit of 2, not 1',
    ],
    [
      'more CPU than the limit',
      gpu(requests('cpu: 2'), limits('cpu: 500m')),
      'resources.requests.cpu must be at most its limit of "500m", not 2',
    ],
    [
      'no container',
      POD.replace(/containers:[\s\S]*/, 'containers: []\n'),
      'world.yaml:6: Pod/single: spec.containers needs at least one container',
    ],
    [
      'a selector of other labels',
      DEPLOYMENT.replace('      app: web\n', '      app: db\n'),
      'world.yaml:7: Deployment/web: spec.selector does not match the labels of spec.template',
    ],
    [
      'no selector',
      DEPLOYMENT.replace(/ {2}selector:\n.*\n.*\n/, ''),
      'Deployment/web: spec.selector is required',
    ],
  ])('%s', async (_, manifest, says) => {
    const [note, second] = await notes(manifest);
    expect(note).toContain(says);
    expect(second).toBeUndefined();
  });

  it('nothing is noted of what is fine', async () => {
    const urgent = POD.replace('spec:\n', 'spec:\n  priorityClassName: urgent\n');
    const system = urgent
      .replace('name: single', 'name: system')
      .replace('urgent', 'system-node-critical');
    const gpus = gpu(requests(`${GPU}: 1, cpu: 500m`), limits(`${GPU}: 1, cpu: 1`));
    const third = gpus.replace('name: single', 'name: third');
    expect(await notes(urgent, system, third, DEPLOYMENT, PRIORITY_CLASS)).toEqual([]);
  });
});
