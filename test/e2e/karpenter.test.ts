import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ClosedLoop, describeClosedLoop } from '../support/closed-loop/world.ts';
import { kubernetesRelease } from '../support/control-plane/assets.ts';
import { writeKubeconfig } from '../support/control-plane/kubeconfig.ts';
import { buildKarpenter, type KarpenterBuild } from '../support/karpenter/build.ts';
import { runControllers } from '../support/karpenter/controllers.ts';
import { karpenterDeployment } from '../support/karpenter/deployment.ts';
import {
  commandOf,
  DONE,
  footprintOf,
  hashVersionsOf,
  keepMoving,
} from '../support/karpenter/footprint.ts';
import { furnishKarpenter } from '../support/karpenter/furnish.ts';
import { ADOPTION, HAND_BACK, some } from '../support/karpenter/kills.ts';
import { KarpenterProgram } from '../support/karpenter/program.ts';
import { bringAbout } from '../support/karpenter/scenario.ts';
import { HASH_VERSIONS } from '../support/karpenter/stand-in.ts';
import { recordState } from '../support/karpenter/states.ts';

/**
 * Karpenter itself hands a cluster to Joiner and gets it back. `JOINER_KARPENTER` names the releases,
 * such as `1.14.1`, which are built once; without it the suite is skipped, since that takes long.
 */
const RELEASES = (process.env['JOINER_KARPENTER'] ?? '').split(',').filter(Boolean);
/** Karpenter looks for drift and for what it may disrupt every ten seconds. */
const KARPENTER_MS = 30_000;

function suite(release: string, { program }: Extract<KarpenterBuild, { kind: 'built' }>) {
  return (loop: ClosedLoop): void => {
    const { command, kill } = commandOf(loop, () => kubeconfig);
    let folder = '';
    let kubeconfig = '';
    let stop: (() => Promise<void>) | undefined;
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'joiner-karpenter-'));
      kubeconfig = await writeKubeconfig(folder, loop.plane());
      await furnishKarpenter(loop.cloud, kubernetesRelease(process.env));
    });
    afterAll(async () => {
      await stop?.();
      await rm(folder, { recursive: true, force: true });
    });

    it('Karpenter makes a cluster of all sorts of nodes', async () => {
      const { cloud } = loop;
      const endpoint = loop.plane().url;
      const log = join(folder, 'karpenter.log');
      const karpenter = new KarpenterProgram({ program, kubeconfig, cloud, endpoint, log });
      stop = runControllers(loop.admin(), karpenter);
      await loop.apply([karpenterDeployment(release, 1)]);
      await bringAbout(loop);
      if (process.env['JOINER_RECORD_STATES'] !== undefined) await recordState(loop, release);
      await loop.apply(keepMoving());
    });

    it('Joiner adopts it, killed at its writes: no pod is evicted, nothing is launched or terminated', async () => {
      const before = await footprintOf(loop);
      await loop.tick();
      for (const [call, when] of some(ADOPTION)) {
        await kill(['adopt', '--no-settle'], call, when);
        expect(await footprintOf(loop), `killed ${when} ${call}`).toEqual(before);
      }
      expect(await command('adopt', '--no-settle')).toMatchObject(DONE);
      expect(await footprintOf(loop)).toEqual(before);
      expect(await hashVersionsOf(loop)).toEqual(['joiner-v2', 'joiner-v2']);
    });

    it('Joiner hands it back, killed at its writes: the same, and Karpenter finds nothing to do', async () => {
      const before = await footprintOf(loop);
      for (const [call, when] of some(HAND_BACK)) {
        await kill(['hand-back'], call, when);
        expect(await footprintOf(loop), `killed ${when} ${call}`).toEqual(before);
      }
      expect(await command('hand-back')).toMatchObject(DONE);
      const { pool, nodeClass } = HASH_VERSIONS[release.startsWith('1.14') ? '1.14' : '1.15'];
      expect(await hashVersionsOf(loop)).toEqual([nodeClass, pool]);
      await new Promise((resolve) => setTimeout(resolve, KARPENTER_MS));
      expect(await footprintOf(loop)).toEqual(before);
    });
  };
}

for (const release of RELEASES) {
  const built = await buildKarpenter(release);
  if (built.kind === 'absent') throw new Error(`Karpenter ${release}: ${built.reason}`);
  await describeClosedLoop(
    `Karpenter ${release} and Joiner, there and back`,
    suite(release, built),
    {
      strangers: true,
      aws: 'instant',
    },
  );
}

if (RELEASES.length === 0) {
  process.stderr.write(
    'skipped: Karpenter and Joiner, there and back: JOINER_KARPENTER is not set\n',
  );
  describe.skip('Karpenter and Joiner, there and back', () => {
    it('JOINER_KARPENTER names the releases', () => undefined);
  });
}
