import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { RESOURCES } from '../../shared/api/resources.ts';
import { find } from '../../shared/kube/find.ts';
import { property, versionOf } from '../../shared/kube/list.ts';
import { nameOf } from '../support/closed-loop/questions.ts';
import { type ClosedLoop, describeClosedLoop } from '../support/closed-loop/world.ts';
import { kubernetesRelease } from '../support/control-plane/assets.ts';
import { writeKubeconfig } from '../support/control-plane/kubeconfig.ts';
import { readManifests } from '../support/control-plane/manifests.ts';
import { runControllers } from '../support/karpenter/controllers.ts';
import { KARPENTER, karpenterDeployment } from '../support/karpenter/deployment.ts';
import {
  commandOf,
  DONE,
  footprintOf,
  hashVersionsOf,
  keepMoving,
} from '../support/karpenter/footprint.ts';
import { furnishKarpenter } from '../support/karpenter/furnish.ts';
import { ADOPTION, HAND_BACK, some } from '../support/karpenter/kills.ts';
import { HASH_VERSIONS, StandInKarpenter } from '../support/karpenter/stand-in.ts';
import { readState, restoreState } from '../support/karpenter/states.ts';

/**
 * Clusters as Karpenter itself has left them (`states`), in which a stand-in is elected and stamps
 * hashes; `karpenter.test.ts` does it with Karpenter.
 */
const OURS = ['joiner-v2', 'joiner-v2'];

interface Stage {
  readonly loop: ClosedLoop;
  readonly run: ReturnType<typeof commandOf>;
}

const GROUP = 'rbac.authorization.k8s.io';

/** Lets the user of the kubeconfig do what the documents say, and no more. */
async function permit(loop: ClosedLoop): Promise<void> {
  const bind = (kind: 'ClusterRole' | 'Role', name: string): object => ({
    apiVersion: `${GROUP}/v1`,
    kind: `${kind}Binding`,
    metadata: { name, ...(kind === 'Role' ? { namespace: 'kube-system' } : {}) },
    roleRef: { apiGroup: GROUP, kind, name },
    subjects: [{ apiGroup: GROUP, kind: 'Group', name: 'joiner:viewer' }],
  });
  await loop.apply([
    ...(await readManifests('docs/viewer-role.yaml')),
    ...(await readManifests('docs/handover-role.yaml')),
    bind('ClusterRole', 'joiner:viewer'),
    bind('ClusterRole', 'joiner:handover'),
    bind('Role', 'joiner:handover'),
    bind('Role', 'karpenter:handover'),
  ]);
}

/** A cluster of the release, with the stand-in at work. */
function staged(release: string, body: (stage: Stage) => void) {
  return (loop: ClosedLoop): void => {
    let folder = '';
    let kubeconfig = '';
    let karpenter: StandInKarpenter | undefined;
    let stop: (() => Promise<void>) | undefined;
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'joiner-handover-'));
      kubeconfig = await writeKubeconfig(folder, loop.plane(), 'viewer');
      await furnishKarpenter(loop.cloud, kubernetesRelease(process.env));
    });
    afterAll(async () => {
      await stop?.();
      await rm(folder, { recursive: true, force: true });
    });
    it('Karpenter has the cluster, as its release leaves it', async () => {
      await permit(loop);
      await restoreState(loop, await readState(release));
      await loop.apply(keepMoving());
      const minor = release.startsWith('1.14') ? '1.14' : '1.15';
      karpenter = new StandInKarpenter(loop.admin(), HASH_VERSIONS[minor]);
      stop = runControllers(loop.admin(), karpenter);
      await loop.apply([karpenterDeployment(release, 2)]);
      const leader = (): string => karpenter?.leader ?? '';
      await expect.poll(leader).not.toBe('');
      await loop.tick();
    });
    body({
      loop,
      run: commandOf(loop, () => kubeconfig),
    });
  };
}

async function dataOf({ loop }: Stage, name: string): Promise<unknown> {
  const address = { namespace: 'kube-system', name };
  return property(await find(loop.admin(), RESOURCES.configMaps, address), 'data');
}

/** What a dry run must not write. */
async function versionsOf({ loop }: Stage): Promise<readonly string[]> {
  const all = await Promise.all(
    [
      RESOURCES.nodePools,
      RESOURCES.nodeClasses,
      RESOURCES.nodeClaims,
      RESOURCES.deployments,
      RESOURCES.configMaps,
    ].map((each) => loop.list(each)),
  );
  return all.flat().map((each) => `${nameOf(each)} ${versionOf(each)}`);
}

async function replicasOf({ loop }: Stage): Promise<unknown> {
  const deployment = await loop.admin().get(RESOURCES.deployments, KARPENTER);
  return property(property(deployment, 'spec'), 'replicas');
}

/** As {@link hashVersionsOf} has them. */
const THEIRS = {
  '1.14': [HASH_VERSIONS['1.14'].nodeClass, HASH_VERSIONS['1.14'].pool],
  '1.15': [HASH_VERSIONS['1.15'].nodeClass, HASH_VERSIONS['1.15'].pool],
} as const;

function adoptsAndHandsBack(stage: Stage): void {
  const { loop, run } = stage;

  it('a dry run writes nothing, and says what would be done', async () => {
    const before = await versionsOf(stage);
    const { exitCode, failed, report } = await run.command('adopt', '--dry-run');
    expect({ exitCode, failed }).toEqual({ exitCode: 0, failed: [] });
    expect(report.steps.map(({ step, state }) => `${step} ${state}`)).toEqual([
      'pause to do',
      'settle to do',
      'stop to do',
      'take-over to do',
      'verify to do',
      'resume to do',
    ]);
    const said = report.checks.map(({ check, message }) => `${check}: ${message}`);
    expect(said).toContain('drift: no node becomes drifted; 2 have drifted already');
    expect(said).toContain('instances: 6, each with its NodeClaim');
    expect(said.find((each) => each.startsWith('under way'))).toContain('is being disrupted');
    expect(await versionsOf(stage)).toEqual(before);
  });

  it('waits for what Karpenter has begun, and gives up with a reason; that is undone', async () => {
    const before = await footprintOf(loop);
    const stopped = await run.command('adopt', '--wait', '3s');
    expect(stopped.exitCode).toBe(1);
    expect(stopped.open[0]).toMatch(/^settle stopped: .*(not launched yet|being disrupted)/);
    expect(await dataOf(stage, 'joiner')).toMatchObject({ 'pause.launch': 'on' });
    const undone = await run.command('adopt', '--undo');
    expect(undone).toMatchObject(DONE);
    expect(await dataOf(stage, 'joiner')).toEqual(undefined);
    expect(await dataOf(stage, 'joiner-handover')).toBeUndefined();
    expect(await replicasOf(stage)).toBe(2);
    expect(await footprintOf(loop)).toEqual(before);
  });

  it('an adoption that is killed at its writes: the next run continues it', async () => {
    const before = await footprintOf(loop);
    const config = { namespace: 'kube-system', name: 'joiner' };
    if ((await find(loop.admin(), RESOURCES.configMaps, config)) !== undefined) {
      await loop.admin().delete(RESOURCES.configMaps, config, {});
    }
    for (const [call, when] of some(ADOPTION)) {
      await run.kill(['adopt', '--no-settle'], call, when);
      expect(await footprintOf(loop), `killed ${when} ${call}`).toEqual(before);
    }
    expect(await run.command('adopt', '--no-settle')).toMatchObject(DONE);
    expect(await footprintOf(loop)).toEqual(before);
    expect(await hashVersionsOf(loop)).toEqual(OURS);
    expect(await dataOf(stage, 'joiner-handover')).toMatchObject({ to: 'joiner', state: 'done' });
    expect(await replicasOf(stage)).toBe(0);
    const again = await run.command('adopt');
    expect(again).toMatchObject(DONE);
    expect(again.report.steps.every(({ message }) => message === 'nothing to do')).toBe(true);
  });

  it('a hand-back that is killed at its writes: the next run continues it', async () => {
    const before = await footprintOf(loop);
    for (const [call, when] of some(HAND_BACK)) {
      await run.kill(['hand-back'], call, when);
      expect(await footprintOf(loop), `killed ${when} ${call}`).toEqual(before);
    }
    expect(await run.command('hand-back')).toMatchObject(DONE);
    expect(await footprintOf(loop)).toEqual(before);
    expect(await hashVersionsOf(loop)).toEqual(THEIRS['1.14']);
    expect(await dataOf(stage, 'joiner-handover')).toBeUndefined();
    expect(await replicasOf(stage)).toBe(2);
  });
}

function undone({ loop, run }: Stage): void {
  it('is undone after a step, in either direction', async () => {
    const before = await footprintOf(loop);
    for (const step of some(['pause', 'stop', 'take-over', 'verify'])) {
      const there = await run.command('adopt', '--no-settle', '--until', step);
      expect({ step, exitCode: there.exitCode }).toEqual({ step, exitCode: 0 });
      expect(await run.command('adopt', '--undo')).toMatchObject(DONE);
      expect(await footprintOf(loop), `adopt --until ${step}`).toEqual(before);
      expect(await hashVersionsOf(loop)).toEqual(THEIRS['1.15']);
    }
    expect(await run.command('adopt', '--no-settle')).toMatchObject(DONE);
    for (const step of some(['pause', 'hold', 'clean', 'elect'])) {
      const there = await run.command('hand-back', '--until', step);
      expect({ step, exitCode: there.exitCode }).toEqual({ step, exitCode: 0 });
      expect(await run.command('hand-back', '--undo')).toMatchObject(DONE);
      expect(await footprintOf(loop), `hand-back --until ${step}`).toEqual(before);
      expect(await hashVersionsOf(loop)).toEqual(OURS);
    }
    expect(await run.command('hand-back')).toMatchObject(DONE);
    expect(await footprintOf(loop)).toEqual(before);
  });
}

function byHand(stage: Stage): void {
  const { loop, run } = stage;
  const scale = async (replicas: number): Promise<void> => {
    const value = { spec: { replicas } };
    await loop.admin().patch(RESOURCES.deployments, KARPENTER, { kind: 'merge', value }, 'scale');
  };

  it('waits for somebody who scales Karpenter, there and back', async () => {
    const before = await footprintOf(loop);
    const args = ['--by-hand', '--no-settle', '--wait', '2m'];
    const waiting = await run.command('adopt', '--by-hand', '--no-settle', '--wait', '2s');
    expect(waiting.open[0]).toBe(
      'stop stopped: the Deployment kube-system/karpenter has 2 replicas',
    );
    const adopting = run.command('adopt', ...args);
    await scale(0);
    expect(await adopting).toMatchObject(DONE);
    const handingBack = run.command('hand-back', ...args);
    await new Promise((resolve) => setTimeout(resolve, 5_000));
    await scale(2);
    expect(await handingBack).toMatchObject(DONE);
    expect(await footprintOf(loop)).toEqual(before);
  });

  it('a node that drifts meanwhile stops it, unless that is accepted', async () => {
    const there = await run.command('adopt', '--no-settle', '--until', 'stop');
    expect(there.exitCode).toBe(0);
    const labels = { metadata: { labels: { team: 'new' } } };
    const value = { spec: { template: labels } };
    const stamped = await run.command('adopt', '--no-settle', '--until', 'take-over');
    expect(stamped.exitCode).toBe(0);
    await loop.admin().patch(RESOURCES.nodePools, { name: 'spot' }, { kind: 'merge', value });
    await loop.tick();
    const stopped = await run.command('adopt', '--no-settle');
    expect(stopped.exitCode).toBe(1);
    expect(stopped.open[0]).toMatch(/^verify stopped: drifted: spot-\S+ \(NodePoolDrifted\)$/);
    expect(await dataOf(stage, 'joiner')).toMatchObject({ 'pause.disrupt': 'on' });
    expect(await run.command('adopt', '--accept-drift')).toMatchObject(DONE);
    expect(await dataOf(stage, 'joiner')).toBeUndefined();
  });
}

const OPTIONS = { strangers: true, aws: 'instant' } as const;

await describeClosedLoop(
  'joiner adopt and hand-back, in a cluster of Karpenter 1.14',
  staged('1.14.1', adoptsAndHandsBack),
  OPTIONS,
);

await describeClosedLoop(
  'joiner adopt and hand-back, in a cluster of Karpenter 1.15',
  staged('1.15.0', (stage) => {
    undone(stage);
    byHand(stage);
  }),
  OPTIONS,
);
