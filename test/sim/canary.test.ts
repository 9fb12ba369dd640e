import { describe, expect, it } from 'vitest';
import { isTrue } from '../../shared/core/lifecycle/conditions.ts';
import type { NodeClaim } from '../../shared/core/model/provisioning.ts';
import { PortError, type Ports } from '../../shared/ports.ts';
import { readState } from '../../shared/sim/decode.ts';
import type { Json } from '../../shared/sim/json.ts';
import { WORLD_START_MS, type World } from '../../shared/sim/world.ts';
import { withPorts } from '../unit/app/world.ts';
import {
  ageOfJournal,
  apart,
  CHANGE,
  claimsOf,
  classOf,
  entries,
  isNew,
  MINUTE,
  newClass,
  object,
  poolWith,
  run,
  runningPods,
  six,
} from './rolls.ts';
import { deployment, nodeClass } from './small-world.ts';

const REPLACES = 'joiner.dev/replaces';
const TRIES = 'joiner.dev/tries';

const isCanary = ({ annotations }: NodeClaim): boolean => annotations[TRIES] !== undefined;

/** Images that the alias has stood for while the class asked for it. */
function imagesCalled(alias: string): { readonly ids: Set<string>; watch: (world: World) => void } {
  const ids = new Set<string>();
  const watch = (world: World): void => {
    for (const { status } of readState(world.store).nodeClasses) {
      for (const { id, name } of status.images) if (name?.includes(alias) === true) ids.add(id);
    }
  };
  return { ids, watch };
}

function failedStates(world: World): string {
  const [pool] = readState(world.store).objects.nodePools;
  return pool?.annotations['joiner.dev/failed-canaries'] ?? '';
}

describe('what a canary tries', () => {
  it('is what it was made for: a class that is changed again meanwhile is not blamed', async () => {
    const broken = imagesCalled('v20260101');
    const again = { at: CHANGE + 5 * MINUTE, apply: [classOf('al2023@v20260202') as never] };
    const { world } = await run(six, 40, [object(newClass), again], {
      before: (made) => {
        made.joins = ({ imageId }) => !broken.ids.has(imageId);
      },
      watch: (made) => () => {
        broken.watch(made);
        return [];
      },
    });
    expect(broken.ids.size).toBeGreaterThan(0);
    // One with the first image, which failed, and all with the second, within the hour.
    expect(world.launched).toBe(6 + 1 + 6);
    expect(failedStates(world)).toBe('');
    expect(claimsOf(world).filter((claim) => isTrue(claim, 'Drifted'))).toEqual([]);
    expect(runningPods(world)).toBe(6);
  });

  it('is tried by nobody else, and noted, when the claim that it replaces has gone', async () => {
    const seen: string[] = [];
    let isCut = false;
    const { world } = await run(six, 25, [object(newClass)], {
      before: (made) => {
        made.joins = ({ imageId }) => !isNew(imageId, made);
      },
      watch: (made) => () => {
        const claims = claimsOf(made);
        const canaries = claims.filter(isCanary);
        for (const { name } of canaries) if (!seen.includes(name)) seen.push(name);
        const [canary] = canaries;
        const old = claims.find(({ uid }) => uid === canary?.annotations[REPLACES]);
        if (canary?.providerId !== undefined && old !== undefined && !isCut) {
          isCut = true;
          const found = made.store.get('NodeClaim', undefined, old.name);
          if (found !== undefined) made.store.delete(found);
        }
        return [];
      },
    });
    expect(isCut).toBe(true);
    expect(seen).toHaveLength(1);
    expect(failedStates(world)).toContain('image ami-');
  });

  it('is tried first where only a deadline ends the drain of protected pods', async () => {
    const protecting = { 'karpenter.sh/do-not-disrupt': 'true' };
    const web = deployment('web', 6, '1', apart) as { readonly spec: { readonly template: Json } };
    const { template } = web.spec;
    const metadata = { ...(template['metadata'] as Json), annotations: protecting };
    const pods: Json = { ...web, spec: { ...web.spec, template: { ...template, metadata } } };
    const pool = poolWith({}, { budgets: [{ nodes: '100%' }] });
    const spec = pool['spec'] as { readonly template: { readonly spec: Json } };
    const ofNode = { ...spec.template.spec, terminationGracePeriod: '10m' };
    const ending = { ...pool, spec: { ...spec, template: { ...spec.template, spec: ofNode } } };
    let least = 6;
    const { world, broken } = await run([nodeClass, ending, pods], 60, [object(newClass)], {
      before: (made) => {
        made.joins = ({ imageId }) => !isNew(imageId, made);
      },
      watch: (made) => () => {
        if (made.timeline.nowMs() > WORLD_START_MS + CHANGE) {
          least = Math.min(least, runningPods(made));
        }
        return [];
      },
    });
    expect(broken).toEqual([]);
    expect(least).toBe(6);
    expect(world.launched).toBe(6 + 1);
    expect(failedStates(world)).toContain('image ami-');
  });

  it('is not launched for pods that wait once it has failed: they get what works', async () => {
    const scaled = {
      at: CHANGE + 3 * MINUTE,
      scale: { kind: 'Deployment' as const, name: 'web', namespace: 'default', replicas: 10 },
    };
    let runningAtMs = 0;
    const { world, broken } = await run(six, 40, [object(newClass), scaled], {
      before: (made) => {
        made.joins = ({ imageId }) => !isNew(imageId, made);
      },
      watch: (made) => () => {
        if (runningAtMs === 0 && runningPods(made) === 10) runningAtMs = made.timeline.nowMs();
        return [];
      },
    });
    expect(broken).toEqual([]);
    const [failed] = entries(world, 'CanaryFailed');
    const failedAtMs = WORLD_START_MS + (failed?.at ?? 0) * 1000;
    expect(runningAtMs - failedAtMs).toBeLessThan(3 * MINUTE);
    // The canary, four while it was tried, and four with the old image.
    expect(world.launched).toBe(6 + 1 + 4 + 4);
    expect(entries(world, 'ProvenImageLaunched')).toHaveLength(4);
    const [pool] = readState(world.store).objects.nodePools;
    const condition = pool?.conditions.find(({ type }) => type === 'CanaryHealthy');
    expect(condition?.message).toContain('New nodes get the proven image.');
  });

  it('is not tried again, nor launched for pods, where its instance ends while it boots', async () => {
    const scaled = {
      at: CHANGE + 5 * MINUTE,
      scale: { kind: 'Deployment' as const, name: 'web', namespace: 'default', replicas: 8 },
    };
    const ended = new Set<string>();
    const { world, broken } = await run(six, 40, [object(newClass), scaled], {
      before: (made) => {
        made.joins = ({ imageId }) => !isNew(imageId, made);
      },
      watch: (made) => () => {
        for (const { providerId, imageId } of claimsOf(made)) {
          const id = providerId?.split('/').at(-1) ?? '';
          if (imageId === undefined || !isNew(imageId, made) || ended.has(id)) continue;
          ended.add(id);
          void made.ports.compute.terminate([id]);
        }
        return [];
      },
    });
    expect(broken).toEqual([]);
    expect(ended.size).toBe(1);
    expect(world.launched).toBe(6 + 1 + 2);
    expect(failedStates(world)).toContain('image ami-');
    expect(entries(world, 'CanaryFailed')).toHaveLength(1);
    expect(runningPods(world)).toBe(8);
  });

  it('is not on its node, nor on those that follow it', async () => {
    const tries = new Map<string, string | undefined>();
    const { world } = await run(six, 60, [object(newClass)], {
      watch: (made) => () => {
        for (const claim of claimsOf(made)) tries.set(claim.name, claim.annotations[TRIES]);
        return [];
      },
    });
    expect(world.launched).toBe(12);
    const [tried, ...more] = [...tries.values()].filter((each) => each !== undefined);
    expect(tried).toContain('image ami-');
    expect(more).toEqual([]);
    const { nodes } = readState(world.store).objects;
    expect(nodes.flatMap(({ annotations }) => annotations[TRIES] ?? [])).toEqual([]);
  });
});

describe('a node that several others replace', () => {
  const sized = (size: string): Json => {
    const requirements = [
      { key: 'karpenter.k8s.aws/instance-size', operator: 'In', values: [size] },
      { key: 'karpenter.sh/capacity-type', operator: 'In', values: ['on-demand'] },
    ];
    const pool = poolWith({});
    const spec = pool['spec'] as { readonly template: Json };
    const template = {
      ...spec.template,
      spec: { ...(spec.template['spec'] as Json), requirements },
    };
    return { ...pool, spec: { ...spec, template } };
  };
  const four = [nodeClass, sized('2xlarge'), deployment('web', 4, '1500m')];

  /** The nth claim that is written as a replacement is refused. */
  const refusing = (nth: number) => {
    let written = 0;
    return (ports: Ports): Ports => {
      const createNodeClaim: Ports['cluster']['createNodeClaim'] = async (claim) => {
        if (claim.annotations[REPLACES] !== undefined) written += 1;
        if (written === nth) {
          written += 1;
          throw new PortError('unknown', 'ServiceUnavailable', 'try again');
        }
        return await ports.cluster.createNodeClaim(claim);
      };
      return withPorts(ports, { cluster: { createNodeClaim } });
    };
  };

  it.each([
    ['one after the other', undefined],
    ['again, where the first could not be written', 1],
    ['again, where only the first was written', 2],
  ])('goes when all are ready: %s', async (_, refused) => {
    const wrap = refused === undefined ? {} : { wrap: refusing(refused) };
    let least = 4;
    let isUp = false;
    const { world, broken } = await run(four, 25, [object(sized('xlarge'))], {
      ...wrap,
      watch: (made) => () => {
        const { nodes } = readState(made.store).objects;
        const open = nodes.filter(({ labels }) => labels['karpenter.sh/initialized'] === 'true');
        const cpu = open.reduce((sum, { capacity }) => sum + (capacity['cpu'] ?? 0), 0);
        isUp ||= runningPods(made) === 4;
        if (isUp) least = Math.min(least, cpu / 2000);
        return [];
      },
    });
    expect(broken).toEqual([]);
    expect(claimsOf(world).length).toBeGreaterThan(1);
    expect(claimsOf(world).filter((claim) => isTrue(claim, 'Drifted'))).toEqual([]);
    expect(runningPods(world)).toBe(4);
    expect(least).toBeGreaterThanOrEqual(4);
    expect(ageOfJournal(world, 'launched').filter((at) => at > CHANGE)).toHaveLength(
      claimsOf(world).length,
    );
    expect(world.timeline.nowMs()).toBe(WORLD_START_MS + 25 * MINUTE);
  });
});

it('pods that wait get what works once the canary has failed, however many nodes start', async () => {
  const replicas = 16;
  const web = { kind: 'Deployment', name: 'web', namespace: 'default', replicas } as const;
  let runningAtMs = 0;
  const { world } = await run(
    six,
    40,
    [object(newClass), { at: CHANGE + 3 * MINUTE, scale: web }],
    {
      before: (made) => {
        made.joins = ({ imageId }) => !isNew(imageId, made);
      },
      watch: (made) => () => {
        if (runningAtMs === 0 && runningPods(made) === replicas)
          runningAtMs = made.timeline.nowMs();
        return [];
      },
    },
  );
  const [failed] = entries(world, 'CanaryFailed');
  const failedAtMs = WORLD_START_MS + (failed?.at ?? 0) * 1000;
  expect(runningAtMs).toBeGreaterThan(failedAtMs);
  expect(runningAtMs - failedAtMs).toBeLessThan(3 * MINUTE);
});
