import { describe, expect, it } from 'vitest';
import { aCase } from './manifests.ts';
import { inFolder, joiner } from './run.ts';

async function solved(problem: object, ...options: readonly string[]): Promise<unknown> {
  const files = { 'case.json': JSON.stringify(problem) };
  return inFolder(files, async (folder) => {
    const { exitCode, stdout, stderr } = await joiner('solve', `${folder}/case.json`, ...options);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    return JSON.parse(stdout);
  });
}

function withOverlay(spec: object): object {
  return { ...aCase(), nodeOverlays: [{ metadata: { name: 'cheaper' }, spec }] };
}

describe('joiner solve', () => {
  it('prints the plan, its price before and after overlays, and what it cost to find', async () => {
    const problem = withOverlay({ requirements: [], priceAdjustment: '-50%' });
    expect(await solved(problem)).toMatchObject({
      joiner: expect.stringMatching(/^\d+\.\d+\.\d+$/),
      newNodeClaims: [
        {
          nodePool: 'general',
          instanceTypes: ['m6i.large'],
          instanceTypeCount: 1,
          cheapest: { type: 'm6i.large', zone: 'us-east-1a', price: 0.048, listPrice: 0.096 },
          chosen: { type: 'm6i.large', zone: 'us-east-1a', price: 0.048, listPrice: 0.096 },
          runnerUp: null,
          pods: ['default/web'],
          requests: { cpu: '1', pods: '1' },
          overlays: ['cheaper'],
        },
      ],
      existing: [],
      errors: {},
      overlays: [{ name: 'cheaper', ready: { status: 'True' } }],
      preferences: { satisfiedWeight: 0, totalWeight: 0 },
      stranded: { pods: 0 },
      summary: { pendingPods: 1, newNodes: 1, podsOnNewNodes: 1, failed: 0 },
      timings: { setupMs: expect.any(Number), cpuMs: expect.any(Number) },
      totalCheapestPricePerHour: 0.048,
      totalListPricePerHour: 0.096,
    });
  });

  it('reads a file with a byte order mark', async () => {
    const files = { 'case.json': `\uFEFF${JSON.stringify(aCase())}` };
    const { exitCode } = await inFolder(files, (folder) => joiner('solve', `${folder}/case.json`));
    expect(exitCode).toBe(0);
  });

  it('places pods by labels of nodes that the types of a case do not list', async () => {
    const selectors = [
      { 'beta.kubernetes.io/arch': 'amd64' },
      { 'failure-domain.beta.kubernetes.io/zone': 'us-east-1a' },
      { 'failure-domain.beta.kubernetes.io/region': 'us-east-1' },
      { 'topology.kubernetes.io/region': 'us-east-1' },
    ];
    const pods = [...selectors, { 'topology.kubernetes.io/region': 'us-west-2' }].map(
      (nodeSelector, at) => ({
        metadata: { name: `p${at}` },
        spec: { nodeSelector, containers: [{ resources: { requests: { cpu: '10m' } } }] },
      }),
    );
    const { errors } = (await solved({ ...aCase(), pods })) as { errors: object };
    expect(Object.keys(errors)).toEqual(['default/p4']);
  });

  it('says why a pod is left over, and exits 1 only when asked to be strict', async () => {
    const big = { resources: { requests: { cpu: '64' } } };
    const problem = {
      ...aCase(),
      pods: [{ metadata: { name: 'big' }, spec: { containers: [big] } }],
    };
    expect(await solved(problem)).toMatchObject({
      newNodeClaims: [],
      errors: { 'default/big': expect.stringContaining('general') },
      summary: { failed: 1 },
    });
    const files = { 'case.json': JSON.stringify(problem) };
    const strict = await inFolder(files, (folder) =>
      joiner('solve', `${folder}/case.json`, '--strict'),
    );
    expect(strict.exitCode).toBe(1);
  });

  it('lists objects that the API server would refuse, and goes on without them', async () => {
    const problem = withOverlay({ requirements: [], price: '1', priceAdjustment: '+1' });
    expect(await solved(problem)).toMatchObject({
      rejected: { 'NodeOverlay/cheaper': [expect.stringContaining('cannot set both')] },
      totalCheapestPricePerHour: 0.096,
    });
  });

  it('--bound adds a lower bound that the plan is not below', async () => {
    const { bound, totalCheapestPricePerHour } = (await solved(aCase(), '--bound')) as {
      bound: { pricePerHour: number; gapPercent: number };
      totalCheapestPricePerHour: number;
    };
    expect(bound.pricePerHour).toBeGreaterThan(0);
    expect(bound.pricePerHour).toBeLessThanOrEqual(totalCheapestPricePerHour + 1e-9);
    expect(bound.gapPercent).toBeCloseTo(
      (totalCheapestPricePerHour / bound.pricePerHour - 1) * 100,
      3,
    );
  });

  it('--repeat adds the timings of the last round', async () => {
    expect(await solved(aCase(), '--repeat', '3')).toMatchObject({
      timings: { warm: { solveMs: expect.any(Number) } },
    });
  });

  it('the same case in another order gives the same digest', async () => {
    const pods = ['a', 'b', 'c'].map((name) => ({
      metadata: { name },
      spec: { containers: [{ resources: { requests: { cpu: '900m' } } }] },
    }));
    const one = await solved({ ...aCase(), pods });
    const other = await solved({ ...aCase(), pods: [...pods].reverse() });
    expect(one).toHaveProperty('digest', (other as { digest: string }).digest);
  });

  it('refuses a type that is listed twice and lists without end, naming the file', async () => {
    const { instanceTypes, ...rest } = aCase() as { readonly instanceTypes: readonly unknown[] };
    const twice = { ...rest, instanceTypes: [...instanceTypes, ...instanceTypes] };
    const deep = JSON.stringify({ ...aCase(), pods: '@' }).replace(
      '"@"',
      '['.repeat(200_000) + ']'.repeat(200_000),
    );
    const files = { 'twice.json': JSON.stringify(twice), 'deep.json': deep };
    await inFolder(files, async (folder) => {
      const listed = await joiner('solve', `${folder}/twice.json`);
      expect(listed.exitCode).toBe(2);
      expect(listed.stderr).toContain('instanceTypes[1].name is that of instanceTypes[0], too');
      const nested = await joiner('solve', `${folder}/deep.json`);
      expect({ ...nested, stdout: '' }).toMatchObject({ exitCode: 2, stdout: '' });
      expect(nested.stderr).toContain('deep.json');
    });
  });

  it('labels of 10,000 characters are no reason to hang', async () => {
    const long = 'x'.repeat(10_000);
    const problem = {
      ...aCase(),
      pods: [
        {
          metadata: { name: 'a', labels: { [long]: long } },
          spec: { containers: [{}], nodeSelector: { [long]: long } },
        },
      ],
    };
    expect(await solved(problem)).toMatchObject({ summary: { failed: 1 } });
  });
});
