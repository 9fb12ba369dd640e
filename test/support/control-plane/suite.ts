import { afterAll, beforeAll, describe } from 'vitest';
import { KubeClient } from '../../../shared/kube/client.ts';
import { systemTiming } from '../../../shared/kube/time.ts';
import { fixedToken, type TokenSource } from '../../../shared/kube/token.ts';
import { httpTransport } from '../../../shared/kube/transport.ts';
import { findAssets } from './assets.ts';
import {
  type Addresses,
  type ControlPlane,
  type ControlPlaneOptions,
  launchControlPlane,
} from './launch.ts';

const START_MS_MAX = 120_000;

/** A running control plane inside a suite. */
export interface Running {
  readonly plane: () => ControlPlane;
  /** As the cluster's admin; closed after the suite. */
  readonly admin: () => KubeClient;
}

/** A client of a control plane with the wall clock. */
export function clientOf(plane: Addresses, name: string, tokens?: TokenSource): KubeClient {
  return new KubeClient({
    transport: httpTransport({ url: plane.url, caPem: plane.caPem }),
    tokens: tokens ?? fixedToken(plane.adminToken),
    timing: systemTiming,
    name,
    version: 'test',
  });
}

/**
 * A suite with a control plane of its own. Where none can be had the whole suite is skipped, with
 * one line that says why.
 */
export async function describeWithControlPlane(
  title: string,
  body: (running: Running) => void,
  options: () => ControlPlaneOptions = () => ({}),
): Promise<void> {
  const assets = await findAssets();
  if (assets.kind === 'absent') {
    process.stderr.write(`skipped: ${title}: ${assets.reason}\n`);
    describe.skip(title, () => body(notRunning));
    return;
  }
  describe(title, () => {
    let plane: ControlPlane | undefined;
    let admin: KubeClient | undefined;
    beforeAll(async () => {
      plane = await launchControlPlane(assets.folder, options());
      admin = clientOf(plane, 'test-admin');
    }, START_MS_MAX);
    afterAll(async () => {
      await admin?.close();
      await plane?.stop();
    }, START_MS_MAX);
    body({ plane: () => plane ?? fail(), admin: () => admin ?? fail() });
  });
}

const notRunning: Running = { plane: fail, admin: fail };

function fail(): never {
  throw new Error('the control plane is not running');
}
