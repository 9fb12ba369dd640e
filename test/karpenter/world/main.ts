/**
 * A running Joiner for end-to-end suites, until SIGTERM: a control plane, an AWS account over the
 * wire, stand-in kubelets, and the functions, invoked as the deployed stack does.
 *
 *   node main.ts FOLDER
 *
 * writes FOLDER/kubeconfig, FOLDER/world.json once it is up, and FOLDER/functions.log.
 */
import { createWriteStream, writeFileSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { SETTINGS } from '../../../shared/contract/settings.ts';
import { WireCloud } from '../../support/aws/cloud.ts';
import { privateDnsName } from '../../support/aws/joining.ts';
import { environmentOf, loadHandlers } from '../../support/closed-loop/functions.ts';
import { joinInstances } from '../../support/closed-loop/instances.ts';
import { writeKubeconfig } from '../../support/control-plane/kubeconfig.ts';
import { runKubelets } from '../../support/kubelet.ts';
import { startCluster } from './cluster.ts';
import { listenForControls, tellOfStates } from './controls.ts';
import { Invocations } from './invocations.ts';

/** What stands in world.json. */
export interface WorldFile {
  readonly kubeconfig: string;
  readonly server: string;
  readonly aws: string;
  readonly controls: string;
  readonly adminToken: string;
  readonly caPem: string;
}

/** As on EC2, but faster. */
const PACE = {
  joinMs: 3_000,
  readyMs: 2_000,
  retryMs: 7_000,
  forgetMs: 15_000,
  isByAccount: true,
};

/** The functions' lines go to a file; the rest stays where it is. */
function divertLogs(file: string): void {
  const log = createWriteStream(file);
  for (const stream of [process.stdout, process.stderr]) {
    const write = stream.write.bind(stream);
    const diverted = (chunk: string | Uint8Array, ...rest: readonly unknown[]): boolean => {
      if (String(chunk).startsWith('{"level"')) return log.write(chunk);
      return Reflect.apply(write, stream, [chunk, ...rest]) === true;
    };
    stream.write = diverted as NodeJS.WriteStream['write'];
  }
}

async function main(folder: string): Promise<void> {
  divertLogs(join(folder, 'functions.log'));
  const cloud = new WireCloud();
  const { account } = cloud;
  const { plane, admin, stop: stopCluster } = await startCluster(cloud);
  const environment = environmentOf(cloud, {
    [SETTINGS.batchIdleDuration.variable]: '300ms',
    [SETTINGS.batchMaxDuration.variable]: '3s',
    [SETTINGS.featureGates.variable]: 'NodeRepair=true,SpotToSpotConsolidation=true',
  });
  const invocations = new Invocations(await loadHandlers(environment), cloud);
  const over = new AbortController();
  const isAlive = (node: string): boolean =>
    [...account.instances.values()].some(
      ({ id, state }) =>
        (state === 'pending' || state === 'running') && privateDnsName(id) === node,
    );
  const kubelets = runKubelets(admin, over.signal, { isGraceful: true, isAlive });
  const world = { cloud, devices: new Map(), joining: { joins: () => true } };
  const stopInstances = joinInstances(world, admin, PACE);
  const stopTelling = tellOfStates(cloud);
  const controls = await listenForControls(cloud, invocations.faults);
  invocations.start();

  let isStopping = false;
  const stop = async (): Promise<void> => {
    if (isStopping) return;
    isStopping = true;
    stopTelling();
    stopInstances();
    await invocations.stop();
    over.abort();
    await kubelets;
    const { closeSandboxes } = await import('../../../functions/runtime/sandbox.ts');
    await closeSandboxes();
    await controls.close();
    await stopCluster();
    process.exit(0);
  };
  process.once('SIGTERM', () => void stop());

  const about: WorldFile = {
    kubeconfig: await writeKubeconfig(folder, plane),
    server: plane.url,
    aws: cloud.endpoint,
    controls: controls.url,
    adminToken: plane.adminToken,
    caPem: plane.caPem,
  };
  const draft = join(folder, 'world.json.draft');
  writeFileSync(draft, JSON.stringify(about));
  await rename(draft, join(folder, 'world.json'));
}

// Whoever plays the suite is gone; programs end with their process.
process.once('disconnect', () => process.exit(1));
const [folder = ''] = process.argv.slice(2);
await main(folder);
