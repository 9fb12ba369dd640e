import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { CLUSTER, type WireCloud } from '../aws/cloud.ts';
import { KEYS } from '../closed-loop/functions.ts';
import type { ControllerProgram } from './controllers.ts';
import { KARPENTER } from './deployment.ts';

export interface KarpenterProgramOptions {
  /** The controller, as it was built. */
  readonly program: string;
  readonly kubeconfig: string;
  readonly cloud: WireCloud;
  readonly endpoint: string;
  /** What it logs goes there. */
  readonly log: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Karpenter itself, one process for each pod. */
export class KarpenterProgram implements ControllerProgram {
  readonly #options: KarpenterProgramOptions;
  readonly #running = new Map<string, ChildProcess>();

  constructor(options: KarpenterProgramOptions) {
    this.#options = options;
  }

  start(pod: string): void {
    const { program, kubeconfig, cloud, endpoint, log, env = {} } = this.#options;
    const to = openSync(log, 'a');
    const child = spawn(program, [], {
      stdio: ['ignore', to, to],
      env: {
        PATH: process.env['PATH'],
        KUBECONFIG: kubeconfig,
        POD_NAME: pod,
        CLUSTER_NAME: CLUSTER,
        CLUSTER_ENDPOINT: endpoint,
        LEADER_ELECTION_NAMESPACE: KARPENTER.namespace,
        SYSTEM_NAMESPACE: KARPENTER.namespace,
        METRICS_PORT: '0',
        HEALTH_PROBE_PORT: '0',
        DISABLE_LEADER_ELECTION: 'false',
        DISABLE_DRY_RUN: 'true',
        LOG_LEVEL: 'debug',
        AWS_REGION: cloud.account.region,
        AWS_ACCESS_KEY_ID: KEYS.accessKeyId,
        AWS_SECRET_ACCESS_KEY: KEYS.secretAccessKey,
        AWS_ENDPOINT_URL: cloud.endpoint,
        AWS_EC2_METADATA_DISABLED: 'true',
        ...env,
      },
    });
    closeSync(to);
    this.#running.set(pod, child);
  }

  async stop(pod: string): Promise<void> {
    const child = this.#running.get(pod);
    this.#running.delete(pod);
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
}
