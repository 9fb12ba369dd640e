import type { Command } from 'commander';
import packageJson from '../package.json' with { type: 'json' };
import { meant } from '../shared/contract/nearest.ts';
import { type Call, KubeClient } from '../shared/kube/client.ts';
import { contextsOf, loadKubeconfig } from '../shared/kube/kubeconfig.ts';
import { systemTiming } from '../shared/kube/time.ts';
import { httpTransport } from '../shared/kube/transport.ts';
import { BadInput } from './bad-input.ts';
import { checkKubeconfig } from './kubeconfig-files.ts';

/** Which cluster a command speaks to; the same options as kubectl's. */
export interface ClusterOptions {
  /** @default KUBECONFIG, else ~/.kube/config */
  readonly kubeconfig?: string;
  /** @default the kubeconfig's current one */
  readonly context?: string;
}

/** The command with options for {@link ClusterOptions}. */
export function withClusterOptions(command: Command): Command {
  return command
    .option('--kubeconfig <file>', 'default: KUBECONFIG or ~/.kube/config')
    .option('--context <name>', 'a context of the kubeconfig; default: the current context');
}

export interface Connection {
  readonly client: KubeClient;
  /** Of the API server, as people know it. */
  readonly url: string;
  /** Of the kubeconfig's context: where objects are that are named without one. */
  readonly namespace: string;
}

/** A client for the kubeconfig's cluster; close it. A kubeconfig that is wrong is bad input. */
export async function connect(name: string, options: ClusterOptions): Promise<Connection> {
  const { kubeconfig, context } = options;
  checkKubeconfig(kubeconfig);
  const { nowMs } = systemTiming;
  const access = await loadKubeconfig(context, nowMs, kubeconfig).catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error);
    const known = context === undefined ? [] : contextsOf(kubeconfig);
    const near = known.includes(context ?? '') ? '' : meant(context ?? '', known);
    throw new BadInput([`kubeconfig: ${why}${near}`]);
  });
  const client = new KubeClient({
    transport: httpTransport(access.endpoint),
    tokens: access.tokens,
    timing: systemTiming,
    name,
    version: packageJson.version,
    // A person waits: two tries, and then the reason.
    attemptsMax: 2,
  });
  return { client, url: access.endpoint.url, namespace: access.namespace };
}

const VERSION: Call = {
  asked: { verb: 'get', resource: 'version' },
  method: 'GET',
  path: '/version',
};

/** What the API server says of itself: its version, and its clock, which Leases go by. */
export async function serverFacts(
  client: KubeClient,
): Promise<{ readonly gitVersion: string; readonly nowMs: number }> {
  const response = await client.open(VERSION);
  const dateMs = Date.parse(response.header('date') ?? '');
  const body: unknown = JSON.parse((await client.bytes(VERSION, response)).toString('utf8'));
  const version = typeof body === 'object' && body !== null ? Reflect.get(body, 'gitVersion') : '';
  return {
    gitVersion: typeof version === 'string' ? version : '',
    nowMs: Number.isNaN(dateMs) ? client.timing.nowMs() : dateMs,
  };
}
